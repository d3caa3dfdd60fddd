"""P1: killed or without power at any moment, nothing is corrupt and nothing committed is lost.

There are at least 800 points at which a process is killed, of which some 440 are at failpoints and
the rest at system calls, and at least 3500 images of what a disk may hold without power. A tenth of
them is tried on every change.
"""

import random
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from coterie.schema.values.errors import CoterieError

from ..conftest import Draw
from .crash_images import Files
from .interruption import ALONE, Ended, Interrupter, files_of, in_memory, interrupting, needs_strace
from .programs.workloads import WORKLOADS

KILLED = -9
TRIED = ("ledger",)
"""Workloads whose missing flushes are looked for on every change."""


@pytest.fixture(scope="module")
def interrupter() -> Iterator[Interrupter]:
    with interrupting() as interrupter:
        yield interrupter


def test_killed_at_any_failpoint_and_again_while_it_goes_on(
    interrupter: Interrupter, nightly: bool, drawn: Draw
) -> None:
    """For each, points are drawn at which it is killed again: one, or sixteen at nightly size."""
    chance = random.Random(1)
    known, killed, killed_again = 0, 0, 0
    for workload in ALONE:
        counted = interrupter.failpoints(workload).items()
        points = [f"{name}:{n}:kill" for name, times in counted for n in range(1, times + 1)]
        known += len(points)
        for point in (tried := drawn(points)):
            for then in chance.sample(points, 16 if nightly else 1):
                first = interrupter.run(workload, failpoint=point)
                assert first.status == KILLED, first
                second = interrupter.run(workload, over=first, failpoint=then)
                assert second.status in {0, KILLED}, second
                killed_again += second.status == KILLED
                second.check()
        killed += len(tried)
    assert known >= 400
    assert killed_again >= killed // 3


@needs_strace
@pytest.mark.parametrize(("workload", "least"), [("files", 100), ("ledger", 150), ("journal", 70)])
def test_killed_at_any_system_call(
    interrupter: Interrupter, workload: str, least: int, drawn: Draw
) -> None:
    calls = interrupter.calls(workload)
    points = [(call, number) for call in calls for number in range(1, calls[call] + 1)]
    killed, tried = 0, drawn(points)
    for call, number in tried:
        inject = f"inject={call}:signal=KILL:when={number}"
        ended = interrupter.run(
            workload, strace=["-o", "/dev/null", "-e", f"trace={call}", "-e", inject]
        )
        assert ended.status in {0, KILLED}, ended
        killed += ended.status == KILLED
        ended.check()
    assert len(points) >= least
    assert killed >= len(tried) * least // len(points) - 1


@needs_strace
@pytest.mark.parametrize(
    ("workload", "least"),
    [("files", 100), ("ledger", 150), ("handover", 150), ("journal", 2000), ("outputs", 500)],
)
def test_without_power_at_any_moment(
    interrupter: Interrupter, workload: str, least: int, nightly: bool, drawn: Draw
) -> None:
    """At nightly size, all subsets of up to ten changes that are not flushed are lost in turn."""
    recording, ended = interrupter.record(workload)
    assert recording.final() == files_of(ended.folder)
    images = recording.images(most_subsets=10 if nightly else 4)
    assert len(images) >= least
    look_at(drawn(list(images.items())), ended)


@needs_strace
@pytest.mark.parametrize(
    ("workload", "flushes"),
    [
        pytest.param(workload, flushes, marks=[] if workload in TRIED else [pytest.mark.nightly])
        for workload in WORKLOADS
        for flushes in ("files", "folders")
    ],
)
def test_a_missing_flush_would_show(interrupter: Interrupter, workload: str, flushes: str) -> None:
    recording, ended = interrupter.record(workload)
    careless = recording.careless(folders=flushes == "folders")
    with pytest.raises((AssertionError, OSError, CoterieError)):
        look_at(careless.images(most_subsets=4).items(), ended)


def look_at(images: Iterable[tuple[Files, Iterable[str]]], ended: Ended) -> None:
    """Let a workload check images of a disk, each with what was committed by then."""
    for image, committed in images:
        with in_memory() as folder:
            for inner in filter(Path.is_dir, ended.folder.rglob("*")):
                (folder / inner.relative_to(ended.folder)).mkdir()
            for name, content in image:
                (folder / name).write_bytes(content)
            WORKLOADS[ended.workload].check(folder, list(committed))
