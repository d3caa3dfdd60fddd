"""What tests of arenas of simulated worlds have in common."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from coterie.schema.host.catalogue import installed
from studies.arena.worlds import Arena

SIZES = {"evolve": 20, "test": 10}


@pytest.fixture
def own_path(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let plug-ins that a test registers be unknown to the others."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield
    installed.cache_clear()


def arena_of(
    folder: Path,
    *methods: str,
    cap: int,
    test_cap: int = 40,
    sizes: Mapping[str, int] = SIZES,
) -> Arena:
    """Return an arena of one seed in the world `gain`; caps are in calls."""
    return Arena(
        world="gain",
        folder=folder,
        seeds=1,
        methods=methods,
        sizes=sizes,
        caps={"cap": f"calls={cap}", "test_cap": f"calls={test_cap}"},
    )
