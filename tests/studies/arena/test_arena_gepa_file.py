"""GEPA on the file in an arena: it gains under the cap, and texts that are no team cost no run."""

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from coterie.schema.host.catalogue import Catalogue
from coterie.schema.loading.ceiling import CapabilityPolicy
from coterie.schema.loading.loading import parse_team
from coterie.schema.team.task import Task
from studies.arena.gepa_file import FileAdapter
from studies.arena.worlds import TEAM
from studies.controls import world
from studies.controls.world import CONVENTION

from .conftest import arena_of

METHOD = "gepa, the file"
VALIDATION, ITERATION = 16, 3 + 1
"""How many calls the original's validation takes, and a text that is no team: three tasks of its
parent are shown, and it is asked for."""


def learnt(folder: Path, cap: int) -> dict[str, Any]:
    """Run a cell, and return its line."""
    arena = arena_of(folder, "team as it is", METHOD, cap=cap)
    table = arena.run()
    assert arena.run() == table, "it resumes"
    value = json.loads((arena.results / "arena.json").read_text())
    return {cell["method"]: cell for cell in value["cells"]}


@pytest.mark.usefixtures("own_path")
def test_it_hands_over_a_better_team_in_its_cap(tmp_path: Path) -> None:
    pytest.importorskip("gepa")
    found = learnt(tmp_path, cap=50)
    assert found[METHOD]["learning"]["calls"] == 50
    assert found[METHOD]["score"] > found["team as it is"]["score"]
    name = found[METHOD]["deployed"]
    [path] = (tmp_path / "results").glob(f"cells/*file*/**/{name}.yaml")
    team = parse_team(path.read_bytes(), path.name, Catalogue.of_host())
    assert CONVENTION in (team.agents["coder"].prompt or "")


@pytest.mark.usefixtures("own_path")
def test_a_cap_too_small_to_validate_the_original_hands_it_over(tmp_path: Path) -> None:
    pytest.importorskip("gepa")
    found = learnt(tmp_path, cap=5)[METHOD]
    assert (found["deployed"], found["learning"]["calls"]) == ("coder", 5)


@pytest.mark.usefixtures("own_path")
def test_a_text_that_is_no_team_costs_nothing_but_its_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("gepa")
    asked: list[str] = []

    def broken(_request: object) -> str:
        asked.append("agents: {coder: {prompts: Say it.}}")
        return asked[-1]

    monkeypatch.setattr(world, "_revised", broken)
    found = learnt(tmp_path, cap=VALIDATION + 3 * ITERATION)[METHOD]
    assert len(asked) == 3
    assert found["deployed"] == "coder"


@pytest.mark.parametrize(
    ("text", "report"),
    [
        (TEAM.replace("prompt", "prompts"), "prompts"),
        (f"{TEAM}  other: {{prompt: Say it., reads: [coder]}}\n", "reads"),
        (
            f"{TEAM}  other: {{prompt: Say it.}}\ntopology: {{reports_to: {{coder: [other]}}}}\n",
            "agents",
        ),
        ("\ud800", "team.yaml"),
        ("", "team.yaml"),
    ],
)
def test_a_text_that_is_no_team_within_the_ceiling_scores_0_and_shows_why(
    text: str, report: str
) -> None:
    catalogue = Catalogue.of_host()
    ceiling = CapabilityPolicy.of(parse_team(TEAM.encode(), "team.yaml", catalogue))
    stream = SimpleNamespace(context=SimpleNamespace(catalogue=catalogue, ceiling=ceiling))
    loop = asyncio.new_event_loop()
    adapter = FileAdapter(stream=cast(Any, stream), loop=loop)
    loop.close()
    score, feedback = adapter.evaluate(text, Task(id="item-1", query="Say the code."))
    assert score == 0
    assert report in feedback["Validator"]
