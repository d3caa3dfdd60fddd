"""What all tests of servers begin with: a folder of their own, and a model of two agents."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from coterie.runtime.doubles import ScriptedModel


@pytest.fixture(autouse=True)
def home(here: Path) -> Path:
    return here


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel({"[judge]": "It is 7.", "[worker]": "maybe 7"}) as scripted:
        yield scripted
