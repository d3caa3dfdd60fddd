"""The readers of what was learnt: agents that recall entries of the pool or have notes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from ...runtime.agents.outcomes import Run
from ...schema.team.team import Team
from ...schema.values.hints import listed
from ...schema.values.terminal import counted


def nobody_reads(kinds: Collection[str], teams: Sequence[Team]) -> str:
    """Return a warning if no agent recalls the entries that are kept, else "".

    Args:
        kinds: The kinds of entries that are kept for agents; empty if none are.
    """
    recalls = [agent.recall for team in teams for agent in team.agents.values() if agent.recall]
    if not kinds or any(not recall.kinds or {*recall.kinds} & {*kinds} for recall in recalls):
        return ""
    named, whose = " and ".join(sorted(kinds)), listed([team.name for team in teams])
    return (
        f"keeps entries of the kind {named}, and no agent of {whose} recalls"
        f" them, so no agent would ever read them. Write `recall: {{kinds: [{min(kinds)}]}}`"
        " under agents of the team, or take seeds that have it."
    )


def readers(team: Team, run: Run) -> set[str]:
    """Return the agents of a run that read learnt entries: their pool names, else their ids."""
    worked = ((team.agents.get(name), outcome) for name, outcome in run.agents.items())
    return {
        agent.member or agent.id
        for agent, outcome in worked
        if agent and outcome.attempts and (outcome.recalled or agent.notes.places)
    }


def read_counts(read: Iterable[Sequence[str]]) -> Mapping[str, int]:
    """Return the number of agents that read learnt entries, and of tasks on which they did."""
    each = [*filter(None, read)]
    return {"agents": len({name for names in each for name in names}), "tasks": len(each)}


def read_by(read: Mapping[str, int]) -> str:
    """Format such counts: `read by 3 agents on 20 tasks`."""
    return f"read by {counted(read['agents'], 'agent')} on {counted(read['tasks'], 'task')}"
