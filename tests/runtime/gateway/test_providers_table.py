"""docs/research/what-works.md says what the command prints, and no cell of it is wrong."""

import asyncio
from pathlib import Path

import pytest

from coterie.runtime.jail.detect import detect
from studies.doubles import PROVIDERS
from studies.providers.agents import backends_judged
from studies.providers.cells import CELLS
from studies.providers.table import judged, markdown, sources, wrong

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "research" / "what-works.md").read_text(encoding="utf-8")

needs_jail = pytest.mark.skipif(detect().tier is None, reason="this machine has no jail for code")


def test_nothing_is_wrong_and_the_page_has_the_table() -> None:
    table = asyncio.run(judged(PROVIDERS))
    assert [*wrong(table)] == []
    assert markdown(table) in PAGE


def test_the_page_says_what_is_tried_and_where_the_forms_are_from() -> None:
    for name, cell in CELLS.items():
        assert f"| {name} | {cell.__doc__} |" in PAGE
    assert sources(PROVIDERS) in PAGE


@pytest.mark.nightly
def test_whole_answers_come_out_the_same() -> None:
    table = asyncio.run(judged(PROVIDERS, stream=False))
    assert [*wrong(table)] == []
    assert markdown(table) in PAGE


@needs_jail
@pytest.mark.nightly
def test_whole_agents_work_with_everybody() -> None:
    table = asyncio.run(backends_judged(PROVIDERS))
    assert [*wrong(table)] == []
    assert markdown(table) in PAGE
