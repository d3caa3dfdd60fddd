"""Which agents work in a pass, and how often: by the team's conditions and by items of lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..agents.outcomes import AgentOutcome, skipped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...schema.team.conditions import Each, When
    from ..agents.runner import AgentResult
    from ..plan.plan import PlannedAgent
    from .engine import Running


async def inputs_of(run: Running, planned: PlannedAgent) -> Mapping[str, AgentOutcome]:
    """Wait for the agents whose outputs an agent sees, and return their outcomes.

    A conditional edge whose condition fails delivers no report: it counts as unneeded.
    """
    before = {name: await run.parts[name] for name in planned.sees}
    for sender, when in planned.agent.reads.items():
        if sender in before and (report := before[sender].result) is not None:
            answer = await run.result_of(when.agent) if when.agent else report
            if answer is None or not when.holds(_value_in(answer, when)):
                before[sender] = skipped(f"it is read only {when}.")
    return before


async def unneeded(
    run: Running, planned: PlannedAgent, before: Mapping[str, AgentOutcome]
) -> AgentOutcome | None:
    """Return the outcome of an agent that the team's conditions skip; None if it works.

    If it has its own condition, that alone decides. The output agent always works.

    Args:
        before: The outcomes of the agents whose output it sees.
    """
    agent = planned.agent
    if agent.when is not None:
        answer = await run.result_of(agent.when.agent)
        if answer is not None and agent.when.holds(_value_in(answer, agent.when)):
            return None
        return skipped(f"it works only {agent.when}.")
    is_cut_off = bool(before) and all(outcome.unneeded for outcome in before.values())
    if is_cut_off and agent.id != run.plan.output:
        return skipped("no agent that reports to it was needed.")
    return None


async def worked(
    run: Running, planned: PlannedAgent, before: Mapping[str, AgentOutcome]
) -> AgentOutcome:
    """Run an agent once, or once for each item of its list, concurrently as slots allow.

    The arguments are those of `unneeded`.
    """
    if (each := planned.agent.each) is None:
        return await run.attempted(planned, before)
    from ..agents.items import collected, numbered

    values = await _values(run, each)
    if values is None:
        error = f"there is no list for it: {each.subject}."
        return AgentOutcome(status="failed", error=error, fault="agent")
    if not values:
        return skipped(f"its list is empty: {each.subject}.")
    items = numbered(values, each.most)
    # Tasks of the pass itself: its end also ends them, and no exception is wrapped twice.
    parts = [
        run.group.create_task(run.attempted(planned, before, item), name=planned.agent.id)
        for item in items
    ]
    outcomes = [await part for part in parts]
    bears = run.plan.team.execution.on_error == "degrade"
    return collected(planned.agent, outcomes, len(values) - len(items), bears=bears)


async def _values(run: Running, each: Each) -> list[Any] | None:
    """Return the items of a list; None if the agent that should return it did not."""
    from ..agents.items import items_in, items_of

    if each.agent is None:
        return items_of(run.workspaces.task, each.field)
    answer = await run.result_of(each.agent)
    return None if answer is None else items_in(answer.content, each)


def _value_in(result: AgentResult, when: When) -> Any:
    """Return the part of an answer that a condition tests: a field of it, or its conclusion."""
    from ..scoring.answer_line import answer_line
    from ..values.structured import object_in

    if when.field is not None:
        return object_in(result.content).get(when.field)
    if result.answer is not None:
        return result.answer
    return answer_line(result.content) or result.content
