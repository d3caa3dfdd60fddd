"""Rows of the papers' tables: all of them are recipes that can be run, or say why they cannot."""

import itertools
import json
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from coterie.benchmarks.command.papers import papers
from coterie.benchmarks.papers import PaperRun, load_paper, paper_names, runs_at, stream_of
from coterie.benchmarks.papers.addresses import Address
from coterie.benchmarks.papers.tables import HERE, PAPER
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.schema.host.catalogue import installed
from coterie.schema.loading.loading import load_models, load_team
from coterie.schema.loading.recipe import load_recipe
from coterie.schema.values.yaml_text import read_yaml

from ...support.commands import CommandResult, invoked_in

ROOT = Path(__file__).parents[3]
NUMBERS = {
    "evomas": {*"123456789"},
    "evochamber": {*"126789", "3a", "3b", "4a", "4b", "5a", "5b", "10", "11", "12"},
    "meta_team": {*"123456789", "10"},
    "mattrl": {*"123456"},
}


def paper(folder: Path, *words: str) -> CommandResult:
    return invoked_in(folder, papers, words, "mas dev papers")


def run_of(address: str) -> PaperRun:
    (run,) = runs_at(Address.read(address))
    return run


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.nightly] if name == "evomas" else [])
        for name in paper_names()  # evomas has 583 of the 917 rows
    ],
)
def test_every_row_is_a_recipe_that_loads_or_says_why_not(name: str, tmp_path: Path) -> None:
    result = paper(tmp_path, name, "--dry-run").ended(0)
    shown = {line.split(": ")[0] for line in result.out.splitlines()}
    values = load_paper(name)
    for table, whole in values.tables.items():
        for key, row in whole.rows.items():
            runs = {run.address for run in values.runs(table, key)}
            assert bool(runs) is not bool(values.reason(whole, row))
            assert runs <= shown
    assert [*tmp_path.iterdir()] == []


def test_every_table_of_the_papers_is_there() -> None:
    assert {*NUMBERS, "tacomas"} == {*paper_names()}
    for name, numbers in NUMBERS.items():
        tables = {table for table in load_paper(name).tables if table.startswith("table")}
        assert tables == {f"table{number}" for number in numbers}


def figures(name: str, table: str, row: str) -> list[float | None]:
    result = load_paper(name).tables[table].rows[row].figures
    return [figure if isinstance(figure, float) else None for figure in result]


def test_published_figures_agree_with_each_other() -> None:
    """What stands in two tables is the same in both, and averages are those of their columns."""
    evomas = load_paper("evomas")
    for number, table, places in ((0, "table3", 24), (3, "table4", 7)):
        for row in evomas.tables[table].rows:
            *parts, average = figures("evomas", table, row)
            assert len(parts) + 1 == places
            if table == "table3":
                assert average == pytest.approx(sum(filter(None, parts)) / len(parts), abs=0.6)
            method, _, backbone = row.partition("-")
            at = number + ["c-3.5s", "q-235b", "q-480b"].index(backbone)
            assert figures("evomas", "table1", method)[at] == average
    for row in evomas.tables["table5"].rows:
        method, _, backbone = row.partition("-")
        at = 6 + ["c-3.5s", "q-235b", "q-480b"].index(backbone)
        main = figures("evomas", "table1", method)
        assert figures("evomas", "table5", row) == [main[at], main[at + 3]]
    for row in load_paper("meta_team").tables["table1"].rows:
        *parts, average = figures("meta_team", "table1", row)
        assert average == pytest.approx(sum(filter(None, parts)) / len(parts), abs=0.06)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("evochamer", "no paper 'evochamer'. Did you mean 'evochamber'?"),
        ("evochamber:tabel2", "no table of evochamber 'tabel2'. Did you mean 'table2'?"),
        ("evochamber:table2/evocamber", "Did you mean 'evochamber'?"),
        ("evochamber:table2/sa/aime2022", "Did you mean 'aime_2022'?"),
        ("evomas:table1/mas_gpt", "evomas:table1/mas_gpt cannot be run here: It is a model"),
        (
            "evomas:table1/croto",
            "expected one run, got 6. Choose one: evomas:table1/croto/bbeh-c-3.5s",
        ),
        ("evomas:table1/croto/swe-lite-q-235b", "has no figure of swe-lite-q-235b"),
        ("meta_team:table1/mas/gaia", "web search"),
        ("evochamber:table9/tau", "cannot be run here: They are the defaults"),
        ("mattrl:table2/mattrl", "hle_math.jsonl"),
        ("evochamber:table2/sa --dryrun", "No such option '--dryrun'."),
        ("a:b/c/d/e", "an address is PAPER:TABLE/ROW/COLUMN at most"),
    ],
)
def test_what_cannot_run_says_what_to_write(address: str, message: str, tmp_path: Path) -> None:
    assert message in paper(tmp_path, *address.split()).refused()
    assert [*tmp_path.iterdir()] == []


def test_without_a_row_papers_and_rows_are_listed(tmp_path: Path) -> None:
    assert all(name in paper(tmp_path).out for name in paper_names())
    listed = paper(tmp_path, "mattrl:table1").out
    assert "hit_1 0.39" in listed
    assert "table2" not in listed
    assert "cannot be run here: It checks how complex" in listed


def test_a_column_alone_is_the_papers_own_method_also_from_a_table_without_results() -> None:
    run = run_of("evochamber:table1/math_hard")
    assert run.address == "evochamber:table2/evochamber/math_hard"
    assert (run.figures, run.how["niche"]) == ({"math_hard": 0.763}, "math_hard")


def test_a_row_is_written_with_its_protocol_and_is_never_overwritten(tmp_path: Path) -> None:
    words = ("evomas:table1/adas/workbench-q-480b", "--write", "adas")
    result = paper(tmp_path, *words).ended(0)
    assert "--pool adas/pool --models adas/models.yaml --seeds 3" in result.out
    folder = tmp_path / "adas"
    assert load_models(folder / "models.yaml")["default"].model == "openrouter/qwen/qwen3-coder"
    assert "workbench_email" in load_team(folder / "single_agent.yaml").agents["solver"].tools
    recipe = load_recipe(folder / "recipe.yaml")
    assert (recipe.seeds, recipe.policy) == (("single_agent.yaml",), "policy.yaml")
    assert "WorkBench Q-480B 31.2" in (folder / "recipe.yaml").read_text().replace("\n# ", " ")
    assert paper(tmp_path, *words).code == 0
    (folder / "recipe.yaml").write_text("strategy: fixed\n")
    result = paper(tmp_path, *words)
    assert (result.code, (folder / "recipe.yaml").read_text()) == (2, "strategy: fixed\n")
    assert "is not overwritten" in result.err


def own_tasks(path: Path, count: int) -> None:
    tasks = [
        {"id": f"{path.stem}-{n}", "query": f"{n} + 0?", "answer": str(n)} for n in range(count)
    ]
    path.write_text("".join(json.dumps(task) + "\n" for task in tasks))


def test_a_row_runs_on_its_data_and_goes_on_from_there(tmp_path: Path) -> None:
    own_tasks(tmp_path / "aime_2022.jsonl", 3)
    words = ["evochamber:table2/sa/aime_2022", "--data", ".", "--embedder", "hashing", "--json"]
    with ScriptedModel(lambda _: Reply(text="Answer: 1")) as model:
        asked = [*words, "--limit", "2", "--model", f"m@{model.api_base}"]
        result, again = paper(tmp_path, *asked), paper(tmp_path, *asked)
        calls = len(model.calls)
    assert result.code == 0, result.err
    assert (result.json["tasks"], result.json["score"], calls) == (2, 0.5, 2)
    assert "evochamber:table2/sa/aime_2022: Published (accuracy): AIME'22 0.133." in result.err
    assert again.json["score"] == 0.5
    assert (tmp_path / "runs/papers/evochamber/table2/sa/aime_2022/recipe.yaml").exists()
    result = paper(tmp_path, *words, "--dry-run")
    assert "evochamber over 3 tasks" in result.out


def test_what_learns_is_tested_on_the_tasks_that_all_others_work_on(tmp_path: Path) -> None:
    own_tasks(tmp_path / "hle_math.jsonl", 40)
    learns = stream_of(run_of("mattrl:table2/mattrl"), tmp_path)
    fixed = stream_of(run_of("mattrl:table2/team"), tmp_path)
    assert (len(learns.tasks), len(learns.held_out)) == (30, 10)
    assert fixed.tasks == learns.held_out
    assert not fixed.held_out
    assert not {task.id for task in learns.tasks} & {task.id for task in learns.held_out}


NAMED = {"data": "data", "test": "data", "model": "models", "models": "models"}
"""The fields of a run that name parts of a paper, with the group of these parts."""


def form(kind: str) -> dict[str, Any]:
    text = Path(__file__).with_name("papers.schema.json").read_text(encoding="utf-8")
    definitions = json.loads(text)["$defs"]
    return {**definitions[kind], "$defs": definitions}


@pytest.mark.parametrize("name", paper_names())
def test_files_of_a_paper_have_their_form(name: str) -> None:
    for path in (HERE / name).glob("*.yaml"):
        value = read_yaml(path.read_bytes(), str(path))[0].value
        check = Draft202012Validator(form("paper" if path.name == PAPER else "table"))
        assert [error.message for error in check.iter_errors(value)] == [], path


@pytest.mark.parametrize("name", paper_names())
def test_whatever_a_paper_names_is_there(name: str) -> None:
    values = load_paper(name)
    runs = [entry.get("run", {}) for entry in (*values.methods.values(), *values.data.values())]
    for part in (part for data in values.data.values() for part in data["parts"]):
        assert "benchmark" in part or {"file", "source"} <= part.keys()
        assert part.get("benchmark", "own") in installed("benchmarks")
    for table in values.tables.values():
        assert table.rows or table.cannot
        assert table.own in {"", *table.rows}
        assert table.see in {"", *values.tables}
        runs += [table.run, *(item.run for item in (*table.columns.values(), *table.rows.values()))]
        for row in table.rows.values():
            assert row.figures or row.unpublished or row.cannot
            assert row.method in values.methods or (not row.method and (row.cannot or table.cannot))
            assert len(row.figures) <= len(table.columns)
    for run, (field, group) in itertools.product(runs, NAMED.items()):
        names = run.get(field, [])
        assert {*(names if isinstance(names, list) else [names])} <= {*getattr(values, group)}


def test_pages_say_what_the_files_have() -> None:
    for path, text in run_path(str(ROOT / ".ci" / "papers"))["pages"]().items():
        assert path.read_text(encoding="utf-8") == text, "run .ci/papers"
