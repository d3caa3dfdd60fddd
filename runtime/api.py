"""Running a team from Python, in one call."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

from ..schema.catalogue import Catalogue
from ..schema.host import resolve_models, resolve_servers
from ..schema.loading import load_task, load_team
from ..schema.task import Task
from ..schema.team import Team
from .budget import Budget, Caps
from .plan import compile
from .recall import refuse_met
from .record import Record
from .services import Setting, open_services
from .trace import Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .outcomes import Run
    from .trace import Event

__all__ = ["run"]


def run(
    team: Team | str | Path,
    task: Task | str | Path,
    *,
    model: Iterable[str] = (),
    unsafe_local: bool = False,
    seed: int | None = None,
    budget: str = "",
    cache: str | Path | None = None,
    pool: str | Path | None = None,
    embedder: str | None = None,
    runs: str | Path | None = None,
    listener: Callable[[Event], None] | None = None,
) -> Run:
    """Load, compile and execute a team on a task, and wait for the result.

    Args:
        team: A team, or the path of a team file.
        task: A task, or the path of a task file.
        model: Choices as `--model` takes them: `ALIAS=PROVIDER/NAME`, or a model for `default`.
        unsafe_local: Run code that agents write without a jail.
        seed: Makes sampling repeatable where the endpoint allows it.
        budget: What it may cost, as `--budget` takes it: `usd=2,tokens=500000`.
        cache: A folder of answers that runs share.
        pool: The folder of the pool that agents with `recall` are reminded from.
        embedder: What finds similar tasks there; see `mas-run --embedder`.
        runs: Where the run's folder is made, which `mas-run --resume` goes on with. None: nowhere.
        listener: Told everything that happens.

    Raises:
        InputError: A file does not load, or something that the run needs is missing.
        StorageError: The run's folder can no longer be written.
    """
    catalogue = Catalogue.of_host(models=resolve_models(model), servers=resolve_servers())
    loaded = load_team(team, catalogue) if not isinstance(team, Team) else team
    asked = load_task(task, catalogue) if not isinstance(task, Task) else task
    plan = compile(loaded, catalogue)
    setting = Setting(
        seed=seed,
        budget=Caps.parse(budget) if budget else Caps(),
        cache=Path(cache) if cache else None,
        pool=Path(pool) if pool else None,
        embedder=embedder,
        unsafe_local=unsafe_local,
    )
    listeners = (listener,) if listener else ()

    async def until_done() -> Run:
        async with open_services(catalogue, setting) as services:
            place = "given as a value" if isinstance(task, Task) else f"{task}:1"
            refuse_met(plan, asked, services.recaller, place)
            await services.prepare(plan)
            spending = Budget(setting.budget)
            if runs is None:
                trace = Trace(*listeners)
                return await services.execute(plan, asked, trace=trace, budget=spending)
            scrub = services.scrubber(os.environ)
            with Record.begin(Path(runs), plan, asked, setting, scrub=scrub) as record:
                done = await services.execute(
                    plan,
                    asked,
                    journal=record.journal,
                    scrubber=scrub,
                    trace=Trace(record.folder, *listeners),
                    budget=spending,
                )
                record.finish(done)
            return done

    return asyncio.run(until_done())
