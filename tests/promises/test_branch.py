"""Runs of one journal that branch from another's: each is as if it had been made from nothing."""

import asyncio
import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.runtime import Ablation, Calls, Context, Journal, Run, Toolbox, compile, perform
from coterie.runtime.gateway import ChatAnswer, ChatRequest
from coterie.runtime.record.branch import Branch, Locks
from coterie.schema import Team

from .crashes import (
    KNOWN,
    TASK,
    UNUSED,
    SettlingProvider,
    cast_gateway,
    repeating_teams,
    run_folder,
    run_once,
    teams,
)
from .test_p02_resume import outcome


@dataclass
class Dying(SettlingProvider):
    """Answers for a while; then the process that asks dies."""

    dies_after: float = float("inf")

    async def chat(self, request: ChatRequest, *_: Any, **__: Any) -> ChatAnswer:
        if self.process is not None and self.calls >= self.dies_after:
            self.process.cancel()
            await asyncio.Event().wait()
        return await super().chat(request)

    process: asyncio.Task[Any] | None = None


def silenced(
    team: Team, silences: list[Ablation], provider: Dying, folder: Path, base_folder: Path
) -> list[tuple[Run, int, set[str]]]:
    """Make all runs at once; give each, its calls, and those that the base run had not paid."""

    async def made(
        journal: Branch, silent: Ablation, toolbox: Toolbox
    ) -> tuple[Run, int, set[str]]:
        calls = Calls(gateway=cast_gateway(provider), journal=journal, seed=1)
        context = Context(calls=calls, jails=UNUSED, toolbox=toolbox)
        run = await perform(plan, TASK, context, silent=silent)
        assert not journal.divergences
        return run, journal.needed.calls, {*journal.paid}

    async def together() -> list[tuple[Run, int, set[str]]]:
        provider.process = asyncio.current_task()
        async with Toolbox() as toolbox:
            locks = Locks()
            branches = [Branch.of(own, base, str(silence), locks=locks) for silence in silences]
            pairs = zip(branches, silences, strict=True)
            return await asyncio.gather(*(made(item, silent, toolbox) for item, silent in pairs))

    plan = compile(team, KNOWN)
    with Journal.open(folder) as own, Journal.open(base_folder, replaying=True) as base:
        return asyncio.run(together())


@st.composite
def coalitions(draw: st.DrawFn) -> tuple[Team, list[Ablation]]:
    team = draw(st.one_of(teams(), repeating_teams()))
    agents = st.frozensets(st.sampled_from([*team.agents]), max_size=3)
    turns = st.frozensets(st.tuples(st.sampled_from([*team.agents]), st.integers(1, 3)), max_size=2)
    silent = st.builds(lambda item, two: Ablation(agents=item, turns=two), agents, turns)
    return team, draw(st.lists(silent, min_size=1, max_size=4))


def test_a_branched_run_is_as_from_nothing_and_nothing_is_paid_twice(nightly: bool) -> None:
    examples, cases, saved = (600 if nightly else 8), 0, 0

    @settings(max_examples=examples)
    @given(drawn=coalitions(), dies_after=st.integers(0, 12))
    def check(drawn: tuple[Team, list[Ablation]], dies_after: int) -> None:
        nonlocal cases, saved
        team, silences = drawn
        with run_folder() as base_folder, run_folder() as folder, run_folder() as other:
            factual = SettlingProvider()
            run_once(team, factual, base_folder)
            dying = Dying(dies_after=dies_after)
            with contextlib.suppress(asyncio.CancelledError):
                silenced(team, silences, dying, folder, base_folder)
            resumed = Dying()
            rows = silenced(team, silences, resumed, folder, base_folder)
            whole = Dying()
            again = silenced(team, silences, whole, other, base_folder)
            fresh = [_fresh(team, silent) for silent in silences]
        for (run, *report), (twin, *told_too), (alone, calls) in zip(
            rows, again, fresh, strict=True
        ):
            assert outcome(run, team) == outcome(alone, team) == outcome(twin, team)
            if run.status == "done":
                assert (report, report[0]) == (told_too, calls)
        if all(run.status == "done" for run, *_ in rows):
            paid = set[str]().union(*(asked for *_, asked in rows))
            assert dying.calls + resumed.calls == whole.calls == len(paid)
            saved += sum(needed for _, needed, _ in rows) - len(paid)
        assert not (dying.asked | resumed.asked) & factual.asked
        cases += 1

    check()
    assert cases >= examples
    assert saved > (cases if nightly else 0)  # how much depends on the teams that are drawn


def _fresh(team: Team, silent: Ablation) -> tuple[Run, int]:
    with run_folder() as folder:
        provider = SettlingProvider()
        run, _ = run_once(team, provider, folder, silent=silent)
    assert run is not None
    return run, provider.calls
