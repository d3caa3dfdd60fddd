"""Experience from the command line: built by `mas-evolve`, shown, and used by what runs teams."""

import re
from pathlib import Path
from typing import Any

import pytest

from coterie.pool import Pool
from coterie.pool.command import main as mas_pool
from coterie.runtime.command.run import main as mas_run
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.doubles.script import Request

from ...support.commands import CommandResult, invoked
from ..consulting import FORGETFUL, WARD, doctors
from ..evolving import asked
from .conftest import Lab

RECIPE = """\
strategy: mattrl
seeds: [ward.yaml]
settings: {individual: 0.4, share: 0.25}
"""
SETTINGS = ("consultation", "mathematics", "teaching")
"""The seeds that are the paper's settings."""


@pytest.fixture
def ward(lab: Lab) -> Lab:
    lab.write("ward.yaml", WARD)
    lab.write("recipe.yaml", RECIPE)
    return lab


def evolve(ward: Lab, *words: str, script: Any = doctors) -> CommandResult:
    words = ("--embedder", "hashing", "--limit", "3", *words)
    return ward.evolve(*words, pool="experience", script=script)


def test_experience_is_built_shown_and_used_on_an_unseen_case(ward: Lab) -> None:
    result = evolve(ward).ended(0)
    entries = [*Pool.open(ward.folder / "experience").learnt.values()]
    kept = re.findall(r"(\d) entr(?:y|ies) kept\)", result.err)
    assert [*map(int, kept)] == [len(entries)] == [3]  # a quarter of 12 utterances
    assert re.search(r"^utterances: 4 a task, 4 to 4, \d+ in all$", result.out, re.MULTILINE)
    shown = invoked(mas_pool, ["memory", "experience", "--kind", "experience"], "mas-pool")
    for entry in entries:
        assert re.search(
            rf"{entry.id} .*{entry.case} +{entry.turn} +{entry.credit:.3g} ", shown.out
        )
    entry = entries[0]
    facts = invoked(mas_pool, ["show", "experience", entry.id], "mas-pool").out
    assert all(line in facts for line in entry.text.splitlines())
    before = (ward.folder / "experience/ledger.jsonl").read_bytes()
    with ScriptedModel(doctors) as model:
        words = ["ward.yaml", "-q", "What is 3 + 4?", "--pool", "experience", "--quiet"]
        words += ["--embedder", "hashing", "--model", f"m@{model.api_base}"]
        invoked(mas_run, words, "mas-run").ended(0)
    assert sum("When: Two numbers, " in call.text for call in model.calls) == 2
    assert (ward.folder / "experience/ledger.jsonl").read_bytes() == before


def test_held_out_it_is_the_strategy_with_what_it_learnt_and_keeps_nothing(ward: Lab) -> None:
    assert evolve(ward).code == 0
    before = (ward.folder / "experience/ledger.jsonl").read_bytes()
    result = evolve(ward, "--test", "test.jsonl", "--json").ended(0)
    [learnt, control] = result.json["held_out"]["teams"]
    assert (learnt["role"], control["role"]) == ("learnt", "control")
    assert result.json["held_out"]["control"] == control["team"]
    assert (learnt["read"], control["read"]) == ({"agents": 1, "tasks": 4}, None)
    assert (result.json["learnt"] > 0, result.json["read"]) == (True, {"agents": 0, "tasks": 0})
    shown = evolve(ward, "--test", "test.jsonl").out
    assert re.search(r"^  mattrl .* a run; read by 1 agent on 4 tasks$", shown, re.MULTILINE)
    assert "entries kept; while learning, read by 0 agents on 0 tasks" in shown
    assert learnt["each"]["calls"] == 5
    assert before == (ward.folder / "experience/ledger.jsonl").read_bytes()


def test_experience_that_nobody_would_read_is_refused_before_anything_is_made(ward: Lab) -> None:
    ward.write("ward.yaml", FORGETFUL)
    result = evolve(ward)
    assert (result.code, result.calls) == (2, 0)
    assert result.err.startswith("recipe.yaml:2:8: error: seeds: mattrl keeps entries of the kind")
    assert "no agent of ward recalls them" in result.err
    assert "Write `recall: {kinds: [experience]}` under agents" in result.err
    assert not Path("experience").exists()
    ward.write("recipe.yaml", "strategy: evochamber\nsettings: {lessons: 0}\n")
    assert "recipe.yaml:2:21: error: settings.lessons: agents keep lessons" in evolve(ward).err


@pytest.mark.parametrize("seeds", ["", *(f"seeds: [seed:{name}]\n" for name in SETTINGS)])
def test_natural_recipes_have_somebody_who_reads(ward: Lab, seeds: str) -> None:
    ward.write("recipe.yaml", f"strategy: mattrl\n{seeds}")
    result = evolve(ward, "--dry-run")
    assert (result.code, result.calls) == (0, 0), result.err
    assert "memory: hashing" in result.out


def test_a_judge_of_no_use_leaves_no_experience_and_is_counted(ward: Lab) -> None:
    def no_judge(request: Request) -> Reply:
        return Reply(text="no") if "agents" in asked(request) else doctors(request)

    result = evolve(ward, "--json", script=no_judge).ended(0)
    assert len(Pool.open(ward.folder / "experience").learnt) == 0
    assert result.json["operators"]["appraise"]["dropped"] == 2 * 3
    selected = ward.turns("experience")[-1]["story"][-1]
    assert {utterance["came"] for utterance in selected["utterances"]} == {"not judged"}


def test_an_entry_that_cannot_be_distilled_is_not_kept_and_counted(ward: Lab) -> None:
    def no_words(request: Request) -> Reply:
        return Reply.json({}) if "rationale" in asked(request) else doctors(request)

    result = evolve(ward, "--json", script=no_words)
    assert len(Pool.open(ward.folder / "experience").learnt) == 0
    lost = result.json["operators"]["distil"]["dropped"]
    selected = ward.turns("experience")[-1]["story"][-1]
    came_of = [utterance["came"] for utterance in selected["utterances"]]
    assert came_of.count("not distilled") == lost > 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("{share: 0}", "recipe.yaml:3"),
        ("{credit: shaply}", "Did you mean 'shapley'"),
        ("{gamma: 2}", "recipe.yaml:3"),
        ("{per: turn}", "credit: difference or shapley"),
        ("{credit: difference, permutations: 5}", "credit: shapley"),
    ],
)
def test_settings_that_say_nothing_are_refused(ward: Lab, settings: str, message: str) -> None:
    ward.write("recipe.yaml", f"strategy: mattrl\nseeds: [ward.yaml]\nsettings: {settings}\n")
    result = evolve(ward)
    assert (result.code, result.calls) == (2, 0)
    assert message in result.err
    assert not Path("experience").exists()


def test_a_judge_that_is_not_there_is_said_before_anything_is_made(ward: Lab) -> None:
    ward.write("recipe.yaml", f"{RECIPE}judge_model: strict\n")
    result = evolve(ward)
    assert (result.code, result.calls) == (2, 0)
    assert "no model 'strict'" in result.err
    assert not Path("experience").exists()
