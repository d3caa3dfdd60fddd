"""`mas-pool` on agents: who is there, what became of them, where they come from."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from coterie.pool import Pool
from coterie.pool.command import main
from coterie.pool.ledger.changes import Added, Evaluated, Restored, Retired, Revised
from coterie.pool.ledger.learnt import Learnt
from coterie.pool.values.statistics import Trial, TrialPart
from coterie.schema import Agent, Lineage

from ...support.commands import printed, ran
from ..edited_teams import pool_of, vote

SOLVER = Agent(id="solver", role="solver", prompt="Solve it.")


run = partial(ran, main)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pool: Pool = pool_of(tmp_path / "pool", vote())
    pool.commit(Added(member=SOLVER, lineage=Lineage(operator="genesis")), op="genesis")
    fork = Lineage(operator="fork", parents=("solver",), reason="It was good.")
    child = replace(SOLVER, prompt="Solve it twice.")
    own = Learnt(kind="lesson", task="One.", text="Count.", owner="solver")
    pool.commit(own, op="first")
    pool.commit(Added(member=child, lineage=fork, name="ada", inherits=("solver",)), op="fork")
    pool.commit(replace(own, kind="insight", owner=None, to=("ada", "solver")), op="both")
    pool.commit(replace(own, owner="solver", replaces=("both",)), op="better")
    pool.commit(replace(own, owner="ada", giver="solver"), op="given")
    pool.commit(Retired(member="solver", reason="old"), op="retire solver")
    pool.commit(Restored(member="solver"), op="restore solver")
    revised = replace(child, temperature=0.5)
    pool.commit(Revised(agent="ada", to=revised, reason="It was stiff."), op="revise")
    trial = Trial(task="t", score=0.5, niche="sums", agents={"w1": TrialPart(member="ada")})
    pool.commit(Evaluated(member="vote", trial=trial), op="try")
    return pool.folder


def test_agents_are_listed_with_what_they_scored(folder: Path) -> None:
    out = printed(run("agents", folder))
    lines = [line.split("  ") for line in out.splitlines()]
    assert [line[0] for line in lines] == ["agent", "solver", "ada", "", "2 agents; 0 retired"]
    assert "0.500" in out
    report = json.loads(run("agents", folder, "--json").stdout)["agents"]
    assert [(item["agent"], item["n"], item["revisions"], item["learnt"]) for item in report] == [
        ("solver", 0, 0, 2),
        ("ada", 1, 1, 2),
    ]


def test_an_agent_is_shown_with_why_it_exists(folder: Path) -> None:
    done = run("show", folder, "ada")
    assert "made by   fork of solver" in done.stdout
    assert "why       It was good." in done.stdout
    assert "niche     sums: 0.500" in done.stdout
    assert "inherits  from solver" in done.stdout
    archive = [line.strip() for line in done.stdout.splitlines() if "archive" in line]
    assert archive == [
        "archive   its own: 1 insight",
        "archive   given by solver: 1 lesson",
        "archive   inherited, of solver: 1 lesson",
    ]
    value = json.loads(run("show", folder, "ada", "--json").stdout)
    assert value["value"]["temperature"] == 0.5
    assert (value["inherits"], value["archive"]["own"]) == (["solver"], {"insight": 1})
    assert value["archive"]["inherited"] == {"solver": {"lesson": 1}}


def test_an_archive_is_listed_with_where_each_entry_comes_from(folder: Path) -> None:
    rows = [
        line.split("  ") for line in run("memory", folder, "--owner", "ada").stdout.splitlines()
    ]
    assert [[part.strip() for part in row if part][:2] for row in rows if len(row) > 2][1:] == [
        ["first", "inherited, of solver"],
        ["both", "itself"],
        ["given", "given by solver"],
    ]
    report = json.loads(run("memory", folder, "--owner", "ada", "--json").stdout)["entries"]
    assert [item["inherited_from"] for item in report] == ["solver", None, None]
    rest = run("memory", folder, "--owner", "solver", "--all").stdout
    assert "both (replaced)" in rest
    assert "both" not in run("memory", folder, "--owner", "solver").stdout
    assert "(replaced)" not in run("memory", folder).stdout
    assert "4 of 4 entries" in run("memory", folder).stdout


def test_blame_tells_which_revision_or_ancestor_set_each_field(folder: Path) -> None:
    rows = run("origin", folder, "ada").stdout.splitlines()
    assert rows[0].split("  ")[0] == "field"
    report = json.loads(run("origin", folder, "ada", "--json").stdout)
    assert [
        (item["field"], item["agent"], item["revision"], item["by"], item["op"], item["reason"])
        for item in report
    ] == [
        ("role", "solver", 0, "genesis", "genesis", ""),
        ("prompt", "ada", 0, "fork", "fork", "It was good."),
        ("temperature", "ada", 1, "revised", "revise", "It was stiff."),
    ]
    assert any("ada, revision 1" in row and "It was stiff." in row for row in rows)


def test_the_log_tells_each_revision_and_its_reason(folder: Path) -> None:
    first, second = run("log", folder, "ada").stdout.splitlines()
    assert first.startswith("0. fork · ")
    assert second.startswith("1. revise · ada: ")
    assert second.endswith(" · It was stiff.")
    assert json.loads(run("log", folder, "ada", "--json").stdout)[1]["agent"]["temperature"] == 0.5
    assert "no agent 'vote'" in run("log", folder, "vote").stderr


def test_lineage_shows_agents_beside_teams(folder: Path) -> None:
    tree = run("lineage", folder).stdout
    assert "\nsolver · not evaluated · genesis\n└─ ada · 0.500" in tree
    assert run("lineage", folder, "ada").stdout.splitlines()[0].startswith("solver")
    assert "agent_solver --" in run("lineage", folder, "--format", "mermaid").stdout
    report = json.loads(run("lineage", folder, "ada", "--format", "json").stdout)
    assert [item["agent"] for item in report] == ["solver", "ada"]


def test_agents_are_retired_and_restored_by_name(folder: Path) -> None:
    assert run("retire", folder, "ada", "--reason", "weak").exit_code == 0
    assert "ada" not in run("agents", folder).stdout
    assert "ada (retired)" in run("agents", folder, "--all").stdout
    assert "ada #40;retired#41;<br/>" in run("lineage", folder, "--format", "mermaid").stdout
    assert run("restore", folder, "ada").exit_code == 0
    assert "ada" in run("agents", folder).stdout
