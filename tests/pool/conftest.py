"""A pool with one team."""

from pathlib import Path

import pytest

from coterie.pool import Pool

from .edited_teams import pool_of, vote


@pytest.fixture
def pool(tmp_path: Path) -> Pool:
    return pool_of(tmp_path / "pool", vote())
