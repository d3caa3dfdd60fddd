"""Jails to test in, where this machine has any."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from coterie.runtime.jail import Jail, PythonWorker
from coterie.runtime.jail.detect import detect


@pytest.fixture
def jail(tmp_path: Path) -> Iterator[Jail]:
    """A jail whose work folder is `tmp_path`."""
    report = detect()
    if report.tier is None:
        pytest.skip(str(report))
    with Jail(tmp_path, tier=report.tier) as opened:
        yield opened


@pytest.fixture
def worker(jail: Jail) -> Iterator[PythonWorker]:
    """An interpreter in a jail, without tools."""
    with contextlib.closing(PythonWorker(jail)) as result:
        yield result
