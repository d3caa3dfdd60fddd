"""Garbage is searched for less often while a command works, and as before afterwards."""

import gc
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime import Calls, Context, Gateway, Setting, Toolbox, Trace, compile, perform
from coterie.runtime.command.signals import collecting_seldom, to_the_end
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.jail import Jails
from coterie.runtime.runs.record import RunRecord
from coterie.runtime.scrubbing.scrubber import Scrubber
from coterie.schema import Catalogue, Model

from ..conftest import TASK, llm, team

USUAL = (700, 10, 10)


@pytest.fixture(autouse=True)
def as_python_does() -> Generator[None]:
    """Begin with the thresholds that Python has by itself; other tests have others."""
    before = gc.get_threshold()
    gc.set_threshold(*USUAL)
    yield
    gc.set_threshold(*before)


def searches() -> Counter[int]:
    """Keep many new objects; count the searches of each generation meanwhile."""
    counts: Counter[int] = Counter()

    def note(phase: str, fields: dict[str, Any]) -> None:
        counts[fields["generation"]] += phase == "start"

    gc.collect()
    gc.callbacks.append(note)
    try:
        kept = [[number] for number in range(150_000)]
    finally:
        gc.callbacks.remove(note)
    assert len(kept) == 150_000
    return counts


def test_what_is_kept_is_seldom_searched() -> None:
    usually = searches()
    with collecting_seldom():
        seldom = searches()
    assert seldom.total() * 10 < usually.total()
    assert seldom[0] > 0  # it is not turned off
    assert gc.get_threshold() == USUAL


def test_a_command_collects_seldom_until_its_work_is_done() -> None:
    during: list[tuple[int, ...]] = []

    async def work(*, fails: bool) -> int:
        during.append(gc.get_threshold())
        if fails:
            raise ValueError("it failed")
        return 3

    assert to_the_end(work(fails=False), str) == 3
    assert gc.get_threshold() == USUAL
    with pytest.raises(ValueError, match="it failed"):
        to_the_end(work(fails=True), str)
    assert gc.get_threshold() == USUAL
    assert during[0] == during[1] > USUAL


async def test_a_run_leaves_nothing_for_it(tmp_path: Path) -> None:
    agents = [llm(name) for name in ("one", "two", "judge")]
    edges = {"one": ("judge",), "two": ("judge",)}

    async def once(gateway: Gateway) -> None:
        context: dict[str, Any] = {"jails": Jails(), "toolbox": Toolbox()}
        plan = compile(team(*agents, edges=edges), Catalogue.of_host(models=gateway.models))
        async with RunRecord.begin(tmp_path, plan, TASK, Setting(), scrub=Scrubber()) as record:
            calls = Calls(gateway=gateway, journal=record.journal)
            trace = Trace(record.folder)
            run = await perform(plan, TASK, Context(calls=calls, trace=trace, **context))
            record.finish(run)
        assert run.status == "done"

    gc.disable()
    try:
        again = [Reply.error(429), Reply(text="yes")]  # once per run
        with ScriptedModel({"[judge]": again * 2, "": "yes"}) as model:
            models = {"default": Model(alias="default", model="m", api_base=model.api_base)}
            async with Gateway(models) as gateway:
                await once(gateway)  # and what is made once
                gc.collect()
                gc.set_debug(gc.DEBUG_SAVEALL)
                await once(gateway)
                gc.collect()
                values = [*gc.garbage]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert [value for value in values if type(value).__module__.startswith("coterie.")] == []
