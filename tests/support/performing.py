"""Has the engine work on a plan, without the folder of a run around it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from coterie.runtime import Calls, Context, Gateway, Plan, Run, Toolbox, perform
from coterie.runtime.tools import Tool
from coterie.schema import Model, Task

NOTHING: Mapping[str, Any] = {}


async def performed(
    plan: Plan,
    task: Task,
    models: Mapping[str, Model],
    *,
    how: Callable[[Plan, Task, Context], Awaitable[Run]] = perform,
    calling: Mapping[str, Any] = NOTHING,
    tools: Sequence[Tool] = (),
    jails: Any = None,
    **context: Any,
) -> Run:
    """Have the agents of a plan work on a task.

    Args:
        how: How far: to the end, or in one pass.
        calling: What their calls have beside a gateway, such as a journal.
        tools: What they are granted in the place of the host's tools.
    """
    async with Gateway(models, seed=0) as gateway, Toolbox() as toolbox:
        toolbox._tools |= {tool.name: (tool,) for tool in tools}
        if not tools:
            await toolbox.prepare(plan.tools)
        calls = Calls(gateway=gateway, **calling)
        return await how(plan, task, Context(calls=calls, jails=jails, toolbox=toolbox, **context))
