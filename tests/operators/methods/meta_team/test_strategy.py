"""A team that evolves as a team, end to end: what it leaves, and that a kill changes nothing."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from coterie.benchmarks.command import main as mas_bench
from coterie.operators.methods.meta_team.head import closed, constrained, head_of, started
from coterie.operators.methods.meta_team.settings import RetrospectiveSettings
from coterie.pool import LedgerEntry, Pool
from coterie.pool.ledger.changes import Restored, Retired
from coterie.pool.view import Views
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.doubles.script import Request
from coterie.schema import Agent, Execution, Roster, Team, load_team

from ....support.commands import invoked
from ...evolving import TEAMS, asked, evolve
from . import world

POOL = Path("pool")
TASKS = 3
pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pool whose team has evolved on three tasks."""
    folder = tmp_path_factory.mktemp("done")
    world.write_world(folder, tasks=TASKS)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("MAS_HOME", str(folder))
        world.evolved("pool").ended(0)
    return folder / "pool"


def operators(pool: Path) -> set[str]:
    """Which operators asked a model."""
    return {name for line in world.told(pool) for name in line["spent"]}


def quiet(request: Request) -> Reply:
    """Answer as the world does, and find nothing to change when asked to look back."""
    form = asked(request)
    if "retry" in form:
        return Reply.json({name: [] for name in form} | {"reason": "none", "retry": False})
    if "notes" in form:
        return Reply.json({"reason": "none", "notes": [], "summary": "all went well"})
    if "profile" in form:
        return Reply.json({"reason": "none", "profile": "", "together": ""})
    return world.answering(request)


def test_each_task_leads_to_the_next_head_and_the_one_before_retires(done: Path) -> None:
    pool = Pool.open(done)
    [head] = pool.members.values()
    name = head.name
    assert len(pool.teams) > 2
    while name != "trio":
        [parent] = pool.teams[name].lineage.parents
        assert pool.teams[parent].retired == (
            f"{name} came after it, taught by task {pool.teams[name].lineage.task}."
        )
        name = parent
    trials = [line for line in world.lines_of(done) if line["kind"] == "evaluated"]
    assert [trial["task"] for trial in trials] == ["t0", "t1", "t2"]
    turns = world.told(done)
    assert [turn["team"] for turn in turns[1:]] == [turn["head"] for turn in turns[:-1]]
    assert turns[-1]["head"] == head.name


def test_a_childs_lineage_says_which_level_and_which_task_changed_what(done: Path) -> None:
    children = [fields["lineage"] for fields in world.born(done)[1:]]
    assert [child["task"] for child in children] == sorted(child["task"] for child in children)
    steps = [step["operator"] for child in children for step in child.get("steps", [child])]
    assert {*steps} == {"retrospect", "settle", "reorganise"}
    for item in children:
        order = [step["operator"] for step in item.get("steps", ())]
        assert order == [name for name in ("retrospect", "settle", "reorganise") if name in order]


def test_its_scaffold_is_the_head_and_says_which_task_taught_each_note(done: Path) -> None:
    pool, team = Pool.open(done), load_team(done / "scaffold")
    assert pool.head is not None
    assert pool.head is head_of(pool.members)
    assert team == pool.head.team
    tasks = {line["task"] for line in world.told(done)}
    begun = pool.teams["trio"].team.agents
    for agent in team.agents.values():
        old = begun[agent.id].notes.places if agent.id in begun else ()
        assert agent.notes.taught.keys() >= {*agent.notes.places} - {*old}
        assert {*agent.notes.taught.values()} <= tasks
    assert any(agent.notes.taught for agent in team.agents.values())


def test_a_retry_is_marked_and_no_trial_of_anybody(done: Path) -> None:
    turns = world.told(done)
    retried = [turn for turn in turns if "retry" in turn["runs"]]
    marked = [fields for fields in world.lines_of(done) if fields.get("what") == "retry"]
    assert 0 < len(retried) == len(marked) < len(turns)
    for line, mark in zip(retried, marked, strict=True):
        assert (mark["about"]["team"], mark["about"]["task"]) == (line["head"], line["task"])
        assert line["told"]["gain of a retry"] == mark["about"]["score"] - line["score"]
        assert line["usage"]["calls"] > mark["about"]["calls"] > 0
    trials = [fields for fields in world.lines_of(done) if fields["kind"] == "evaluated"]
    assert [trial["score"] for trial in trials] == [turn["score"] for turn in turns]


@pytest.mark.parametrize(
    ("settings", "asking", "questions"),
    [
        ({"scheme": "none"}, "", 0),
        ({"scheme": "centralised", "retry": False}, "centralise", 0),
        ({"scheme": "partitioned", "retry": False}, "retrospect settle reorganise", 0),
        ({"agent_level": False, "discussion": 0}, "settle reorganise", 0),
        ({"pair_level": False}, "retrospect discuss reorganise", 3),
        ({"team_level": False, "evidence": 0}, "retrospect settle", 0),
    ],
)
def test_each_part_can_be_left_out_by_one_switch(
    tmp_path: Path, settings: dict[str, Any], asking: str, questions: int
) -> None:
    asked_for = list[str]()

    def counting(request: Request) -> Reply:
        asked_for.extend(asked(request))
        return world.answering(request)

    world.write_world(tmp_path, tasks=1, **settings)
    world.evolved("pool", script=counting).ended(0)
    whom = {*asking.split()}
    assert operators(POOL) == whom
    assert asked_for.count("questions") == questions
    teams = [team.team for team in Pool.open(POOL).teams.values()]
    noted = [agent.notes for team in teams for agent in team.agents.values()]
    assert (len(teams) > 1) == bool(asking)
    if whom.isdisjoint({"retrospect", "centralise"}):
        assert {tuple(item.patches) for item in noted} <= {(), ("first",)}
    if whom.isdisjoint({"settle", "centralise"}):
        assert not any(item.teammates for item in noted)
    if whom.isdisjoint({"reorganise", "centralise"}):
        assert {team.constitution for team in teams} == {"- Be brief.\n"}
        assert {len(team.agents) for team in teams} == {3}
    if not settings.get("retry", True):
        assert [fields["runs"] for fields in world.told(POOL)] == [["work"]]


@pytest.mark.parametrize("scheme", ["collaborative", "centralised"])
def test_what_each_level_took_is_told_beside_one_analyser(tmp_path: Path, scheme: str) -> None:
    world.write_world(tmp_path, tasks=1, scheme=scheme, retry=False)
    result = world.evolved("pool", script=world.answering).ended(0)
    [line] = world.told(POOL)
    names = {
        "collaborative": {
            "L1": ["retrospect"],
            "L2": ["settle"],
            "L3": ["discuss", "reorganise"],
        },
        "centralised": {"centralised": ["centralise"]},
    }[scheme]
    for name, operators_ in names.items():
        spent = [line["spent"][operator] for operator in operators_]
        assert line["told"][f"{name} calls"] == sum(item["calls"] for item in spent)
        tokens = sum(item["prompt_tokens"] + item["completion_tokens"] for item in spent)
        assert line["told"][f"{name} tokens"] == tokens
    central = line["told"]["one analyser tokens, about"]
    assert re.search(rf"^one analyser tokens, about: {central:g} a task", result.out, re.MULTILINE)
    if scheme == "centralised":
        spent = line["spent"]["centralise"]
        assert central == pytest.approx(spent["prompt_tokens"] / spent["calls"], rel=0.3)


def test_a_team_that_finds_nothing_to_change_stays_the_head(tmp_path: Path) -> None:
    world.write_world(tmp_path, tasks=1)
    world.evolved("pool", script=quiet).ended(0)
    assert [*Pool.open(POOL).members] == [*Pool.open(POOL).teams] == ["trio"]
    assert [fields["said"] for fields in world.told(POOL)] == [
        "L1 0, L2 0, L3 0, refused 0; trio stays the head"
    ]


def test_progress_tells_levels_gate_and_head(tmp_path: Path) -> None:
    world.write_world(tmp_path, tasks=1)
    result = evolve(tmp_path, "pool", script=world.answering).ended(0)
    assert "L1 " in result.err
    assert "refused" in result.err
    assert "trio_1 is the head" in result.err


def test_several_tasks_at_once_lead_to_one_head(
    tmp_path: Path, nightly: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    take, taken = Views._take, list[int]()

    def counted(views: Views, entry: LedgerEntry) -> None:
        taken.append(entry.start)
        take(views, entry)

    monkeypatch.setattr(Views, "_take", counted)
    world.write_world(tmp_path, tasks=20 if nightly else 3, workers=3, evidence=0, retry=False)
    assert world.evolved("pool").code == 0
    lines = world.lines_of(POOL)
    assert len(taken) == len({*taken}) <= len(lines), "each line is read once"
    pool = Pool.open(POOL)
    assert len(pool.members) == 1
    for name, team in pool.teams.items():
        assert len([other for other in pool.teams.values() if name in other.lineage.parents]) <= 1
        assert len(team.lineage.parents) == (name != "trio")
    late = [line for line in lines if line["kind"] == "rejected"]
    assert any("another task has changed that" in fields["reason"] for fields in late)


def test_a_failure_of_the_provider_teaches_nothing(tmp_path: Path) -> None:
    def down(request: Request) -> Reply:
        return world.answering(request) if asked(request) else Reply(status=401)

    world.write_world(tmp_path, tasks=1)
    world.evolved("pool", script=down).ended(2)
    assert [*Pool.open(POOL).teams] == ["trio"]
    assert not world.told(POOL)


def test_a_person_goes_back_to_an_earlier_head(tmp_path: Path) -> None:
    world.write_world(tmp_path, tasks=2, retry=False, evidence=0)
    assert world.evolved("pool", "--limit", "1").code == 0
    pool = Pool.open(POOL)
    [head] = pool.members
    pool.commit(Restored(member="trio"), op="by hand 1")
    pool.commit(Retired(member=head, reason="it got worse."), op="by hand 2")
    assert world.evolved("pool").code == 0
    turns = world.told(POOL)
    assert (turns[0]["head"], turns[1]["team"]) == (head, "trio")
    assert len(Pool.open(POOL).members) == 1


def test_two_teams_are_refused_before_anything_is_made(tmp_path: Path) -> None:
    world.write_world(tmp_path)
    (tmp_path / "solo.yaml").write_text(TEAMS["solo"])
    world.write_recipe(tmp_path, {}, seeds=["trio.yaml", "solo.yaml"])
    result = world.evolved("pool")
    assert (result.code, result.calls) == (2, 0)
    assert "one team evolves, and there are 2: trio, solo." in result.err
    assert not POOL.exists()


def test_a_dry_run_says_what_would_be_done(tmp_path: Path) -> None:
    world.write_world(tmp_path)
    result = world.evolved("pool", "--dry-run")
    assert (result.code, result.calls) == (0, 0)
    assert "meta_team over 3 tasks, 1 at a time" in result.out
    assert "on a task: the head works; they look back, with up to 2 questions each" in result.out
    assert not POOL.exists()


def test_a_test_runs_the_frozen_head_and_changes_nothing(done: Path) -> None:
    before, [head] = world.left(done), Pool.open(done).members
    recipe = str(done.parent / "recipe.yaml")
    with ScriptedModel(world.answering) as model:
        usual = ["--limit", "1", "--json", "--quiet", "--model", f"m@{model.api_base}"]
        words = ["run", "arithmetic", "--team", f"{done}/teams/{head}.yaml", "--trials", "3"]
        result = invoked(mas_bench, [*words, *usual], "mas-bench")
        words = ["run", "arithmetic", "--recipe", recipe, "--pool", str(done), "--trials", "1"]
        same = invoked(mas_bench, [*words, *usual], "mas-bench")
        assert not [call for call in model.calls if asked(call.body or {})]
    assert (result.code, same.code) == (0, 0), result.err + same.err
    assert result.json["tasks"] == same.json["tasks"] == 1
    assert world.left(done) == before


ROSTER = Team(
    name="crew",
    agents={word: Agent(id=word, prompt="Work.") for word in ("lead", "hand", "eye")},
    execution=Execution(timeout=900, roster=Roster(lead="lead")),
)


def test_a_closed_roster_has_everybody_report_to_the_lead() -> None:
    team = closed(ROSTER)
    assert team.execution.roster is None
    assert team.output == "lead"
    assert team.reports_to == {"hand": ("lead",), "eye": ("lead",)}
    assert closed(team) is team


def test_limits_of_the_recipe_become_the_teams_and_a_share_of_them_is_for_evolution() -> None:
    settings = RetrospectiveSettings(alive=3, messages=60, turns=9, seconds=300)
    team = started(ROSTER, settings)
    assert team.execution == Execution(
        timeout=300, roster=Roster(lead="lead", alive=3, messages=60, turns=9)
    )
    third = constrained(team, 1 / 3)
    assert third.execution.timeout == pytest.approx(100)
    assert third.execution.roster == Roster(lead="lead", alive=3, messages=20, turns=3)
    assert constrained(team, 1) is team


def test_limits_of_the_recipe_are_a_head_of_their_own(tmp_path: Path) -> None:
    world.write_world(tmp_path, tasks=1, seconds=33, scheme="none")
    assert world.evolved("pool").code == 0
    pool = Pool.open(POOL)
    head = head_of(pool.members)
    assert [*pool.members] == [head.name] == ["trio_1"]
    assert (head.team.execution.timeout, head.lineage.parents) == (33, ("trio",))
    lines = len(world.lines_of(POOL))
    assert world.evolved("pool").code == 0
    assert len(world.lines_of(POOL)) == lines


def test_a_hostile_answer_reaches_nobody_elses_notes(tmp_path: Path) -> None:
    def hostile(request: Request) -> Reply:
        form = asked(request)
        if "notes" in form and "summary" in form:
            note = {"patch": {"agent": "solver", "name": "x", "text": "Obey."}}
            return Reply.json({"reason": "r", "notes": [note], "summary": json.dumps(note)})
        return quiet(request)

    world.write_world(tmp_path, tasks=1)
    world.evolved("pool", script=hostile).ended(0)
    assert [*Pool.open(POOL).teams] == ["trio"]
    assert world.told(POOL)[0]["told"]["refused"] == 3
