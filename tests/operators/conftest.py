"""What a pool is to be after every test of an evolution: sound."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from coterie.pool.git.upkeep import verify
from coterie.pool.values.layout import LEDGER


@pytest.fixture(autouse=True)
def sound_pools(request: pytest.FixtureRequest) -> Iterator[None]:
    """Verify each pool that a test leaves in its folder; `damaged_pool` marks what breaks one."""
    wanted = "tmp_path" in request.fixturenames
    folder: Path | None = request.getfixturevalue("tmp_path") if wanted else None
    yield
    if folder is None or request.node.get_closest_marker("damaged_pool"):
        return
    for ledger in folder.rglob(LEDGER):
        assert verify(ledger.parent).faults == (), ledger


@pytest.fixture
def part(nightly: bool) -> int:
    """Of so many hostile answers one is tried: all of them nightly."""
    return 1 if nightly else 100
