"""Inputs of operators that are read from teams, tasks and runs."""

import json
import shutil
from pathlib import Path

import pytest

from coterie.runtime.doubles import Reply
from coterie.schema import load_team

from ..acting import RUN, TASKED, TRIO, judgement, mas, run, structured

COACHING = structured(wrong="You guessed.", plan="Count on your fingers.")
COMPONENT = ("--component", "prompts")
JUDGED = ("--judged", "judged.json")
REFLECT = ("reflect", "trio.yaml", "solver", "--run")
SAID = structured(lesson="Count.", insight="")
FUNCTION = 'writer: {role: writes, prompt: "You are [writer]."}'


@pytest.fixture(scope="module")
def spoilt_world(made_world: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A world in which there are also a team without models, and runs that lack something."""
    world = tmp_path_factory.mktemp("spoilt") / "world"
    shutil.copytree(made_world, world)
    (world / "sum.yaml").write_text(
        TRIO.replace(FUNCTION, "writer: {backend: function, function: concat}")
    )
    for name, events in (("silent", ""), ("damaged", '{"n": 1}\n')):
        (world / name).mkdir()
        for file in ("team.yaml", "task.json", "result.json"):
            (world / name / file).write_text((world / "run" / file).read_text())
        (world / name / "events.jsonl").write_text(events)
    result = json.loads((world / "run" / "result.json").read_text())
    unscored = {"result.json": {**result, "score": None}, "task.json": {"id": "q", "query": "?"}}
    (world / "unscored").mkdir()
    for name, value in unscored.items():
        (world / "unscored" / name).write_text(json.dumps(value))
    return world


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("mutate pair.yaml", "give the task"),
        ("mutate pair.yaml -t task.json -q x", "give either"),
        ("mutate none.yaml -q x", "no file"),
        ("mutate seed:none -q x", "no seed team"),
        ("mutate pair.yaml -q x --run . --run .", "2 runs for 1 team"),
        ("mutate pair.yaml -q x --run .", "this run is unfinished"),
        ("mutate pair.yaml -q x --policy task.json", "task.json"),
        ("mutate pair.yaml -q x --budget sdu=1", "no cap is named 'sdu'"),
        ("mutate pair.yaml -q x --component roster", "roster"),
        ("select . -q x", "no pool in"),
        ("consolidate . -q x", "no pool in"),
        ("chance pair.yaml", "--component"),
        ("contributions trio.yaml", "--run"),
        ("contributions trio.yaml --run . -t task.json", "this run is unfinished"),
        ("contributions seed:debate_3 --run run", "not those of debate_3"),
        ("coach trio.yaml slover --run run", "Did you mean 'solver'?"),
        ("coach trio.yaml solver --run run --room 9", "--room"),
        ("coach sum.yaml writer --run run", "calls no model"),
        ("reflect trio.yaml sovler --run run", "no agent 'sovler'"),
        ("reflect trio.yaml solver --run unscored", "--reward 0.5"),
        ("dream_contrast trio.yaml sovler writer --run run", "no agent 'sovler'"),
        ("restructure trio.yaml --run run --roles run", "run has 1"),
        ("restructure trio.yaml --run run --low 2", "--low"),
        ("restructure trio.yaml --run run --policy task.json", "task.json"),
        ("enlist trio.yaml", "give the task"),
        ("enlist none.yaml -q x", "no file"),
        ("enlist trio.yaml -q x --most 1", "--most"),
        ("retrospect trio.yaml sovler --run run", "no agent 'sovler'"),
        ("retrospect trio.yaml solver --run silent", "to continue. Agents with one: none."),
        ("retrospect trio.yaml solver --run damaged", "1 line cannot be read: damaged/events"),
        ("settle trio.yaml writer planner --run run", "did not read each other's output"),
    ],
)
def test_bad_input_is_2_and_asks_nobody(
    spoilt_world: Path, words: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(spoilt_world)
    done = mas(*words.split()).ended(2)
    assert message in done.err
    assert done.asked == []


@pytest.mark.usefixtures("shared_world")
def test_without_a_component_the_model_chooses_one_first() -> None:
    prompt = {"set_prompt": {"agent": "judge", "prompt": "Count."}}
    replies = [
        structured(reason="It guessed.", change="prompts"),
        structured(reason="", edits=[prompt]),
    ]
    done = mas("mutate", "pair.yaml", *TASKED, "--dry-run", replies=replies).ended(0)
    first, _ = done.asked
    assert first.body is not None
    form = first.body["response_format"]["json_schema"]["schema"]["properties"]["change"]
    assert "prompts" in form["enum"]
    assert "crossover" not in form["enum"]


@pytest.mark.usefixtures("world")
def test_a_run_is_evidence_and_brings_its_task() -> None:
    script = {"[judge]": "I say 8", "[worker]": "maybe 7"}
    run("pair.yaml", *TASKED, folder="pair_run", replies=script)
    done = mas("mutate", "pair.yaml", "--run", "pair_run", *COMPONENT, replies="no")
    text = done.asked[0].text
    for shown in ("What is 3 + 4?", "judge: done\n  output: I say 8", "score: 0"):
        assert shown in text
    assert "sevenish" not in text


def test_a_policy_says_what_a_child_may_ask_for(world: Path) -> None:
    (world / "policy.yaml").write_text("ceiling: {max_tokens: 4096, models: [default, gpt]}\n")
    model = structured(reason="", edits=[{"set_model": {"agent": "judge", "model_id": "gpt"}}])
    words = ("mutate", "pair.yaml", *TASKED, "--component", "model_id")
    words = (*words, "--model", "gpt=openai/gpt-4o", "--policy", "policy.yaml", "--dry-run")
    assert mas(*words, replies=model).out.startswith("judge: model default -> gpt\n")
    (world / "policy.yaml").write_text("ceiling: {max_tokens: 4096}\n")
    done = mas(*words, replies="").ended(1)
    assert "nothing to change about model_id" in done.err


def test_a_coached_agent_has_it_in_its_notes_and_nobody_else(world: Path) -> None:
    words = ("coach", "trio.yaml", "solver", *RUN, *JUDGED, "-o", "child.yaml")
    done = mas(*words, replies=COACHING)
    assert (done.code, done.out) == (0, ""), done.err
    child, parent = load_team(world / "child.yaml"), load_team(world / "trio.yaml")
    assert child.agents["solver"].notes.coaching == (
        "What went wrong: You guessed.\nPlan: Count on your fingers."
    )
    assert {**child.agents, "solver": None} == {**parent.agents, "solver": None}
    assert child.lineage is not None
    assert (child.lineage.operator, child.lineage.task) == ("coach", "sum")
    assert "Count on your fingers." in done.err


def test_a_restructured_team_takes_roles_in_and_lets_go_of_who_did_little(world: Path) -> None:
    place = {"role": "verifier", "receives_from": ["solver"], "reports_to": ["writer"]}
    changes = [{"add_agent": place}, {"remove_agent": {"agent": "planner"}}]
    words = ("restructure", "trio.yaml", *RUN, *JUDGED * 2, "--agents", "2", "-o", "child.yaml")
    done = mas(*words, replies=structured(reason="nobody checks", agents=changes, edges=[]))
    assert (done.code, done.out) == (0, ""), done.err
    assert "agents: -planner, +verifier" in done.err
    child = load_team(world / "child.yaml")
    assert [*child.agents] == ["solver", "writer", "verifier"]
    assert child.agents["verifier"].prompt.strip()
    [call] = done.asked
    assert "planner: 0.1, 0.1; planner so" in call.text


@pytest.mark.usefixtures("shared_world")
def test_after_too_few_rounds_nobody_may_go() -> None:
    gone = structured(reason="r", agents=[{"remove_agent": {"agent": "planner"}}], edges=[])
    words = ("restructure", "trio.yaml", *RUN, *JUDGED, "--dry-run")
    done = mas(*words, replies=gone).ended(1)
    assert "'planner' may not go" in done.err
    assert mas(*words, "--patience", "1", replies=gone).code == 0


def test_an_enlisted_team_is_of_roles_and_keeps_what_the_frame_says(world: Path) -> None:
    (world / "roles").mkdir()
    for role in ("counter", "checker"):
        (world / "roles" / f"{role}.yaml").write_text(f"role: {role}\nprompt: You are a {role}.\n")
    words = ("enlist", "trio.yaml", *TASKED, "--roles", "roles", "-o", "counting.yaml")
    agents = structured(reason="it is a sum", agents=["counter", "checker"], edges=[])
    done = mas(*words, replies=agents)
    assert (done.code, done.out) == (0, ""), done.err
    assert "reason: it is a sum" in done.err
    child = load_team(world / "counting.yaml")
    assert [*child.agents] == ["counter", "checker"]
    assert child.reports_to == {"counter": ("checker",)}
    assert (child.name, child.constitution) == ("counting", "Be honest.")


@pytest.mark.usefixtures("shared_world")
def test_what_a_run_was_worth_is_its_score_or_what_a_person_says() -> None:
    [call] = mas(*REFLECT, "run", replies=SAID).asked
    for shown in ("What is 3 + 4?", "You are [solver].", "maybe 8", "the team's answer: 0\n"):
        assert shown in call.text
    assert "first count" not in call.text
    [call] = mas(*REFLECT, "run", "--reward", "0.75", replies=SAID).asked
    assert "the team's answer: 0.75\n" in call.text


@pytest.mark.usefixtures("shared_world")
def test_what_agents_contributed_is_judged_from_all_that_they_did() -> None:
    done = mas("contributions", "trio.yaml", *RUN, replies=Reply.json(judgement()))
    assert done.err == "score 0.3: It guessed.\n"
    [call] = done.asked
    assert "What is 3 + 4?" in call.text
    assert "maybe 8" in call.text
