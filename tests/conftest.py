"""What all tests share: how much of a promise is tested, garbage, and who hears of Ctrl-C."""

import gc
import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

HOURS = 6
"""What a test of full size may take."""
FULL_SIZE = {"nightly", "shares"}
"""Fixtures of the tests that `--nightly` makes larger."""

# How long an example takes says nothing on a busy machine.
settings.register_profile(
    "shared",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
settings.load_profile("shared")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--nightly", action="store_true", help="Run the tests of promises at their full size."
    )


def pytest_configure() -> None:
    """Hear of Ctrl-C also in the background of a script, whose processes begin deaf to it.

    What tests start would be deaf too, and a test that interrupts it would wait for ever.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give tests of full size the time they need: a hang ends them too, only later."""
    if config.getoption("--nightly"):
        for item in items:
            if FULL_SIZE & {*getattr(item, "fixturenames", ())}:
                item.add_marker(pytest.mark.timeout(HOURS * 3600))


def pytest_collection_finish() -> None:
    """Collect garbage of what tests make, and seldom: all modules and tests live to the end."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def pytest_xdist_auto_num_workers() -> int:
    """Have a worker more than cores: a third of the tests' time is waiting for other processes."""
    return (os.cpu_count() or 1) + 1


@pytest.fixture(scope="session")
def nightly(request: pytest.FixtureRequest) -> bool:
    """Whether tests of promises run at their full size, which takes hours."""
    return bool(request.config.getoption("--nightly"))


@pytest.fixture(autouse=True)
def keep_interrupts() -> Iterator[None]:
    """Give Ctrl-C back to pytest after a command that a test, or its module, called here."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, signal.default_int_handler)
