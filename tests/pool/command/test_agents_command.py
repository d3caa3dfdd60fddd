"""`mas-pool` on agents: who is there, what became of them, where they come from."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from coterie.pool import Pool
from coterie.pool.changes import Born, Revised, Tried
from coterie.pool.command import main
from coterie.pool.statistics import Part, Trial
from coterie.schema import Agent, Lineage

from ..teams import pool_of, vote

SOLVER = Agent(id="solver", role="solver", prompt="Solve it.")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(one) for one in arguments])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pool: Pool = pool_of(tmp_path / "pool", vote())
    pool.commit(Born(member=SOLVER, lineage=Lineage(operator="genesis")), op="genesis")
    fork = Lineage(operator="fork", parents=("solver",), reason="It was good.")
    child = replace(SOLVER, prompt="Solve it twice.")
    pool.commit(Born(member=child, lineage=fork, name="ada"), op="fork")
    revised = replace(child, temperature=0.5)
    pool.commit(Revised(agent="ada", to=revised, reason="It was stiff."), op="revise")
    trial = Trial(task="t", score=0.5, niche="sums", agents={"w1": Part(member="ada")})
    pool.commit(Tried(member="vote", trial=trial), op="try")
    return pool.folder


def test_agents_are_listed_with_what_they_scored(folder: Path) -> None:
    done = run("agents", folder)
    assert done.exit_code == 0, done.output
    lines = [line.split("  ") for line in done.stdout.splitlines()]
    assert [line[0] for line in lines] == ["agent", "solver", "ada", "", "2 agents; 0 retired"]
    assert "0.500" in done.stdout
    told = json.loads(run("agents", folder, "--json").stdout)["agents"]
    assert [(one["agent"], one["n"], one["revisions"]) for one in told] == [
        ("solver", 0, 0),
        ("ada", 1, 1),
    ]


def test_an_agent_is_shown_with_why_it_exists(folder: Path) -> None:
    done = run("show", folder, "ada")
    assert "made by   fork of solver" in done.stdout
    assert "why       It was good." in done.stdout
    assert "niche     sums: 0.500" in done.stdout
    value = json.loads(run("show", folder, "ada", "--json").stdout)
    assert value["value"]["temperature"] == 0.5


def test_the_log_tells_each_revision_and_its_reason(folder: Path) -> None:
    first, second = run("log", folder, "ada").stdout.splitlines()
    assert first.startswith("0. fork · ")
    assert second.startswith("1. revise · ada: ")
    assert second.endswith(" · It was stiff.")
    assert json.loads(run("log", folder, "ada", "--json").stdout)[1]["agent"]["temperature"] == 0.5
    assert "no agent 'vote'" in run("log", folder, "vote").stderr


def test_lineage_shows_agents_beside_teams(folder: Path) -> None:
    tree = run("lineage", folder).stdout
    assert "\nsolver · not evaluated\n└─ ada · 0.500" in tree
    assert run("lineage", folder, "ada").stdout.splitlines()[0].startswith("solver")
    assert "agent_solver --" in run("lineage", folder, "--format", "mermaid").stdout
    told = json.loads(run("lineage", folder, "ada", "--format", "json").stdout)
    assert [one["agent"] for one in told] == ["solver", "ada"]


def test_agents_are_retired_and_restored_by_name(folder: Path) -> None:
    assert run("retire", folder, "ada", "--reason", "weak").exit_code == 0
    assert "ada" not in run("agents", folder).stdout
    assert "ada (retired)" in run("agents", folder, "--all").stdout
    assert run("restore", folder, "ada").exit_code == 0
    assert "ada" in run("agents", folder).stdout
