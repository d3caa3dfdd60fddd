"""What tests of loading have in common."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from coterie.schema.host.catalogue import installed

STUDIES = str(Path(__file__).parents[3] / "studies")


@pytest.fixture(autouse=True)
def without_studies(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Know the scorers of users alone: tests of studies make more known to their process."""
    others = [folder for folder in sys.path if not folder.startswith(STUDIES)]
    if len(others) == len(sys.path):
        yield
        return
    monkeypatch.setattr(sys, "path", others)
    installed.cache_clear()
    yield
    installed.cache_clear()
