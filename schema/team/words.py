"""Teams and agents in a few words, and short forms of many ids."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from ..host.models import DEFAULT_ALIAS
from ..values.values import unlike_default
from .team import IMPLIED_BACKENDS, Agent, Recruit, Roster, Rounds, Team, natural


def one_line(text: str) -> str:
    """Put a text on one line, with single spaces."""
    return " ".join(text.split())


def engine(team: Team, agent: Agent) -> str:
    """Return an agent's type: `LLM`, `Function majority`, `CodeAgent on another_backend`."""
    if agent.agent_type is None:
        return " ".join(filter(None, (team.backend_of(agent), agent.function)))
    implied = IMPLIED_BACKENDS.get(agent.agent_type)
    elsewhere = "" if agent.backend in {None, implied} else f"on {agent.backend}"
    return " ".join(filter(None, (agent.agent_type, agent.function, elsewhere)))


def model(team: Team, agent: Agent) -> str:
    """Return the name of an agent's model; empty for functions and for the running person."""
    is_somebody = team.asks_model(agent) or (not agent.function and agent.model_id != DEFAULT_ALIAS)
    return agent.model_id if is_somebody else ""


def works(team: Team, agent: Agent) -> str:
    """Describe how an agent works: `LLM · default`, `Function majority`."""
    parts = (engine(team, agent), model(team, agent), duty(team, agent))
    return " · ".join(filter(None, parts))


def terms(agent: Agent) -> Sequence[str]:
    """Describe an agent's condition, reports and list: `when triage.kind is bug`."""
    reads = [f"reads {name} {when}" for name, when in agent.reads.items()]
    return [*(str(item) for item in (agent.when, agent.each) if item is not None), *reads]


def duty(team: Team, agent: Agent) -> str:
    """Return an agent's part outside of the rounds, or whether it takes part at all: `closes`."""
    rounds, recruit = team.execution.rounds, team.execution.recruit
    if (roster := team.execution.roster) is not None:
        return "leads" if agent.id == roster.lead else "on call"
    if recruit is not None and agent.id == recruit.by:
        return "recruits"
    if recruit is not None and agent.id in recruit.among:
        return "seat" if recruit.free else "on call"
    if agent.id in team.opening:
        return "opens"
    if rounds is not None and agent.id == rounds.meeting:
        return "meets"
    return "closes" if rounds is not None and agent.id in rounds.closing else ""


def chooses(recruit: Recruit) -> str:
    """Describe recruiting: `coordinator chooses at most 3 of cardiology, neurology`."""
    what = "fills" if recruit.free else "chooses"
    most = min(recruit.most, len(recruit.among))
    return f"{recruit.by} {what} at most {most} of {span(recruit.among)}"


def repeats(rounds: Rounds) -> str:
    """Describe how often agents work: `at most 3 rounds until unchanged`, `3 rounds`."""
    often = f"{rounds.most} rounds"
    hears = "the others" if rounds.hears == "others" else span(rounds.hears)
    clause = "" if rounds.hears == "reports" else f", each hears {hears}"
    return (
        f"{often if rounds.until == 'never' else f'at most {often} until {rounds.until}'}{clause}"
    )


def opens(roster: Roster) -> str:
    """Describe an open roster: `open roster, at most 8 at a time`."""
    return f"open roster, at most {roster.alive} at a time"


def within(roster: Roster) -> str:
    """Describe the lead of an open roster and its limits that differ from the defaults."""
    limits = {name: item for name, item in unlike_default(roster).items() if name != "lead"}
    texts = (f"{name} {item:g}" for name, item in limits.items())
    return ", ".join([f"open, led by {roster.lead}", *texts])


def totals(team: Team) -> str:
    """Describe a team's size: `7 agents · 6 edges · 2 levels`, and how often agents work."""
    counts = {"agent": len(team.agents), "edge": len(team.edges), "level": len(team.levels)}
    texts = [f"{count} {noun}{'' if count == 1 else 's'}" for noun, count in counts.items()]
    return " · ".join([*texts, *goes(team)])


def goes(team: Team) -> Sequence[str]:
    """Describe recruiting, rounds and roster, as far as the team declares them."""
    rounds, recruit = team.execution.rounds, team.execution.recruit
    chosen = f"{min(recruit.most, len(recruit.among))} of {len(recruit.among)}" if recruit else ""
    verb = "seats" if recruit and recruit.free else "recruited"
    roster = team.execution.roster
    row = (
        f"at most {chosen} {verb}" if chosen else "",
        repeats(rounds) if rounds else "",
        opens(roster) if roster else "",
    )
    return [name for name in row if name]


def flows(team: Team) -> Mapping[tuple[str, ...], tuple[str, ...]]:
    """Group the edges: agents with the same receivers, and these receivers.

    Six agents that each report to the same six make one flow, not 36 lines. Every edge is in
    exactly one flow.
    """
    by_receivers: dict[tuple[str, ...], list[str]] = {}
    for level in team.levels:
        for sender in level:
            if receivers := tuple(sorted(team.reports_to.get(sender, ()), key=natural)):
                by_receivers.setdefault(receivers, []).append(sender)
    return {tuple(senders): receivers for receivers, senders in by_receivers.items()}


def span(ids: Iterable[str]) -> str:
    """List ids in short form: `critic, worker_1..6` for consecutive numbers."""
    names = sorted(set(ids), key=natural)
    while (shorter := _merged(names)) != names:
        names = shorter
    return ", ".join(names)


def _merged(names: Sequence[str]) -> list[str]:
    """Merge neighbours with consecutive numbers; another pass merges the resulting ranges."""
    runs: list[list[str]] = []
    for name in names:
        if runs and _counts_on(runs[-1], name):
            runs[-1].append(name)
        else:
            runs.append([name])
    return [_range(run) for run in runs]


def _counts_on(run: Sequence[str], name: str) -> bool:
    place = _counted(run[-1], name)
    return place is not None and (len(run) == 1 or place == _counted(run[0], run[1]))


def _range(run: Sequence[str]) -> str:
    parts, last = re.split(r"(\d+)", run[0]), re.split(r"(\d+)", run[-1])
    return "".join(
        part if part == end else f"{part}..{end}" for part, end in zip(parts, last, strict=True)
    )


def _counted(first: str, second: str) -> int | None:
    """Return the only part in which two ids differ, if it counts up by one; else None."""
    ones, others = re.split(r"(\d+)", first), re.split(r"(\d+)", second)
    if len(ones) != len(others):
        return None
    changed = [place for place, part in enumerate(ones) if part != others[place]]
    if len(changed) != 1 or changed[0] % 2 == 0:
        return None
    item, end = ones[changed[0]], others[changed[0]]
    return changed[0] if end == str(int(item) + 1).zfill(len(item)) else None
