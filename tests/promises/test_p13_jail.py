"""P13: code that a model wrote gets nothing of the host, is bounded, and always ends."""

import asyncio
import contextlib
import json
import secrets
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.runtime.command.run import main as mas_run
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.jail import (
    CellResult,
    Jail,
    JailKilled,
    JailLimits,
    JailRequest,
    Jails,
    PythonWorker,
    Shell,
)
from coterie.runtime.jail.battery import ProbeResult, Scene, run_battery
from coterie.runtime.jail.detect import detect, try_tier
from coterie.runtime.jail.probes import PROBES
from coterie.runtime.jail.probes.files import FILES
from coterie.runtime.jail.probes.network import NETWORK
from coterie.runtime.jail.probes.processes import PROCESSES
from coterie.runtime.jail.tiers import Tier, Unconfined
from coterie.runtime.runners.bridge import Bridge, in_thread
from coterie.schema import InputError, JailError

from ..conftest import Draw
from ..jails import TIERS, USERS, holding, printed, require
from ..support.commands import ran
from ..waiting import wait_for

LEAST_ATTACKS = 40
ATTACKS = """
import dataclasses, json
from coterie.runtime.jail.battery import run_battery
from coterie.runtime.jail.probes import PROBES
from coterie.runtime.jail.probes.files import FILES
from coterie.runtime.jail.probes.network import NETWORK
from coterie.runtime.jail.probes.processes import PROCESSES
chosen = [probe for probe in PROBES if probe.name in sys.argv[2].split(",")]
print(json.dumps([dataclasses.asdict(result) for result in run_battery(tier, probes=chosen)]))
"""
# The filter of system calls, the line to the host and the watch do not ask who the user is.
DEPENDS_ON_USER = {probe.name for probe in (*FILES, *PROCESSES, *NETWORK)} | {
    "fork_bomb",
    "thread_bomb",
    "take_memory_together",
}


def attacked(tier: Tier, user: str, names: list[str]) -> list[ProbeResult]:
    """What came of attacks on a user's jail."""
    if user == USERS[0]:
        return run_battery(tier, probes=[probe for probe in PROBES if probe.name in names])
    results = json.loads(printed(user, ATTACKS, tier, ",".join(names)))
    return [ProbeResult(**result) for result in results]


def jails() -> Iterator[Any]:
    """Yield every kind of jail to every user; on every change, an ordinary user has the first."""
    for tier in TIERS:
        for user in USERS:
            by_night = user != USERS[0] and tier is not TIERS[0]
            marks = [pytest.mark.nightly] if by_night else []
            yield pytest.param(tier, user, marks=marks, id=f"{tier.name}-{user}")


@pytest.mark.parametrize(("tier", "user"), [*jails()])
def test_p13_every_attack_is_stopped(tier: Tier, user: str, nightly: bool, drawn: Draw) -> None:
    """On every change the first jail of this user has to stop all attacks, the others some."""
    require(tier, user)
    names = [probe.name for probe in PROBES]
    assert len(names) >= LEAST_ATTACKS
    if user != USERS[0] and not nightly:
        names = [name for name in names if name in DEPENDS_ON_USER][::3]
    if tier is not TIERS[0]:
        names = drawn(names)
    results = attacked(tier, user, names)
    assert [result.name for result in results] == names
    assert [result for result in results if not result.stopped] == []


def test_p13_a_jail_that_lets_code_out_is_not_taken_for_one() -> None:
    failure = try_tier(Unconfined()).failure or ""
    assert "read is possible" in failure
    assert "connect is possible" in failure


@pytest.fixture
def no_jail(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """A machine on which no program can confine another."""

    def missing() -> str:
        raise JailError("there is no program named bwrap on the PATH")

    monkeypatch.setattr("coterie.runtime.jail.tiers._bubblewrap", missing)
    monkeypatch.setattr("coterie.runtime.jail.tiers._script", lambda _name: ["/bin/false"])
    detect.cache_clear()
    assert detect().tier is None
    assert [attempt.tier for attempt in detect().attempts] == [tier.name for tier in TIERS]
    yield
    detect.cache_clear()


@pytest.mark.usefixtures("no_jail")
def test_p13_without_a_jail_nothing_runs(tmp_path: Path) -> None:
    for refusing, error in (
        (Jails().check, InputError),
        (lambda: Jails().open(tmp_path), JailError),
        (run_battery, JailError),
    ):
        with pytest.raises(error, match="There is no jail for agents' code on this machine"):
            refusing()


@pytest.mark.usefixtures("no_jail")
@pytest.mark.parametrize("kind", ["CodeAgent", "DefaultAgent"])
def test_p13_without_a_jail_a_run_of_coders_is_refused_before_it_costs(
    here: Path, kind: str
) -> None:
    canary = here / "canary"
    Path("team.yaml").write_text(f"name: t\nagents: {{coder: {{agent_type: {kind}}}}}\n")
    with ScriptedModel([Reply.code(f"open({str(canary)!r}, 'w')")]) as model:
        chosen = ["--model", f"m@{model.api_base}"]
        done = ran(mas_run, "team.yaml", "-q", "Go.", *chosen)
        assert not model.calls
    assert done.exit_code == 2, done.output
    assert "There is no jail for agents' code on this machine" in done.stderr
    assert not canary.exists()


@pytest.mark.parametrize("tier", TIERS, ids=lambda tier: tier.name)
async def test_p13_a_cancelled_run_leaves_nothing(tmp_path: Path, tier: Tier) -> None:
    require(tier)
    mark = f"{10**9 + secrets.randbelow(10**9)}.75"
    code = f"""
import os, signal, subprocess
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.execvp("sleep", ["sleep", {mark!r}])
    os._exit(0)
subprocess.run(["sleep", {mark!r}])
"""

    def work(bridge: Bridge) -> None:
        with Jail(tmp_path, tier=tier) as jail:
            bridge.on_stop(jail.kill)
            PythonWorker(jail).execute(code, timeout=600)

    running = asyncio.create_task(in_thread(work, name="agent"))
    await asyncio.to_thread(wait_for, lambda: len(holding(mark)) == 2, "it did not start")
    running.cancel()
    with pytest.raises((asyncio.CancelledError, JailKilled)):
        await running
    assert holding(mark) == []


@pytest.mark.parametrize("tier", TIERS, ids=lambda tier: tier.name)
def test_p13_processor_time_is_bounded(tmp_path: Path, tier: Tier) -> None:
    require(tier)
    with Jail(tmp_path, JailRequest(limits=JailLimits(cpu=1)), tier=tier) as jail:
        done = Shell(jail).run("while :; do :; done", timeout=600)
        assert (done.returncode, done.timed_out) == (137, False)


FRAGMENTS = (
    "import os, sys, socket, ctypes, signal, threading, gc, json",
    "open(secret, 'w').write('mine')",
    "os.kill(victim, 9)",
    "os.kill(-1, 9)",
    "os.fork()",
    "os.execv('/bin/sh', ['sh', '-c', 'rm -rf ' + outside + ' /tmp/*'])",
    'os.write(3, b\'{"op": "done", "value": \' + b\'[\' * 99)',
    "os.closerange(0, 99)",
    "os.dup2(3, 1)",
    "while True: pass",
    "while True: print('x' * 10**6)",
    "final_answer(secret)",
    "sys.stdout = sys.stderr = None",
    "sys.setrecursionlimit(10**9)",
    "f = lambda x: max([x], key=f)",
    "f(1)",
    "x = [x]",
    "x = 10 ** 4000",
    "x",
    "tool(x, y=x)",
    "json.loads = json.dumps = None",
    "vars(__import__('builtins')).clear()",
    "threading.Thread(target=tool, args=(1,)).start()",
    "signal.alarm(1)",
    "gc.freeze(); gc.collect()",
    "ctypes.string_at(0)",
    "raise SystemExit",
    "yield",
    "def f(",
)
SECONDS = 0.5
CELLS = st.one_of(
    st.lists(st.sampled_from(FRAGMENTS), max_size=6).map("\n".join),
    st.text(max_size=80),
    st.binary(max_size=40).map(lambda code: f"exec({code!r})"),
)


@contextlib.contextmanager
def attackable(tier: Tier) -> Generator[tuple[Scene, PythonWorker]]:
    """A worker beside what it may harm."""
    limits = JailLimits(memory=256 << 20, resident=256 << 20, processes=48, disk=48 << 20)
    with Scene.open() as scene, Jail(scene.work, JailRequest(limits=limits), tier=tier) as jail:
        worker = PythonWorker(jail, on_tool=lambda *_: None, tools=["tool"])
        worker.send_variables(scene.variables() | {"x": 1})
        with contextlib.closing(worker):
            yield scene, worker


@pytest.mark.parametrize("tier", TIERS, ids=lambda tier: tier.name)
def test_p13_any_code_gives_a_result_or_an_error_and_harms_nothing(
    tier: Tier, nightly: bool
) -> None:
    require(tier)
    count, run = 2000 if nightly else 20, 0

    with attackable(tier) as (scene, worker):

        @settings(max_examples=count)
        @given(code=CELLS)
        def checks(code: str) -> None:
            nonlocal run
            run += 1
            check_cell(worker.execute(code, timeout=SECONDS))
            assert scene.harm() == ""

        checks()
    assert run >= count


def check_cell(done: CellResult) -> None:
    """What a cell came to can be written down, and is not too much."""
    written: Any = json.loads(json.dumps(vars_of(done), allow_nan=False))
    assert written == vars_of(done)
    assert len(done.logs.encode()) < JailLimits().output + 1000


def vars_of(done: CellResult) -> dict[str, Any]:
    return {name: getattr(done, name) for name in ("output", "logs", "is_final_answer", "error")}
