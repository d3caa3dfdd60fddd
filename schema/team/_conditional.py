"""Rules for agents that work on a condition, or once for each item of a list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..values.hints import did_you_mean, listed
from ..values.problems import Path, Problem, quoted
from ..values.values import is_mapping
from ._graph import Reading, Rule, is_clear, unknown_agent
from .conditions import TASK_LISTS, Each, When
from .team import Agent, Team

WORKS_ALONE = {
    "function": "asks no model",
    "mini-swe-agent": "changes a repository",
    "swe-agent": "changes a repository",
}
"""The backends whose agents cannot work on single items, each with the reason."""
KINDS = {"string": str, "boolean": bool, "integer": int, "number": (int, float)}


def testable_conditions(reading: Reading) -> Iterator[Problem]:
    """Check that each condition tests an earlier agent's answer, and that the test can pass."""
    for agent, path, earlier in _works_after(reading):
        if agent.when is not None and _gives_the_answer(reading.team, agent):
            message = f"{quoted(agent.id)}, the output agent, always works. Leave it out."
            yield reading.problem((*path, "when"), message, at_key=True)
        elif agent.when is not None:
            yield from _faults(reading, (*path, "when"), agent.when, agent, earlier)
        for sender, when in agent.reads.items():
            place: Path = (*path, "reads", sender)
            if sender not in reading.agent_ids:
                yield unknown_agent(reading, place, sender, at_key=True)
            elif sender not in reading.team.visible[agent.id]:
                message = f"{quoted(sender)} does not report to {quoted(agent.id)}. Leave it out."
                yield reading.problem(place, message, at_key=True)
            else:
                tested = replace(when, agent=when.agent or sender)
                yield from _faults(reading, place, tested, agent, earlier)


def _gives_the_answer(team: Team, agent: Agent) -> bool:
    return agent.id == team.output and team.execution.roster is None


def _faults(
    reading: Reading, place: Path, when: When, agent: Agent, earlier: frozenset[str]
) -> Iterator[Problem]:
    if not when.choices and not when.bounds:
        yield reading.problem(place, "it has no test. Write is, in, at_least or at_most.")
    elif when.agent not in reading.agent_ids:
        yield unknown_agent(reading, (*place, "agent"), when.agent)
    elif when.agent not in earlier:
        yield reading.problem((*place, "agent"), _not_before(when.agent, agent.id))
    else:
        for inner, message in _untestable(when, reading.team.agents[when.agent]):
            yield reading.problem((*place, *inner), message)


def goes_by(agent: Agent) -> Iterator[str]:
    """Yield the agents whose answers decide whether this agent works, or which reports it reads."""
    yield from (item.agent for item in (agent.when, agent.each) if item and item.agent)
    yield from (when.agent or sender for sender, when in agent.reads.items())


def lists_to_work_on(reading: Reading) -> Iterator[Problem]:
    """Check that each list exists before its agent works, and that the agent can work on items."""
    for agent, path, earlier in _works_after(reading):
        if (each := agent.each) is None:
            continue
        place: Path = (*path, "each")
        if why := works_whole(reading.team, agent):
            yield reading.problem(place, f"{quoted(agent.id)} {why}. Leave it out.", at_key=True)
        elif each.agent is None:
            if each.field not in TASK_LISTS:
                hint = (
                    did_you_mean(each.field or "", TASK_LISTS) or f" Known: {listed(TASK_LISTS)}."
                )
                message = f"{quoted(each.field)} is not a list of a task.{hint} Or name an agent."
                yield reading.problem((*place, "field"), message)
        elif each.agent not in reading.agent_ids:
            yield unknown_agent(reading, (*place, "agent"), each.agent)
        elif each.agent not in earlier:
            yield reading.problem((*place, "agent"), _not_before(each.agent, agent.id))
        elif why := _no_list(each, reading.team.agents[each.agent]):
            yield reading.problem((*place, "field") if each.field else place, why)


def _works_after(reading: Reading) -> Iterator[tuple[Agent, Path, frozenset[str]]]:
    """Yield each conditional agent with its path and the agents that always work before it."""
    conditional = [pair for pair in reading.agents() if pair[0].is_conditional]
    if not conditional or not is_clear(reading):
        return
    ancestors, visible = reading.team.ancestors, reading.team.visible
    for agent, path in conditional:
        yield agent, path, ancestors[agent.id] | visible[agent.id]


def _not_before(earlier: str, later: str) -> str:
    return (
        f"{quoted(earlier)} does not work before {quoted(later)}. Let it report to that agent,"
        " directly or through others."
    )


def _untestable(when: When, agent: Agent) -> Iterator[tuple[Path, str]]:
    """Yield the tests that no answer of an agent can pass under its output schema."""
    if agent.each is not None:
        yield ("agent",), f"{quoted(agent.id)} answers with a list, an item each."
        return
    schema, why = _part(agent, when.field)
    if why:
        yield ("field",), why
        return
    for test, values in when.choices.items():
        for value in values:
            if not _may_be(schema, value):
                yield (test,), f"{when.subject} is never {quoted(value)}.{_hint(schema)}"
    kind = schema.get("type")
    for test in when.bounds if kind not in {None, "integer", "number"} else ():
        yield (test,), f"{when.subject} is not a number, but of type {kind}."


def _part(agent: Agent, field: str | None) -> tuple[Mapping[str, Any], str]:
    """Return the schema of a field of an agent's answer, or the reason why there is none."""
    schema = agent.output_schema or {}
    fields = schema.get("properties")
    fields = fields if is_mapping(fields) else {}
    if field is None:
        what = f"{quoted(agent.id)} answers with an object."
        why = f"{what} Name one of its fields: {listed([*fields])}."
        return schema, why if fields else ""
    if field in fields:
        return fields[field] if is_mapping(fields[field]) else {}, ""
    hint = did_you_mean(field, fields) or (f" Fields: {listed([*fields])}." if fields else "")
    add = "" if hint else " Give it an output_schema with this property."
    return {}, f"the answer of {quoted(agent.id)} has no field {quoted(field)}.{hint}{add}"


def _may_be(schema: Mapping[str, Any], value: Any) -> bool:
    choices = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if choices is not None:
        return value in choices
    kind = KINDS.get(str(schema.get("type")))
    is_flag = isinstance(value, bool) and kind is not bool
    return kind is None or (isinstance(value, kind) and not is_flag)


def _hint(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return f" It is one of {listed([str(item) for item in schema['enum']])}."
    return f" It is of type {schema['type']}." if "type" in schema else ""


def works_whole(team: Team, agent: Agent) -> str:
    """Return why an agent cannot work on single items; empty if it can."""
    rounds, recruit = team.execution.rounds, team.execution.recruit
    if team.execution.roster is not None:
        return "works in turns, in an open roster"
    if recruit is not None and agent.id == recruit.by:
        return "recruits"
    if rounds is not None and agent.id == rounds.meeting:
        return "meets"
    return WORKS_ALONE.get(team.backend_of(agent), "")


def _no_list(each: Each, agent: Agent) -> str:
    """Return why an agent's answer, or its field, is not a list; empty if it is one."""
    if each.field is None and agent.each is not None:
        return ""
    schema, why = _part(agent, each.field)
    if agent.each is not None:
        return f"{quoted(agent.id)} answers with a list. Leave out field."
    if each.field is not None and why:
        return why
    if schema.get("type") == "array":
        return ""
    return why or f"{each.subject} is not a list. Give it type: array in the output_schema."


CONDITION_RULES: tuple[Rule, ...] = (testable_conditions, lists_to_work_on)
"""The rules for conditions and lists of agents."""
