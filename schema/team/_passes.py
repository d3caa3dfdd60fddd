"""Rules for the passes that a team declares: which agents open, recruit, meet and close."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ..host.catalogue import load_named
from ..host.conforming import expected
from ..host.foreign_code import foreign_code
from ..values.errors import InputError
from ..values.hints import listed
from ..values.problems import Path, Problem, quoted
from ._graph import Reading, Rule, is_clear, unknown_agent
from .team import Agent, Recruit, Rounds, Team

ROUNDS: Path = ("execution", "rounds")
OPENING: Path = (*ROUNDS, "opening")
HEARS: Path = (*ROUNDS, "hears")
MEETING: Path = (*ROUNDS, "meeting")
CLOSING: Path = (*ROUNDS, "closing")
RECRUIT: Path = ("execution", "recruit")
NEEDS = {
    "finalized": (
        "no agent that works in the rounds can report that it is done. Give one an output_schema"
        " with a boolean property final, or write until: unchanged."
    ),
    "converged": (
        "no agent that works in the rounds can report that it has nothing new. Give those who"
        " consult an output_schema with an array property increment, or write until: unchanged."
    ),
    "accepted": (
        "no agent that works in the rounds reviews. Give those who review an output_schema with an"
        " array property reviews, or write until: unchanged."
    ),
}


def known_to_rounds(reading: Reading) -> Iterator[Problem]:
    """Check that all agents named in rounds and recruiting belong to the team."""
    agents = reading.agent_ids
    for path, name in _named(reading) if agents else ():
        if name not in agents:
            yield unknown_agent(reading, path, name)


def rounds_that_end(reading: Reading) -> Iterator[Problem]:
    """Check that rounds that wait for a report have an agent that can give it."""
    rounds = _clear_rounds(reading)
    if rounds is None:
        return
    repeating = _repeating(reading.team, rounds)
    able = {
        "finalized": [agent for agent in repeating if agent.can_finalize],
        "converged": [agent for agent in repeating if agent.consults],
        "accepted": [agent for agent in repeating if agent.reviews],
    }
    if repeating and not able.get(rounds.until, repeating):
        yield reading.problem((*ROUNDS, "until"), NEEDS[rounds.until])
    elif rounds.until == "accepted":
        yield from _unreviewed(reading, repeating)


def _unreviewed(reading: Reading, repeating: Sequence[Agent]) -> Iterator[Problem]:
    """Check that each agent whose work must be accepted has a reviewer."""
    reviewers = {agent.id for agent in repeating if agent.reviews}
    receivers = reading.team.reports_to
    for agent in repeating:
        if agent.id not in reviewers and reviewers.isdisjoint(receivers.get(agent.id, ())):
            yield reading.problem(
                (*ROUNDS, "until"),
                f"no agent reviews {quoted(agent.id)}, so its work is never accepted. Let it report"
                f" to one that reviews ({listed(sorted(reviewers))}), or let it open or close.",
            )


def opening_ahead(reading: Reading) -> Iterator[Problem]:
    """Check that opening agents hear no agent that works later."""
    rounds, team = _clear_rounds(reading), reading.team
    if rounds is None:
        return
    opening = _opening(team, rounds)
    inputs = team.direct_inputs
    for name in sorted(opening):
        if others := [source for source in inputs[name] if source not in opening]:
            path = (*OPENING, rounds.opening.index(name)) if name in rounds.opening else RECRUIT
            yield reading.problem(
                path,
                f"{quoted(name)} works before the rounds, but hears {listed(others)}. Let them open"
                " as well, or report to others.",
            )
    if opening and team.output in opening:
        path = OPENING if team.output in rounds.opening else RECRUIT
        yield reading.problem(path, f"{quoted(team.output)}, the output agent, opens.")


def meeting_between(reading: Reading) -> Iterator[Problem]:
    """Check that the meeting agent hears all who consult, and is heard only after the rounds."""
    rounds, team = _clear_rounds(reading), reading.team
    if rounds is None or rounds.meeting is None:
        return
    chair = rounds.meeting
    if rounds.until != "converged":
        message = "there is nothing to meet about without until: converged. Leave it out."
        yield reading.problem(MEETING, message)
        return
    consulting = [agent.id for agent in _repeating(team, rounds) if agent.consults]
    if unheard := [name for name in consulting if name not in team.direct_inputs[chair]]:
        yield reading.problem(
            MEETING, f"{quoted(chair)} does not hear {listed(unheard)}. Let them report to it."
        )
    if others := [name for name in _hearing(team, chair) if name not in rounds.closing]:
        yield reading.problem(
            MEETING,
            f"{quoted(chair)} meets between rounds, but {listed(others)} in the rounds would hear"
            " it. Who consults reads its bulletin; let it report to one that closes.",
        )


def one_place_each(reading: Reading) -> Iterator[Problem]:
    """Check that no agent both opens, meets or closes, and that some work in the rounds."""
    rounds, team = _clear_rounds(reading), reading.team
    if rounds is None:
        return
    opening = _opening(team, rounds)
    for index, name in enumerate(rounds.closing):
        if name in opening or name == rounds.meeting:
            what = "opens" if name in opening else "meets"
            message = f"{quoted(name)} {what} and closes. Leave it out of one of them."
            yield reading.problem((*CLOSING, index), message)
    if rounds.meeting in opening:
        message = f"{quoted(rounds.meeting)} opens and meets. Leave it out of one of them."
        yield reading.problem(MEETING, message)
    if not _repeating(team, rounds):
        word = "every agent closes." if not opening and not rounds.meeting else "no agent is left."
        path = CLOSING if rounds.closing else OPENING if rounds.opening else ROUNDS
        yield reading.problem(path, f"{word} Leave out those that work in the rounds.")


def heard_in_rounds(reading: Reading) -> Iterator[Problem]:
    """Check that the agents named in `hears` work in the rounds."""
    rounds = _clear_rounds(reading)
    if rounds is None or isinstance(rounds.hears, str):
        return
    repeating = [agent.id for agent in _repeating(reading.team, rounds)]
    for index, hear in enumerate(rounds.hears):
        if hear not in repeating:
            message = (
                f"{quoted(hear)} does not work in the rounds, so no agent hears it. Leave it out."
            )
            yield reading.problem((*HEARS, index), message)


def closing_at_the_end(reading: Reading) -> Iterator[Problem]:
    """Check that closing agents work after all others and give the answer."""
    rounds, team = _clear_rounds(reading), reading.team
    if rounds is None or not rounds.closing or not _repeating(team, rounds):
        return
    if team.output not in rounds.closing:
        yield reading.problem(
            CLOSING,
            f"{quoted(team.output)}, the output agent, is not among them. Add it, or leave out"
            " closing.",
        )
    for index, name in enumerate(rounds.closing):
        if others := [source for source in _hearing(team, name) if source not in rounds.closing]:
            yield reading.problem(
                (*CLOSING, index),
                f"{quoted(name)} closes, but its output is read in the rounds, by {listed(others)}."
                " Let them close as well, or let it work in the rounds.",
            )


def recruiting(reading: Reading) -> Iterator[Problem]:
    """Check that the recruiter can choose, and does so before its candidates work."""
    recruit, team = _clear_recruit(reading), reading.team
    if recruit is None:
        return
    by: Path = (*RECRUIT, "by")
    if team.output == recruit.by:
        message = f"{quoted(recruit.by)}, whose output is the answer, cannot choose who works."
        yield reading.problem(by, message)
    if why := _cannot_choose(team, recruit):
        yield reading.problem(by, why)
    opening = team.opening
    for index, name in enumerate(recruit.among):
        if why := _cannot_be_chosen(team, recruit, name, opening):
            yield reading.problem((*RECRUIT, "among", index), why)


def _cannot_choose(team: Team, recruit: Recruit) -> str | None:
    agent = team.agents[recruit.by]
    backend = team.backend_of(agent)
    if agent.output_schema is not None:
        return f"the output_schema of {quoted(agent.id)} is made from the team. Leave it out."
    if backend == "function":
        return f"{quoted(agent.id)} asks no model, so it cannot choose. Name one that does."
    held = replace(agent, output_schema={"type": "object"})
    return next(iter(_objections(held, backend)), None)


def _cannot_be_chosen(
    team: Team, recruit: Recruit, name: str, opening: frozenset[str]
) -> str | None:
    if name == recruit.by:
        return f"{quoted(name)} recruits, so it cannot be recruited. Leave it out."
    if name == team.output:
        return f"{quoted(name)}, whose output is the answer, always takes part. Leave it out."
    if name in opening:
        return (
            f"{quoted(name)} works before {quoted(recruit.by)} has chosen, which hears it. Leave it"
            " out, or let it report to others."
        )
    if recruit.free and not team.asks_model(team.agents[name]):
        return f"{quoted(name)} asks no model, so it is no seat for anybody. Leave it out."
    return None


def _objections(agent: Agent, backend: str) -> Sequence[str]:
    try:
        with foreign_code(f"the backend {backend}", InputError):
            result = load_named("runners", backend).objections(agent)
            return [*expected(result, Iterable[str], f"the backend {backend}")]
    except InputError:
        return ()  # another rule reports an unknown backend


def _named(reading: Reading) -> Iterator[tuple[Path, str]]:
    """Yield each agent name in the passes of a file, with its path."""
    rounds, recruit = reading.team.execution.rounds, reading.team.execution.recruit
    if rounds is not None and reading.sound("execution.rounds"):
        hears = () if isinstance(rounds.hears, str) else rounds.hears
        yield from (((*HEARS, index), hear) for index, hear in enumerate(hears))
        yield from (((*OPENING, index), name) for index, name in enumerate(rounds.opening))
        yield from ((MEETING, name) for name in [rounds.meeting] if name is not None)
        yield from (((*CLOSING, index), name) for index, name in enumerate(rounds.closing))
    if recruit is not None and reading.sound("execution.recruit"):
        yield (*RECRUIT, "by"), recruit.by
        yield from (((*RECRUIT, "among", index), name) for index, name in enumerate(recruit.among))


def _is_clear(reading: Reading) -> bool:
    sound = reading.sound("execution.rounds") and reading.sound("execution.recruit")
    return sound and is_clear(reading) and not any(known_to_rounds(reading))


def _clear_rounds(reading: Reading) -> Rounds | None:
    """Return a team's rounds; None if absent, or if agents or graph are unclear."""
    rounds = reading.team.execution.rounds
    return rounds if rounds is not None and reading.agent_ids and _is_clear(reading) else None


def _clear_recruit(reading: Reading) -> Recruit | None:
    recruit = reading.team.execution.recruit
    return recruit if recruit is not None and reading.agent_ids and _is_clear(reading) else None


def _opening(team: Team, rounds: Rounds) -> set[str]:
    """Return the agents that are declared to work before the rounds."""
    recruit = team.execution.recruit
    return {*rounds.opening, *([recruit.by] if recruit else ())}


def _repeating(team: Team, rounds: Rounds) -> Sequence[Agent]:
    """Return the agents that work in each round."""
    beside = {*_opening(team, rounds), *rounds.closing, rounds.meeting}
    return [agent for agent in team.agents.values() if agent.id not in beside]


def _hearing(team: Team, agent_id: str) -> Sequence[str]:
    """Return the agents that see an agent's output, by the team's rule for context."""
    if team.execution.context != "all":
        return team.reports_to.get(agent_id, ())
    levels = team.levels
    own = next(index for index, level in enumerate(levels) if agent_id in level)
    return [name for level in levels[own + 1 :] for name in level]


PASS_RULES: tuple[Rule, ...] = (
    known_to_rounds,
    rounds_that_end,
    one_place_each,
    opening_ahead,
    meeting_between,
    heard_in_rounds,
    closing_at_the_end,
    recruiting,
)
"""The rules for the passes that a team declares in addition to its graph."""
