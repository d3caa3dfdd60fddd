"""What tests of arenas of simulated worlds have in common."""

import sys
from collections.abc import Iterator

import pytest

from coterie.schema.host.catalogue import installed


@pytest.fixture
def own_path(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let plug-ins that a test registers be unknown to the others."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield
    installed.cache_clear()
