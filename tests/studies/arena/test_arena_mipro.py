"""MIPROv2 in an arena: it gains under the cap of a cell, and drops invalid answers of operators."""

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from coterie.schema.host.catalogue import Catalogue, installed
from coterie.schema.loading.loading import parse_team
from studies.arena import mipro
from studies.arena.mipro import Optimizer
from studies.arena.worlds import Arena
from studies.controls import world
from studies.controls.world import CONVENTION

from .conftest import arena_of

METHOD = "miprov2"
METHODS = ("team as it is", METHOD)
CAP = 150
QUESTIONS = 3 + 3 * 3
"""Three about the data, and for each of three instructions two before it."""
TEAM = """\
name: pair
agents:
  reader: {prompt: "Read it.\\n  Twice."}
  coder: {prompt: Say the code.}
topology: {reports_to: {coder: [reader]}}
"""


@pytest.fixture(scope="module", autouse=True)
def own_plugins() -> Iterator[None]:
    """Let plug-ins be unknown to other tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [*sys.path])
        yield
    installed.cache_clear()


def learnt(arena: Arena) -> tuple[dict[str, Any], int]:
    """Return the cell's line, and how many answers of operators were dropped."""
    [status] = arena.results.glob(f"cells/*{METHOD}*/**/mipro.json")
    cells = json.loads((arena.results / "arena.json").read_text())["cells"]
    [cell] = [cell for cell in cells if cell["method"] == METHOD]
    return cell, json.loads(status.read_text())["dropped"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Arena, str]:
    """Return an arena, and the table that it printed."""
    pytest.importorskip("dspy")
    pytest.importorskip("optuna")
    arena = arena_of(tmp_path_factory.mktemp("arena"), *METHODS, cap=CAP)
    return arena, arena.run()


def test_it_hands_over_a_better_prompt_in_its_cap(finished: tuple[Arena, str]) -> None:
    arena, _ = finished
    cell, dropped = learnt(arena)
    assert (cell["learning"]["calls"], dropped) == (CAP, 0)
    assert cell["score"] > cell["control"]
    [path] = (arena.results / cell["folder"]).glob(f"**/{cell['deployed']}.yaml")
    team = parse_team(path.read_bytes(), path.name, Catalogue.of_host())
    assert CONVENTION in (team.agents["coder"].prompt or "")


def test_it_prints_nothing_and_resumes_uncalled(finished: tuple[Arena, str]) -> None:
    arena, table = finished
    assert {line[:1] for line in table.splitlines()} <= {"|", ""}
    assert arena.run() == table


def test_a_cap_too_small_to_validate_the_original_hands_it_over(
    finished: tuple[Arena, str], tmp_path: Path
) -> None:
    arena = arena_of(tmp_path, *METHODS, cap=5)
    arena.run()
    cell, _ = learnt(arena)
    assert (cell["deployed"], cell["learning"]["calls"]) == ("coder", 5)


def test_invalid_answers_of_operators_are_dropped_and_the_search_goes_on(
    finished: tuple[Arena, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world, "_written", lambda *_: {"nothing": "of use"})
    arena = arena_of(tmp_path, *METHODS, cap=CAP)
    arena.run()
    cell, dropped = learnt(arena)
    assert dropped == QUESTIONS
    assert cell["learning"]["calls"] <= CAP


def test_without_dspy_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(_name: str) -> None:
        raise ModuleNotFoundError

    monkeypatch.setattr(mipro, "import_module", missing)
    with pytest.raises(RuntimeError, match=mipro.INSTALL):
        arena_of(tmp_path, *METHODS, cap=CAP).run()


def predictor(instructions: str, original: str, output: str) -> Any:
    demo = {"query": "Item 1?", "answer": "c1"}
    return SimpleNamespace(
        signature=SimpleNamespace(instructions=instructions, output_fields={output: None}),
        original=original,
        demos=[SimpleNamespace(**demo), SimpleNamespace(query="Item 2?", answer=None)],
    )


def test_the_agent_that_answers_shows_examples_and_an_unchanged_prompt_keeps_its_form() -> None:
    catalogue = Catalogue.of_host()
    team = parse_team(TEAM.encode(), "team.yaml", catalogue)
    pool = SimpleNamespace(teams={"pair": SimpleNamespace(team=team)})
    stream = SimpleNamespace(context=SimpleNamespace(catalogue=catalogue, pool=pool))
    loop = asyncio.new_event_loop()
    optimizer = Optimizer(stream=cast(Any, stream), loop=loop)
    loop.close()
    reader = predictor("Read it.\nTwice.", "Read it.\nTwice.", "message")
    coder = predictor("Begin with c.", "Say the code.", "answer")
    example = "Begin with c.\n\nAnswer like this.\n\nQ: Item 1?\nA: c1"
    assert optimizer.prompts([reader, coder]) == {"coder": example}
