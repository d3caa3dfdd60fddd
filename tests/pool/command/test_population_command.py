"""`mas-pool population`: what a population has become."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from coterie.pool.command import main
from coterie.pool.ledger.changes import Added, Evaluated, EventNoted, Learnt, Retired
from coterie.pool.ledger.ledger import Ledger
from coterie.pool.values.statistics import Trial, TrialPart
from coterie.runtime.values.usage import Usage
from coterie.schema import Agent, Lineage

from ...support.commands import ran, refused
from ..edited_teams import pool_of, vote

SETTINGS = {
    "alpha": 0.5,
    "beta": 0.3,
    "initial": 0.5,
    "rolling": 10,
    "synergy_tasks": 5,
    "prune_below": 0.8,
    "prune_by": "recent_mean",
}


def shown(*arguments: object) -> Result:
    done = ran(main, "population", *arguments)
    assert done.exit_code in (0, 2), done.output
    return done


def told(*arguments: object) -> dict[str, Any]:
    return json.loads(shown(*arguments, "--json").stdout)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pool = pool_of(tmp_path / "pool", vote())
    for name, parents in {"ada": (), "ben": (), "ada_1": ("ada",)}.items():
        lineage = Lineage(operator="fork" if parents else "genesis", parents=parents)
        agent = Agent(id=name, prompt="Solve it.")
        pool.commit(Added(member=agent, lineage=lineage, name=name), op=f"born {name}")
    for number, (anchor, niche, score) in enumerate(
        [("ada", "law", 1.0), ("ada", "law", 1.0), ("ben", "code", 0.0), ("ben", None, 1.0)]
    ):
        trial = Trial(
            task=f"t{number}",
            niche=niche,
            score=score,
            structure="voting",
            agents={"anchor": TrialPart(member=anchor), "complement": TrialPart(member="ada_1")},
            usage=Usage(calls=1, prompt_tokens=200),
        )
        pool.commit(Evaluated(member="vote", trial=trial), op=f"trial {number}")
    given = Learnt(kind="lesson", niche="law", task="t", text="Read it.", giver="ada", to=("ben",))
    pool.commit(given, op="lesson")
    pool.commit(Learnt(kind="lesson", task="t", text="Read.", owner="ada"), op="own")
    dreamt = {"niche": "law", "why": "reward", "came": 1, "abstained": False}
    pool.commit(EventNoted(what="dream", about=dreamt), op="dream")
    forked = {
        "operator": "fork",
        "agents": ["ada", "ada_1"],
        "why": "ada is the best",
        "task": "t1",
    }
    pool.commit(EventNoted(what="lifecycle", about=forked), op="forked")
    pool.commit(Retired(member="ben", reason="lags"), op="retire ben")
    return pool.folder


def evolution(folder: Path, name: str, **settings: object) -> None:
    """An evolution of a population, with what two tasks of it consumed."""
    there = folder / "evolutions" / name
    there.mkdir(parents=True)
    recipe = {"strategy": "evochamber", "settings": {**SETTINGS, **settings}}
    (there / "evolution.json").write_text(json.dumps({"v": 3, "recipe": recipe}))
    lines = Ledger(there / "turns.jsonl")
    for number in range(2):
        used = {"usage": 300, "operators": 90, "judging": 10}
        value = {key: {"calls": 1, "prompt_tokens": tokens} for key, tokens in used.items()}
        fields = {
            "task": f"t{number}",
            "niche": None,
            "pool": 0,
            "score": 1.0,
            "verdict": 1.0,
            "executed": 1,
        }
        fields |= {"scored_by": "answer", "dropped": [], "executed": 1, "spent": {}, "told": {}}
        lines.append({**fields, **value}, op=f"turn {number}")


def test_who_lives_what_it_is_good_at_and_where_it_comes_from(folder: Path) -> None:
    lines = [line.split("  ") for line in shown(folder).stdout.splitlines()]
    ada, child, empty = ([name.strip() for name in line if name] for line in lines[1:4])
    assert ada == ["ada", "2", "2", "1.00", "1", "1", "0", "law", "law 0.75 (2)", "genesis"]
    assert child[:4] == ["ada_1", "4", "0", "0.75"]
    assert child[-1] == "fork of ada"
    assert empty == []
    assert "ben (retired)" in shown(folder, "--all").stdout


def test_who_led_where_with_what_score_and_structure(folder: Path) -> None:
    out = shown(folder).stdout
    assert (
        "law    2      1.000 [0.342, 1.000] n=2  ada 100%  voting 2"
        in out.replace("   2  ", "   2  ")
        or "ada 100%" in out
    )
    assert "score 0.750 [0.301, 0.954] n=4; 2 of 3 led" in out
    assert "specialization 1.000, at most 1.000, last 1.000; by chance 0." in out
    assert "concentration 0.369, at most 0.369, last 0.369; by chance 0." in out
    assert "1 dream, 0 without an insight; 1 insights" in out
    assert "ada is the best" in out


def test_programs_get_all_of_it(folder: Path) -> None:
    value = told(folder, "--window", 2)
    assert [agent["agent"] for agent in value["agents"]] == ["ada", "ben", "ada_1"]
    assert value["agents"][1]["retired"] == "lags"
    assert value["agents"][0]["competence"]["law"] == {"q": pytest.approx(0.755), "n": 2, "led": 2}
    assert value["niches"]["code"]["anchors"] == {"ben": 1}
    assert value["niches"]["law"]["interval"] == [pytest.approx(0.342, abs=1e-3), 1.0]
    assert value["specialization"]["index"] == [1.0, 1.0, 1.0]
    assert value["anchors"] == ["ada", "ada", "ben", "ben"]
    assert value["unique_anchors"] == 2
    assert value["flow"] == [{"giver": "ada", "recipient": "ben", "entries": 1}]
    assert value["lifecycle"][0]["tasks"] == 4
    assert value["dreams"][0]["why"] == "reward"
    assert (value["rates"]["alpha"], value["tokens"]) == (0.3, None)


def test_the_rates_and_the_tokens_are_those_of_the_evolution(folder: Path) -> None:
    evolution(folder, "first")
    value = told(folder, "--single", 100)
    assert value["agents"][0]["competence"]["law"]["q"] == 0.875
    assert value["tokens"] == {
        "all": 400,
        "runs": 300,
        "operators": 90,
        "judging": 10,
        "single": 100,
        "factor": 4,
    }
    word = "tokens per task 400 (runs 300, operators 90, judging 10)"
    assert f"{word}: 4.00 times a single agent's" in shown(folder, "--single", 100).stdout
    assert word in shown(folder).stdout


def test_of_several_evolutions_with_other_rates_one_has_to_be_named(folder: Path) -> None:
    evolution(folder, "first")
    evolution(folder, "second", alpha=0.1)
    (folder / "evolutions" / "other").mkdir()
    (folder / "evolutions" / "other" / "evolution.json").write_text('{"v": 3, "recipe": {}}')
    assert "first, second. Choose one" in refused(shown(folder))
    assert told(folder, "--evolution", "second")["rates"]["alpha"] == 0.1
    missing = refused(shown(folder, "--evolution", "other"))
    assert "no evolution of a population is called 'other'" in missing
    evolution(folder, "third", prune_by="chance")
    edited = shown(folder)
    assert "settings.prune_by: 'chance' is not one of recent_mean, each_task" in edited.output


def test_many_givers_are_told_as_far_as_they_fit(folder: Path) -> None:
    pool = pool_of(folder.parent / "large", vote())
    names = [f"agent_{number}" for number in range(14)]
    for name in names:
        agent = Agent(id=name, prompt="Solve it.")
        pool.commit(Added(member=agent, lineage=Lineage(operator="genesis"), name=name), op=name)
    for number, name in enumerate(names[1:]):
        learnt = Learnt(kind="lesson", task="t", text="So.", giver=names[0], to=(name,))
        pool.commit(learnt, op=f"lesson {number}")
    out = shown(pool.folder).stdout
    assert "and 3 agents more: --json has all" in out
    assert "14 agents, 0 retired; 0 tasks" in out
