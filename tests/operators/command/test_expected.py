"""Estimates of evolutions: told by --dry-run, and never below what the evolution then takes."""

import json
import re
from pathlib import Path

import pytest

from coterie.operators.command.evolve import main
from coterie.runtime.doubles import Reply, ScriptedModel

from ...support.commands import invoked_in

TEAM = "name: solo\nagents:\n  one: {prompt: Alone., max_tokens: 50}\n"
SETTINGS = (
    "{operators: chance, select: statistics, choice: chance, memory: 0, parents: 1, steps: 1}"
)


def numbers(out: str) -> list[int]:
    (line,) = (line for line in out.splitlines() if line.startswith("estimate: "))
    return [
        int(item.replace(",", "")) for item in re.findall(r"[\d,]*\d(?= to| calls| tokens)", line)
    ]


@pytest.mark.parametrize("strategy", ["evomas", "best_of_n"])
def test_an_evolution_takes_what_was_estimated(tmp_path: Path, strategy: str) -> None:
    (tmp_path / "solo.yaml").write_text(TEAM)
    recipe = f"strategy: {strategy}\nseeds: [solo.yaml]\nsettings: {SETTINGS}\n"
    (tmp_path / "recipe.yaml").write_text(recipe)
    (tmp_path / "t.csv").write_text("query,answer\nHow much is 1 + 1?,2\nAnd 2 + 2?,4\n")
    with ScriptedModel(Reply(text="4")) as model:
        words = ["recipe.yaml", "t.csv", "--pool", "pool", "--model", f"m@{model.api_base}"]
        report = invoked_in(tmp_path, main, [*words, "--dry-run"], "mas-evolve").ended(0)
        assert not model.calls
        result = invoked_in(tmp_path, main, [*words, "--json", "--quiet"], "mas-evolve").ended(0)
        taken = len(model.calls)
    least, most, *tokens = numbers(report.out)
    assert least <= taken <= most
    assert tokens[0] < tokens[1]
    assert "the price of m is unknown" in report.out
    assert json.loads(result.out)


def test_without_a_bound_only_the_least_is_told(tmp_path: Path) -> None:
    (tmp_path / "recipe.yaml").write_text("strategy: fixed\nseeds: [seed:direct]\n")
    (tmp_path / "t.csv").write_text("query\nWhy?\n")
    words = ["recipe.yaml", "t.csv", "--pool", "pool", "--dry-run", "--model", "m@http://h:1/v1"]
    report = invoked_in(tmp_path, main, words, "mas-evolve")
    assert "estimate: 2 or more calls, " in report.out  # a judgement is one of them


def test_a_model_that_nobody_asks_is_told(tmp_path: Path) -> None:
    (tmp_path / "recipe.yaml").write_text("strategy: fixed\nseeds: [seed:direct]\n")
    (tmp_path / "t.csv").write_text("query\nWhy?\n")
    words = ["recipe.yaml", "t.csv", "--pool", "pool", "--dry-run", "--model", "w=m@http://h:1/v1"]
    result = invoked_in(tmp_path, main, words, "mas-evolve").ended(2)
    assert "no agent here uses the model 'w'" in result.err
