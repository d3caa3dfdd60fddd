"""The work of one member of a team on a task, from which lessons are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...core.account import RoundAccount
from ...core.material import CHARACTERS_PER_TOKEN, clip, fenced, material
from ...core.roles import with_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ....runtime.agents.outcomes import Run
    from ....schema.host.catalogue import Catalogue
    from ....schema.team.team import Agent
    from ...core.bounds import Bounds
    from ...evolution.episode import Episode
    from .attempts import MemberAttempt
    from .seating import Seated


@dataclass(frozen=True, kw_only=True, slots=True)
class MemberWork:
    """The work of one member of a team on a task.

    Attributes:
        persona: Its instructions, which do not depend on the task.
        score: The score of its own answer, in [0, 1]; None without one.
        own: Its answer outside the team, if it gave none in the team.
        diagnosis: What went right and wrong, if it was diagnosed.
    """

    agent: str
    persona: str
    account: RoundAccount
    positions: tuple[str, ...]
    score: float | None = None
    own: str = ""
    diagnosis: str = ""

    def text(self, bounds: Bounds) -> str:
        """Return it as shown to a model: persona, work and score, each in a fence."""
        works = len(self.positions) + bool(self.own)
        room = bounds.digest_tokens * CHARACTERS_PER_TOKEN // max(1, works)
        own = "" if self.score is None else f"the agent's own answer: {self.score:.3g}"
        return material(
            fenced("persona", clip(self.persona, bounds.characters), self.agent),
            *(self.account.of(position, room) for position in self.positions),
            fenced("attempt_alone", clip(self.own, room), self.agent),
            fenced("worth", own, self.agent),
            fenced("diagnosis", self.diagnosis, self.agent),
        )

    def outline(self, bounds: Bounds) -> str:
        """Return persona and diagnosis as shown to a model, without the work itself."""
        persona = fenced("persona", clip(self.persona, bounds.characters), self.agent)
        return material(persona, fenced("diagnosis", self.diagnosis, self.agent))


def persona_of(agent: Agent, catalogue: Catalogue) -> str:
    """Return an agent's role and prompt, with a named prompt written out."""
    return material(agent.role, with_text(agent, catalogue).prompt.strip())


def works(
    episode: Episode, seated: Seated, run: Run, attempts: Sequence[MemberAttempt]
) -> tuple[MemberWork, ...]:
    """Return each member's work, in the order of the seats."""
    account = RoundAccount(team=seated.team, run=run)
    scores = {attempt.agent: attempt.score for attempt in attempts if attempt.score is not None}
    own = {attempt.agent: attempt.answer for attempt in attempts if attempt.is_alone}
    return tuple(
        MemberWork(
            agent=name,
            persona=persona_of(episode.view.agents[name].agent, episode.context.catalogue),
            account=account,
            positions=_positions(account, name),
            score=scores.get(name),
            own=own.get(name, ""),
        )
        for name in seated.seats.values()
    )


def _positions(account: RoundAccount, member: str) -> tuple[str, ...]:
    """Return the positions of a member that worked, in the order of the team."""
    agents = account.team.agents
    return tuple(
        agent for agent in agents if agents[agent].member == member and agent in account.run.agents
    )
