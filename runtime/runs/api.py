"""Running a team from Python: in one call, awaited, or event by event."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack
from weakref import WeakKeyDictionary

from ...schema.host.catalogue import Catalogue
from ...schema.host.host_tools import HostTools
from ...schema.host.python_tool import python_tool
from ...schema.loading.host import resolve_models, resolve_tools
from ...schema.loading.loading import check_team, load_task, load_team, team_path
from ...schema.team.task import Task
from ...schema.team.team import Team
from ...schema.team.writing import dump
from ...schema.values.errors import ConfigError, InputError
from ..messages.attached import refuse_unread
from ..messages.recall import refuse_met
from ..plan.plan import compile
from ..record.trace import Trace
from ..tools.terminal_approver import terminal_approver
from ..values.budget import Budget, Caps
from .record import RunRecord
from .services import Setting, open_services

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable

    from ..agents.outcomes import Run
    from ..gateway.gateway import Traffic
    from ..plan.plan import Plan
    from ..record.trace import Event
    from .services import Services

__all__ = ["Options", "Streaming", "arun", "run", "stream"]

_traffic: WeakKeyDictionary[asyncio.AbstractEventLoop, Traffic] = WeakKeyDictionary()
"""What the runs of an event loop share: a model's bound on calls in flight, the pauses that its
endpoint asks for, and whether it is out, are those of the host and not of one run."""


class Options(TypedDict, total=False):
    """How `run`, `arun` and `stream` run a team. Each may be left out.

    Attributes:
        query: A question, in place of a task.
        model: What models stand for their aliases, as `--model` takes it: one text, or several,
            `ALIAS=PROVIDER/NAME` or a model for `default`; or a mapping by the aliases.
        tools: Python functions that the team's agents may be granted by their names. Their type
            hints and docstrings say what a model has to know.
        approve: Tools that are called without asking where tools.yaml says to ask.
        unsafe_local: Run code that agents write without a jail.
        seed: Makes sampling repeatable where the endpoint allows it.
        budget: What it may cost, as `--budget` takes it: `usd=2,tokens=500000`.
        cache: A folder of answers that runs share.
        pool: The folder of the pool that agents with `recall` are reminded from.
        embedder: What finds similar tasks there; see `mas-run --embedder`.
        runs: Where the run's folder is made, which `mas-run --resume` goes on with. None: nowhere.
        listener: Told everything that happens.
    """

    query: str | None
    model: str | Iterable[str] | Mapping[str, str]
    tools: Iterable[Callable[..., Any]]
    approve: Iterable[str]
    unsafe_local: bool
    seed: int | None
    budget: str
    cache: str | Path | None
    pool: str | Path | None
    embedder: str | None
    runs: str | Path | None
    listener: Callable[[Event], None] | None


def run(
    team: Team | str | Path, task: Task | str | Path | None = None, **options: Unpack[Options]
) -> Run:
    """Load, compile and execute a team on a task, and wait for the result.

    Where an event loop runs already, as in a notebook, a thread does it in a loop of its own.

    Args:
        team: A team, the path of a team file, or `seed:NAME`.
        task: A task, or the path of a task file. None: `query` is asked.
        **options: How; see `Options`.

    Raises:
        InputError: A file does not load, or something that the run needs is missing.
        StorageError: The run's folder can no longer be written.
    """
    work = arun(team, task, **options)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    return _in_a_thread(work)


async def arun(
    team: Team | str | Path, task: Task | str | Path | None = None, **options: Unpack[Options]
) -> Run:
    """Do what `run` does, in the event loop of the caller.

    Args:
        team: A team, the path of a team file, or `seed:NAME`.
        task: A task, or the path of a task file. None: `query` is asked.
        **options: How; see `Options`.

    Raises:
        InputError: A file does not load, or something that the run needs is missing.
        StorageError: The run's folder can no longer be written.
        asyncio.CancelledError: The caller cancelled; everything has stopped.
    """
    known = _known(options)
    loaded, known = _team(team, known)
    asked, place = _task(task, options.get("query"), known)
    plan = compile(loaded, known)
    setting = _setting(options)
    traffic = _traffic.setdefault(asyncio.get_running_loop(), {})
    approver = terminal_approver()
    async with open_services(known, setting, approver=approver, traffic=traffic) as services:
        refuse_unread([plan], asked, place)
        refuse_met(plan, asked, services.recaller, place)
        await services.prepare(plan)
        return await _made(plan, asked, services, options)


def stream(
    team: Team | str | Path, task: Task | str | Path | None = None, **options: Unpack[Options]
) -> Streaming:
    """Run a team and give its events while they happen, in an `async for` loop.

    Args:
        team: A team, the path of a team file, or `seed:NAME`.
        task: A task, or the path of a task file. None: `query` is asked.
        **options: How; see `Options`.
    """
    return Streaming(team, task, options)


class Streaming:
    """The events of a run. The run begins with the loop over them, and ends with it.

    The loop raises what `arun` would. Whoever leaves it early cancels the run.

    Attributes:
        result: What came of the run; None until its events have ended.
    """

    def __init__(
        self, team: Team | str | Path, task: Task | str | Path | None, options: Options
    ) -> None:
        self._asked = (team, task)
        self._options = options
        self.result: Run | None = None

    async def __aiter__(self) -> AsyncGenerator[Event]:
        happened: asyncio.Queue[Event | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        also = self._options.get("listener")

        def listen(event: Event) -> None:
            loop.call_soon_threadsafe(happened.put_nowait, event)
            if also is not None:
                also(event)

        work = asyncio.create_task(arun(*self._asked, **{**self._options, "listener": listen}))
        work.add_done_callback(lambda _: happened.put_nowait(None))
        try:
            while (event := await happened.get()) is not None:
                yield event
            self.result = await work
        finally:
            work.cancel()
            await asyncio.wait({work})


def _in_a_thread(work: Coroutine[Any, Any, Run]) -> Run:
    """Do work in another thread's event loop, and wait; what interrupts the wait cancels it."""
    begun: Future[Callable[[], object]] = Future()

    async def cancellable() -> Run:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        begun.set_result(lambda: task and loop.call_soon_threadsafe(task.cancel))
        return await work

    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="coterie") as thread:
        done = thread.submit(copy_context().run, asyncio.run, cancellable())
        try:
            return done.result()
        finally:
            if not done.done():
                begun.result()()


def _known(options: Options) -> Catalogue:
    """Collect what this host offers, and the caller."""
    chosen = options.get("model", ())
    if isinstance(chosen, str):
        chosen = (chosen,)
    elif isinstance(chosen, Mapping):
        chosen = [f"{alias}={model}" for alias, model in chosen.items()]
    known = Catalogue.of_host(models=resolve_models(chosen), host_tools=resolve_tools())
    described = [python_tool(one) for one in options.get("tools", ())]
    python = {tool.name: tool for tool in described}
    if len(python) < len(described):
        raise InputError(
            f"tools: two functions have one name: {[tool.name for tool in described]}."
        )
    return known.having(HostTools(python=python)).approving(options.get("approve", ()))


def _team(team: Team | str | Path, known: Catalogue) -> tuple[Team, Catalogue]:
    """Load a team, or check one that was built; give also what may be named beside it."""
    if isinstance(team, Team):
        _, problems = check_team(dump(team).encode(), f"team {team.name!r}", known)
        if problems:
            raise ConfigError(problems)
        return team, known
    path = team_path(team)
    return load_team(path, known), known.beside(path.parent)


def _task(task: Task | str | Path | None, query: str | None, known: Catalogue) -> tuple[Task, str]:
    """Load a task, or make one of a question; give also where it stands."""
    if (task is None) == (query is None):
        raise InputError("give a task, or a question as query=…; one of them.")
    if query is not None:
        return Task(id="query", query=query), "query"
    if isinstance(task, Task):
        return task, "given as a value"
    if not Path(str(task)).is_file():
        raise InputError(f"no task file {str(task)!r}. To ask a question, write query=….")
    return load_task(str(task), known), f"{task}:1"


def _setting(options: Options) -> Setting:
    budget, cache, pool = options.get("budget"), options.get("cache"), options.get("pool")
    return Setting(
        seed=options.get("seed"),
        budget=Caps.parse(budget) if budget else Caps(),
        cache=Path(cache) if cache else None,
        pool=Path(pool) if pool else None,
        embedder=options.get("embedder"),
        unsafe_local=options.get("unsafe_local", False),
    )


async def _made(plan: Plan, task: Task, services: Services, options: Options) -> Run:
    """Make the run, in a folder where one is wanted."""
    spending = Budget(services.setting.budget)
    listener, runs = options.get("listener"), options.get("runs")
    listeners = (listener,) if listener else ()
    if runs is None:
        return await services.execute(plan, task, trace=Trace(*listeners), budget=spending)
    scrub = services.scrubber(os.environ)
    async with RunRecord.begin(Path(runs), plan, task, services.setting, scrub=scrub) as record:
        done = await services.execute(
            plan,
            task,
            journal=record.journal,
            scrubber=scrub,
            trace=Trace(record.folder, *listeners),
            budget=spending,
        )
        record.finish(done)
    return replace(done, folder=record.folder.path)
