"""A newcomer in an empty folder, and the model that the page asks."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime.doubles import ScriptedModel

from ..support.newcomer import Newcomer

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/how.md").read_text(encoding="utf-8")
SECTIONS = dict(enumerate(re.split(r"^## \d+\. ", PAGE, flags=re.MULTILINE)))
"""The text of each section by its number."""

Play = Callable[[Any], ScriptedModel]
"""Have a script play the model that the page names, to the end of the test."""


@pytest.fixture
def newcomer(tmp_path: Path) -> Newcomer:
    return Newcomer(tmp_path)


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Iterator[Play]:
    name, key = re.findall(r"(\w+)=(\S+)", SECTIONS[0])[::-1]
    monkeypatch.setenv(*name)
    monkeypatch.setenv(*key)
    with ExitStack() as models:

        def played(replies: Any) -> ScriptedModel:
            model = models.enter_context(ScriptedModel(replies))
            monkeypatch.setenv("OPENAI_BASE_URL", model.api_base)
            return model

        yield played
