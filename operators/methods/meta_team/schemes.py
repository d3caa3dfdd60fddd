"""A retrospective by a recipe's settings, and the levels that make a team's next head."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....runtime.values.usage import Usage
from ....schema.edits import SetNote
from ...core.proposal import RejectedProposal
from .centralise import tokens_of_one_analyser
from .evidence.feedback import TaskFeedback
from .evidence.ground import Ground
from .limits import PhaseLimits
from .retrospective import Retrospective, look_back
from .room import NoteLimits
from .succession import GATE, LEVELS, Level

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ....runtime.agents.outcomes import Run, Score
    from ....schema.edits import Edit
    from ....schema.team.team import Team
    from ...core.meta import OperatorModel
    from ...evolution.episode import Episode
    from .settings import RetrospectiveSettings

CENTRAL = "centralise"
OWN = frozenset({"patch", "skill"})
"""The notes of an agent on itself; all other notes are on its work with another agent."""


def room_of(settings: RetrospectiveSettings) -> NoteLimits:
    """Return the limits of notes."""
    return NoteLimits(
        patches=settings.patches,
        skills=settings.skills,
        note=settings.note,
        constitution=settings.constitution,
        read=settings.read,
    )


def limits_of(settings: RetrospectiveSettings) -> PhaseLimits:
    """Return the limits of a phase, scaled by the evolution's share of the budget (§4.5)."""
    share, usd = settings.budget_share, settings.phase_usd
    return PhaseLimits(
        steps=max(1, int(share * settings.phase_steps)),
        seconds=share * settings.phase_seconds,
        usd=None if usd is None else share * usd,
    )


async def looked_back(
    episode: Episode, model: OperatorModel, team: Team, run: Run, score: Score
) -> tuple[Retrospective, tuple[Level, ...]]:
    """Run a team's retrospective, in the scheme of the recipe.

    Answers and edits that cannot be used are recorded as rejections.

    Returns:
        The result, and the changes of each level, in order.
    """
    settings: RetrospectiveSettings = episode.settings
    if settings.scheme == "none" or not settings.looks_back:
        return Retrospective(child=team), ()
    feedback = TaskFeedback.of(
        episode.task,
        run,
        score,
        is_judged=episode.scored_by == "judge",
        shows_reference=settings.reference,
    )
    room, limits = room_of(settings), limits_of(settings)
    ground = Ground(team=team, run=run, feedback=feedback, room=room, limits=limits)
    retrospective = await look_back(model, episode.path, ground, settings)
    levels = tuple(_levels(retrospective, settings))
    _count(episode, levels, retrospective)
    _tell_cost(episode, tokens_of_one_analyser(model, ground, settings))
    return retrospective, levels


def _tell_cost(episode: Episode, central: int) -> None:
    """Record the usage of each level, and what one analyser would have read in a single call."""
    settings: RetrospectiveSettings = episode.settings
    on = [asking for level, asking in LEVELS.items() if getattr(settings, level)]
    for name, operators in (
        [(settings.scheme, (CENTRAL,))] if settings.scheme == "centralised" else on
    ):
        spent = sum((episode.spent.get(operator, Usage()) for operator in operators), Usage())
        episode.figures |= {f"{name} calls": spent.calls, f"{name} tokens": spent.tokens}
    episode.figures["one analyser tokens, about"] = central


def _levels(retrospective: Retrospective, settings: RetrospectiveSettings) -> Iterator[Level]:
    """Yield the changes of each level, with their reason."""
    why = retrospective.reorganised.reason if retrospective.reorganised else ""
    fields = {
        "agent_level": "; ".join(
            f"{reflected.agent}: {reflected.summary}" for reflected in retrospective.reflected
        )
    }
    fields |= {"pair_level": "", "team_level": why}
    for name, (_, (*_, operator)) in LEVELS.items():
        if not getattr(settings, name):
            continue
        edits = tuple(edit for edit in retrospective.edits if _level_of(edit) == name)
        if settings.scheme == "centralised":
            yield Level(name=name, operator=CENTRAL, edits=edits, reason=why)
        else:
            yield Level(name=name, operator=operator, edits=edits, reason=fields[name])


def _level_of(edit: Edit) -> str:
    if not isinstance(edit, SetNote) or edit.agent is None:
        return "team_level"
    return "agent_level" if edit.note in OWN else "pair_level"


def _count(episode: Episode, levels: tuple[Level, ...], retrospective: Retrospective) -> None:
    episode.figures |= {f"{level.name} edits": float(len(level.edits)) for level in levels}
    episode.figures["refused"] = float(len(retrospective.refused))
    for proposal in retrospective.rejected:
        episode.lose(proposal)
    for proposal in retrospective.refused:
        why = f"{proposal.what}: {' '.join(proposal.reasons)}"
        episode.lose(
            RejectedProposal(operator=GATE, reason=why, parents=(retrospective.child.name,))
        )
