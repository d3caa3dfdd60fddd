"""The agents of a pool, each with its origin, its revisions and its trials.

The ledger has an agent completely, at its birth and at each revision. The files of its folder are
written after the line, for people to read and compare. After a crash they may be one revision
behind, and are updated when the pool is opened. Any other difference is an edit by somebody else.
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
    """A revision of an agent.

    Attributes:
        agent: The agent from then on.
        edits: The differences from the previous revision, in words.
        op: The operation; the first one is that of its birth.
    """

    agent: Agent
    reason: str
    edits: tuple[str, ...]
    op: str


@dataclass(kw_only=True, slots=True, eq=False)
class PoolAgent(TrialRecord):
    """An agent of a pool. Its name is its permanent identity; its fields can be revised.

    Attributes:
        revisions: All revisions in order, from its birth on; the last one is current.
        inherits: The agents whose memories, as of its birth, its own began with.
    """

    revisions: tuple[Revision, ...]
    inherits: tuple[str, ...] = ()

    @property
    def agent(self) -> Agent:
        """The current agent."""
        return self.revisions[-1].agent

    def texts(self, *, back: int = 0) -> Mapping[str, str]:
        """Return the texts of its folder, now or `back` revisions ago; empty before its birth."""
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
    """Check that a team of this agent alone loads.

    Raises:
        ConfigError: It does not load, or is above the ceiling.
    """
    alone, file = _alone(agent), agent_file_of(agent.id)
    text = dump(alone).encode("utf-8", "surrogatepass")
    _, problems = check_team(text, file, catalogue)
    if ceiling is not None:
        problems += ceiling.problems(alone, file)
    if problems:
        raise ConfigError(problems)


def differences(before: Agent, after: Agent) -> tuple[str, ...]:
    """Return the differences between two agents in words, ignoring their names."""
    return summary(_alone(replace(before, id=after.id)), _alone(after))


def _alone(agent: Agent) -> Team:
    return Team(name=agent.id, agents={agent.id: agent})
