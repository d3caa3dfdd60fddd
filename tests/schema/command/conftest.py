"""Commands as a user runs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from coterie.schema.command import main

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result


@pytest.fixture
def mas() -> Callable[..., Result]:
    """Run `mas` with these words."""

    def run(*words: object) -> Result:
        return CliRunner().invoke(main, [str(word) for word in words])

    return run
