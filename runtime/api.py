"""Running a team from Python, in one call."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ..schema.catalogue import Catalogue
from ..schema.host import resolve_models, resolve_servers
from ..schema.loading import load_task, load_team
from ..schema.task import Task
from ..schema.team import Team
from .engine import execute
from .gateway import Gateway
from .jail import Jails
from .plan import compile
from .tools import Toolbox

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from .engine import Run
    from .trace import Trace

__all__ = ["run"]


def run(
    team: Team | str | Path,
    task: Task | str | Path,
    *,
    model: Iterable[str] = (),
    unsafe_local: bool = False,
    seed: int | None = None,
    trace: Trace | None = None,
) -> Run:
    """Load, compile and execute a team on a task, and wait for the result.

    Args:
        team: A team, or the path of a team file.
        task: A task, or the path of a task file.
        model: Choices as `--model` takes them: `ALIAS=PROVIDER/NAME`, or a model for `default`.
        unsafe_local: Run code that agents write without a jail.
        seed: Makes sampling repeatable where the endpoint allows it.
        trace: Told everything that happens.

    Raises:
        InputError: A file does not load, or something that the run needs is missing.
    """
    catalogue = Catalogue.of_host(models=resolve_models(model), servers=resolve_servers())
    loaded = load_team(team, catalogue) if not isinstance(team, Team) else team
    asked = load_task(task, catalogue) if not isinstance(task, Task) else task
    plan = compile(loaded, catalogue)

    async def until_done() -> Run:
        async with (
            Gateway(catalogue.models, seed=seed) as gateway,
            Toolbox(catalogue.servers) as toolbox,
        ):
            await gateway.prepare(plan.aliases)
            await toolbox.prepare(plan.tools)
            return await execute(
                plan,
                asked,
                gateway=gateway,
                jails=Jails(unsafe=unsafe_local),
                toolbox=toolbox,
                trace=trace,
                seed=seed,
            )

    return asyncio.run(until_done())
