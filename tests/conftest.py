"""What all tests share: which of them run, how many cases they try, garbage, and Ctrl-C."""

import asyncio
import gc
import inspect
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

T = TypeVar("T")
Draw = Callable[[Sequence[Any]], list[Any]]
"""Draws the cases that a test tries out of all that there are."""

ROOT = Path(__file__).parents[1]
STUDIES = Path(__file__).parent / "studies"
SHARE = 10
"""One case in so many is tried on every change; nightly, all are."""
NIGHT = 8 * 3600
"""Seconds that a test may take at nightly size, on a machine that does other things as well."""

# Tests use the environment that they run in, also where a shell has another one active.
os.environ.pop("VIRTUAL_ENV", None)

# How long an example takes says nothing on a busy machine, and none of them leaves anything in what
# a test's fixtures give.
PATIENT: dict[str, Any] = {
    "deadline": None,
    "database": None,
    "suppress_health_check": [
        HealthCheck.too_slow,
        HealthCheck.filter_too_much,
        HealthCheck.data_too_large,
        HealthCheck.function_scoped_fixture,
    ],
}
settings.register_profile("push", derandomize=True, max_examples=20, **PATIENT)
settings.register_profile("nightly", max_examples=300, **PATIENT)
settings.load_profile("push")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--nightly",
        action="store_true",
        help="Try all cases, hours of them, at random where chance decides; studies too.",
    )


# All that collection makes lives to the end: looking for garbage in it took a third of its time.
gc.disable()


def pytest_configure(config: pytest.Config) -> None:
    """Choose the size of the run, and hear of Ctrl-C also in the background of a script.

    The processes of such a script begin deaf to it, and a test that interrupts one would wait for
    ever.
    """
    if config.getoption("--nightly"):
        settings.load_profile("nightly")
    else:
        os.fsync = without_a_disk
        # Examples would depend on which modules earlier tests have imported, and each process
        # would parse them all for constants to draw.
        providers._get_local_constants = lambda: providers._local_constants
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def without_a_disk(file: Any) -> None:
    """Take the place of `os.fsync` in pytest's own processes, on every change.

    What the kernel has survives whatever these tests kill: only a loss of power loses it, and tests
    of that watch the calls of processes of their own (promises/crash_images.py). Thousands of waits
    for the disk would show nothing.
    """
    os.fstat(file)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave studies out, unless the run is nightly or `-m` or a path asks for them."""
    if collection_path != STUDIES or config.getoption("--nightly"):
        return None
    named = any(
        STUDIES in (path := ROOT / arg.partition("::")[0]).parents or path == STUDIES
        for arg in config.args
    )
    return None if named or "studies" in str(config.getoption("-m")) else True


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what belongs to studies, and leave out what is only for the night, which has hours."""
    is_nightly = config.getoption("--nightly")
    for item in items:
        if is_nightly and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(NIGHT))
        if item.nodeid.startswith("tests/studies/"):
            item.add_marker("studies")
    if not is_nightly:
        left_out = [item for item in items if item.get_closest_marker("nightly")]
        items[:] = [item for item in items if not item.get_closest_marker("nightly")]
        config.hook.pytest_deselected(items=left_out)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is `async` in an event loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


def pytest_collection_finish() -> None:
    """Collect garbage of what tests make, and seldom: all modules and tests live to the end."""
    gc.enable()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, exitstatus: int, config: pytest.Config
) -> None:
    """Say how to have the same order again where something failed."""
    if exitstatus and (seed := config.getoption("randomly_seed", None)):
        terminalreporter.write_line(f"The same order again: --randomly-seed={seed}")


def pytest_xdist_auto_num_workers() -> int:
    """Have two workers more than cores: a third of the time of tests is waiting."""
    return (os.cpu_count() or 1) + 2


@pytest.fixture(scope="session")
def nightly(request: pytest.FixtureRequest) -> bool:
    """Whether tests of promises run at their full size, which takes hours."""
    return bool(request.config.getoption("--nightly"))


@pytest.fixture(scope="session")
def drawn(nightly: bool) -> Draw:
    """Draw a tenth of the cases, the same each time and in their order; nightly, all of them."""

    def draw(cases: Sequence[T]) -> list[T]:
        if nightly:
            return list(cases)
        chosen = Random(len(cases)).sample(range(len(cases)), -(-len(cases) // SHARE))
        return [cases[number] for number in sorted(chosen)]

    return draw


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in the test's own folder, which is also the home of what a user has."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MAS_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture(autouse=True)
def forget_endpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test know of an endpoint that another one found out at the same port."""
    if api := sys.modules.get("coterie.runtime.runs.api"):
        monkeypatch.setattr(api, "_limiters", {})


@pytest.fixture(autouse=True)
def keep_interrupts() -> Iterator[None]:
    """Yield Ctrl-C back to pytest after a command that a test, or its module, called here."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, signal.default_int_handler)
