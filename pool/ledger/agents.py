"""The agents of a pool, each with its origin, its revisions and the trials in which it worked.

The ledger has the whole of an agent, at its birth and at each revision. The files of its folder are
written after the line, for people to read and compare: one that is a revision behind was left by a
crash, and is brought up when the pool is opened. Any other difference was made by somebody else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ...schema.edits import summary
from ...schema.host.catalogue import Catalogue
from ...schema.loading.agent_document import AGENT
from ...schema.loading.agent_file import AgentFile, agent_texts
from ...schema.loading.ceiling import CapabilityPolicy
from ...schema.loading.loading import check_team
from ...schema.team.team import Agent, Team
from ...schema.team.writing import dump
from ...schema.values.errors import ConfigError
from ..values.layout import agent_file_of
from .records import TrialRecord

INHERITS = "# Its archive begins with what %s could recall when this agent was born."


@dataclass(frozen=True, kw_only=True, slots=True)
class Revision:
    """What an agent became.

    Attributes:
        agent: What it is from then on.
        edits: What differs from what it was, in words.
        op: The operation; the first one is that of its birth.
    """

    agent: Agent
    reason: str
    edits: tuple[str, ...]
    op: str


@dataclass(kw_only=True, slots=True, eq=False)
class PoolAgent(TrialRecord):
    """An agent of a pool. Its name is its identity, and stays; what it is, is revised.

    Attributes:
        revisions: What it was, in order, from its birth on; the last is what it is.
        inherits: The agents whose archives its own began with, as they were at its birth.
    """

    revisions: tuple[Revision, ...]
    inherits: tuple[str, ...] = ()

    @property
    def agent(self) -> Agent:
        """What it is."""
        return self.revisions[-1].agent

    def texts(self, *, back: int = 0) -> Mapping[str, str]:
        """Give what the files of its folder say, or said some revisions back; none before that."""
        if back >= len(self.revisions):
            return {}
        agent = self.revisions[-1 - back].agent
        texts = agent_texts(AgentFile(agent=agent, lineage=self.lineage))
        return {**texts, AGENT: self._inheriting(texts[AGENT])}

    def _inheriting(self, text: str) -> str:
        if not self.inherits:
            return text
        header, _, words = text.partition("\n")
        return "\n".join((header, INHERITS % " and ".join(self.inherits), words))


def check_agent(agent: Agent, catalogue: Catalogue, ceiling: CapabilityPolicy | None) -> None:
    """Make sure that a team of an agent alone loads.

    Raises:
        ConfigError: It does not, or is above the ceiling.
    """
    alone, file = _alone(agent), agent_file_of(agent.id)
    text = dump(alone).encode("utf-8", "surrogatepass")
    _, problems = check_team(text, file, catalogue)
    if ceiling is not None:
        problems += ceiling.problems(alone, file)
    if problems:
        raise ConfigError(problems)


def differences(before: Agent, after: Agent) -> tuple[str, ...]:
    """Return what differs between two agents but for their names, in words."""
    return summary(_alone(replace(before, id=after.id)), _alone(after))


def _alone(agent: Agent) -> Team:
    return Team(name=agent.id, agents={agent.id: agent})
