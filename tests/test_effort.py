"""Effort does not depend on the machine: it sees what grows too fast, and nothing else."""

from __future__ import annotations

import gc
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from threading import Thread
from types import SimpleNamespace

import pytest

from . import effort
from .effort import ATTEMPTS, LINEAR, Clock, Cost, TooDear, growth, measured, reference, retried

SPIN = "while True: pass"


@pytest.fixture(
    params=[
        pytest.param(0, id="alone"),
        pytest.param(4, id="beside 4 busy processes", marks=pytest.mark.nightly),
    ]
)
def busy(request: pytest.FixtureRequest) -> Iterator[None]:
    """Have processes beside the test that never rest."""
    beside = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(request.param)]
    yield
    for process in beside:
        process.kill()
    for process in beside:
        process.wait()


def linear(size: int) -> Callable[[], object]:
    names = [f"name {number}" for number in range(size)]
    return lambda: "".join(names).count("9")


def quadratic(size: int) -> Callable[[], object]:
    names = [f"name {number}" for number in range(size)]
    return lambda: sum(left is right for left in names for right in names)


def steps(size: int) -> Callable[[], object]:
    """Linear, and too little to be measured once."""
    return lambda: sum(range(size))


@pytest.mark.parametrize(("power", "grows"), [(1, False), (2, True), (3, True)])
def test_work_that_grows_too_fast_is_seen(
    power: int, grows: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a clock of its own, on which three of four moments are busy and take up to nine times."""
    draws = random.Random(power)

    def seconds(_cpu: Clock, work: Callable[[], float], times: int) -> float:
        return work() * times * draws.choice([1, 3, 5, 9])

    monkeypatch.setattr(effort, "_seconds", seconds)
    monkeypatch.setattr(effort, "REPETITIONS", 40)
    assert (growth(lambda size: lambda: 1e-6 * size**power, 100) > LINEAR) == grows


@pytest.mark.nightly
@pytest.mark.usefixtures("busy")
@pytest.mark.parametrize("size", [100, 400])
def test_quadratic_work_is_seen(size: int) -> None:
    assert growth(quadratic, size) > LINEAR


@pytest.mark.usefixtures("busy")
@pytest.mark.parametrize(("prepare", "size"), [(linear, 10_000), (steps, 1_000), (steps, 100_000)])
def test_linear_work_is_linear(prepare: Callable[[int], Callable[[], object]], size: int) -> None:
    assert growth(prepare, size) <= LINEAR


@pytest.mark.parametrize("slowness", [1, 30])
def test_a_unit_is_a_run_of_the_reference_on_any_machine(
    slowness: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a clock of its own, which only work moves on."""
    now = 0.0

    def work() -> None:
        nonlocal now
        now += 0.005 * slowness

    ticks = SimpleNamespace(
        monotonic=lambda: now, process_time=lambda: now, thread_time=lambda: now
    )
    monkeypatch.setattr(effort, "time", ticks)
    monkeypatch.setattr(effort, "reference", work)
    monkeypatch.setattr(effort, "UNITS", [])
    effort._unit_in.cache_clear()
    with measured() as cost:
        for _ in range(3):
            work()
    effort._unit_in.cache_clear()
    assert cost.units == pytest.approx(3)


@pytest.mark.parametrize(("seconds", "runs"), [(1.0, 0), (1.1, 1), (3.0, 1), (3.1, 1)])
def test_the_reference_runs_again_only_for_what_seems_too_dear(
    seconds: float, runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a machine that once was three times as fast as it is at this moment."""
    moments: list[float] = []

    def unit() -> float:
        moments.append(0.3)
        return 0.3

    monkeypatch.setattr(effort, "unit", unit)
    monkeypatch.setattr(effort, "UNITS", [0.2, 0.1, 0.3])
    assert Cost(seconds).within(10) == (seconds <= 3)
    assert len(moments) == runs


@pytest.mark.nightly
@pytest.mark.usefixtures("busy")
@pytest.mark.parametrize("runs", [2, 40])
def test_work_costs_as_many_units_as_it_is_runs_of_the_reference(runs: int) -> None:
    with measured() as cost:
        for _ in range(runs):
            reference()
    assert runs / 4 < cost.units < runs * 4


def test_work_of_another_thread_is_work_too() -> None:
    with measured() as cost:
        thread = Thread(target=lambda: [reference() for _ in range(20)])
        thread.start()
        thread.join()
    assert cost.units > 10


def test_full_collections_are_nobodys_work() -> None:
    left = [[number] for number in range(500_000)]
    with measured() as cost:
        for _ in range(5):
            gc.collect()
    assert len(left) == 500_000
    assert cost.units < 20  # of about 75 that they take


@pytest.mark.parametrize("times", range(ATTEMPTS))
def test_work_that_is_too_dear_a_few_times_is_done_again(times: int) -> None:
    outcomes: Iterator[Exception | None] = iter([TooDear()] * times + [None])

    def work() -> str:
        if error := next(outcomes):
            raise error
        return "done"

    assert retried(work) == "done"


def test_work_that_is_always_too_dear_or_wrong_fails() -> None:
    attempts: list[type[Exception]] = []

    def work(error: type[Exception]) -> None:
        attempts.append(error)
        raise error

    with pytest.raises(TooDear):
        retried(lambda: work(TooDear))
    with pytest.raises(AssertionError):
        retried(lambda: work(AssertionError))
    assert attempts == [TooDear] * ATTEMPTS + [AssertionError]
