"""A race as a user has it: a better team, or the original; stopped and resumed; within a budget."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest

from coterie.operators.command.evolve import main as mas_evolve
from coterie.operators.methods.race.result import RaceResult
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.doubles.script import Request
from coterie.runtime.values.budget import Budget
from coterie.schema import Catalogue, load_team

from ....support.commands import CommandResult, invoked_in
from ....support.repositories import run_git
from ...evolving import evolve, killed_at

TEAM = """\
# Ours.
name: solo
agents:
  one:
    prompt: You add.  # for now
    temperature: 0
"""
HELPS = "Count on your fingers."
HYPOTHESES = ("Hurry.", "Sing.", HELPS, "Dance.")
FOLDER = "runs/evolve-solo/evolutions/solo"


def world(request: Request) -> Reply:
    """Answer sums: every fifth is right, all are with the sentence that helps."""
    text = json.dumps(request["messages"])
    form = request.get("response_format", {}).get("json_schema", {}).get("schema", {})
    if "edits" in form.get("properties", {}):
        fresh = next((each for each in HYPOTHESES if each not in text), "Nothing.")
        edit = {"set_prompt": {"agent": "one", "prompt": f"You add. {fresh}"}}
        return Reply.json({"reason": f"It should: {fresh}", "edits": [edit]})
    number = int(text.split("What is ")[-1].split(" ")[0])
    return Reply(text="7" if HELPS in text or number % 5 == 0 else "8")


def null(request: Request) -> Reply:
    """Let nothing help."""
    if "response_format" in request:
        return world(request)
    number = int(json.dumps(request["messages"]).split("What is ")[-1].split(" ")[0])
    return Reply(text="7" if number % 2 else "8")


def pleased(request: Request) -> Reply:
    """Let a judge like singing, which is never right."""
    text = json.dumps(request["messages"])
    form = request.get("response_format", {}).get("json_schema", {}).get("schema", {})
    if "score" in form.get("properties", {}):
        return Reply.json({"reason": "Lovely.", "score": 1.0 if "la la" in text else 0.0})
    if "edits" in form.get("properties", {}):
        edit = {"set_prompt": {"agent": "one", "prompt": "You add. Sing."}}
        return Reply.json({"reason": "Singing helps.", "edits": [edit]})
    number = int(text.split("What is ")[-1].split(" ")[0])
    return Reply(text="la la" if "Sing." in text else "7" if number % 5 == 0 else "8")


def refusing(_request: Request) -> Reply:
    """Answer nobody."""
    return Reply.error(401)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return with_tasks(tmp_path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a race of 150 calls that nothing stopped."""
    folder = with_tasks(tmp_path_factory.mktemp("whole"))
    assert raced(folder, "--budget", "calls=150").code == 0
    return folder


def with_tasks(folder: Path) -> Path:
    (folder / "solo.yaml").write_text(TEAM)
    (folder / "race.yaml").write_text(
        "strategy: race\nseeds: [solo.yaml]\nsettings: {kinds: [hypothesis, merge]}\n"
    )
    lines = [{"id": f"t{n}", "query": f"What is {n} + {7 - n}?", "answer": "7"} for n in range(60)]
    (folder / "tasks.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def raced(
    folder: Path, *words: str, script: Any = world, label: str = "solo.yaml"
) -> CommandResult:
    with ScriptedModel(script) as model:
        given = [label, "tasks.jsonl", "--model", f"m@{model.api_base}", *words]
        result = invoked_in(folder, mas_evolve, given, "mas-evolve")
        result.calls = len(model.calls)
        return result


def result_of(folder: Path) -> RaceResult:
    result = RaceResult.read(folder / FOLDER)
    assert result is not None
    return result


def test_the_sentence_that_helps_is_found_within_the_budget(folder: Path) -> None:
    with ScriptedModel(world) as model:
        words = ["solo.yaml", "tasks.jsonl", "--model", f"m@{model.api_base}"]
        outcome = invoked_in(folder, mas_evolve, [*words, "--budget", "calls=200"], "mas-evolve")
        calls = len(model.calls)
    assert outcome.code == 0, outcome.err
    assert outcome.out.startswith("A better team: original 0."), outcome.out
    result = result_of(folder)
    assert any(HELPS in edit for step in result.path_to(result.leader) for edit in step.edits)
    assert result.last_word is not None
    assert result.last_word.low > 0.3
    assert result.spent.calls == calls <= 200


def test_reference_answers_correct_a_judge_that_is_easy_to_please(folder: Path) -> None:
    lines = [json.loads(line) for line in (folder / "tasks.jsonl").read_text().splitlines()]
    for line in lines[::2]:
        del line["answer"]
    (folder / "tasks.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    outcome = raced(
        folder, "--pool", "pool", "--budget", "calls=200", script=pleased, label="race.yaml"
    ).ended(0)
    result = RaceResult.read(folder / "pool" / "evolutions" / "race")
    assert result is not None
    word = result.last_word
    assert word is not None
    assert word.means[1] == 1.0  # so the judge says
    assert word.gain < 0 < word.answers
    assert "judged and corrected by" in outcome.out
    assert "No improvement" in outcome.out


def test_where_nothing_helps_the_original_is_named(folder: Path) -> None:
    result = raced(folder, "--budget", "calls=120", script=null).ended(0)
    assert "The original" in result.out or "No improvement that the data can show" in result.out
    assert not result_of(folder).is_better


def test_the_same_command_shows_the_same_and_asks_nobody(folder: Path) -> None:
    first = raced(folder, "--budget", "calls=60")
    again = raced(folder, "--budget", "calls=60", script=refusing)
    assert (again.code, again.out) == (0, first.out)


@pytest.mark.parametrize("moment", [pytest.param(1, marks=pytest.mark.nightly), 20, 75])
def test_stopped_anywhere_it_resumes_to_the_same(folder: Path, whole: Path, moment: int) -> None:
    calls = 0

    def breaking(request: Request) -> Reply:
        nonlocal calls
        calls += 1
        return refusing(request) if calls > moment else world(request)

    raced(folder, "--budget", "calls=150", script=breaking).ended(1)
    assert raced(folder, "--budget", "calls=150").code == 0
    for name in (f"{FOLDER}/race.json", "runs/evolve-solo/ledger.jsonl"):
        assert (folder / name).read_bytes() == (whole / name).read_bytes()


def test_a_larger_budget_goes_on(folder: Path) -> None:
    out = ("--out", str(folder / "better.yaml"))
    assert raced(folder, *out, "--budget", "calls=60", script=null).code == 0
    before = result_of(folder)
    assert raced(folder, *out, "--budget", "calls=110", script=null).code == 0
    after = result_of(folder)
    assert before.spent.calls <= 60 < after.spent.calls <= 110
    assert raced(folder, *out, script=refusing).code == 0  # nothing is spent without a word


def test_the_pilot_says_how_long_a_run_takes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Budget, "seconds", property(lambda _budget: 12.0))  # one for each run
    monkeypatch.setattr(Budget, "left", lambda _budget: 300.0)
    raced(folder, "--budget", "seconds=312,calls=100").ended(0)
    assert result_of(folder).slots


@pytest.mark.parametrize("calls", [14, 20, 33])
def test_a_budget_that_is_too_small_holds_and_says_so(folder: Path, calls: int) -> None:
    with ScriptedModel(world) as model:
        words = ["solo.yaml", "tasks.jsonl", "--model", f"m@{model.api_base}"]
        result = invoked_in(
            folder, mas_evolve, [*words, "--budget", f"calls={calls}"], "mas-evolve"
        )
        asked = len(model.calls)
    assert result.code in {0, 3}, result.err
    assert asked <= calls
    assert result.code == 3 or result_of(folder).is_over


def test_a_hypothesis_that_the_budget_refuses_leaves_the_other_kinds(folder: Path) -> None:
    outcome = raced(folder, "--budget", "tokens=6000").ended(0)
    assert "no more hypotheses: the evolution has reached its budget tokens=6000" in outcome.err
    result = result_of(folder)
    assert len(result.entrants) > 1
    assert result.spent.calls == outcome.calls


@pytest.mark.parametrize("moment", [26, 27, 31, 70])
def test_calls_of_a_run_that_the_budget_stops_are_counted(folder: Path, moment: int) -> None:
    """Let a first agent write so much that the second one exceeds the budget."""
    asked = 0

    def flooding(request: Request) -> Reply:
        nonlocal asked
        asked += 1
        is_first = "You add." in json.dumps(request["messages"])
        return Reply(text="8" * 400_000) if asked > moment and is_first else world(request)

    two = TEAM + "  two: {prompt: You repeat., temperature: 0}\n"
    (folder / "solo.yaml").write_text(two + "topology: {reports_to: {one: [two]}}\n")
    outcome = raced(folder, "--budget", "tokens=50000", script=flooding)
    assert result_of(folder).spent.calls == outcome.ended(0).calls
    assert raced(folder, "--budget", "tokens=50000", script=refusing).out == outcome.out


def test_a_pilot_that_the_budget_stops_says_what_it_took(folder: Path) -> None:
    outcome = raced(folder, "--budget", "calls=3").ended(3, calls=3)
    assert outcome.out == (
        "The race goes on. The original stays as it is.\n"
        "0 proposals raced, 0 calls, free\n"
        "unfinished: 3 calls, unpriced, without a result yet\n"
    )


def test_a_recipe_says_which_kinds_there_are(folder: Path) -> None:
    raced(folder, "--pool", "pool", "--budget", "calls=120", label="race.yaml").ended(0)
    result = RaceResult.read(folder / "pool" / "evolutions" / "race")
    assert result is not None
    assert {entrant.kind for entrant in result.entrants[1:]} <= {"hypothesis", "merge"}


def test_too_few_tasks_cost_nothing(folder: Path) -> None:
    (folder / "tasks.jsonl").write_text('{"id": "t", "query": "What is 1 + 6?", "answer": "7"}\n')
    result = raced(folder, script=refusing).ended(2)
    assert "a race needs at least" in result.err
    assert not (folder / "runs").exists()


def test_several_seeds_are_refused_before_anything_is_spent(folder: Path) -> None:
    result = raced(folder, "--seeds", "2", script=refusing).ended(2)
    assert "--seeds does not support race" in result.err


def test_a_recipe_needs_a_pool(folder: Path) -> None:
    (folder / "race.yaml").write_text("strategy: evomas\nseeds: [solo.yaml]\n")
    result = raced(folder, label="race.yaml").ended(2)
    assert "--pool FOLDER" in result.err


def test_the_better_team_is_a_file_beside_the_original(folder: Path) -> None:
    assert raced(folder, "--budget", "calls=200").code == 0
    better = load_team(folder / "solo.better.yaml", Catalogue.of_host())
    assert HELPS in better.agents["one"].prompt or "7" in better.agents["one"].prompt
    assert better.name == "solo"
    assert (folder / "solo.yaml").read_text() == TEAM


def test_a_file_in_the_way_is_said_before_anything_is_spent(folder: Path) -> None:
    (folder / "solo.better.yaml").write_text("mine\n")
    result = raced(folder, script=refusing).ended(2)
    assert "is not overwritten" in result.err
    assert (folder / "solo.better.yaml").read_text() == "mine\n"


def committed(folder: Path) -> None:
    run_git(folder, "init", "-q")
    run_git(folder, "add", ".")
    run_git(folder, "commit", "-qm", "Ours")


def test_a_team_that_cannot_be_changed_in_place_costs_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = tempfile.TemporaryFile

    def refusing_here(**options: Any) -> Any:
        if options.get("dir") == folder:
            raise PermissionError(13, "Permission denied")
        return create(**options)

    committed(folder)
    monkeypatch.setattr(tempfile, "TemporaryFile", refusing_here)
    result = raced(folder, "--in-place", script=refusing).ended(2, calls=0)
    assert "solo.yaml: cannot create a file in" in result.err


def test_in_place_it_is_one_commit_of_the_edits_alone(folder: Path) -> None:
    committed(folder)
    words = ("--in-place", "--budget", "calls=150")
    assert raced(folder, *words).code == 0
    shown = run_git(folder, "show", "--no-ext-diff", "--format=%s").splitlines()
    changed = [line for line in shown if line[:1] in {"+", "-"} and line[:3] not in {"+++", "---"}]
    assert shown[0].startswith("solo: ")
    assert "held-back tasks" in shown[0]
    assert not any("# Ours." in line or "temperature: 0" in line for line in changed)
    assert raced(folder, *words).code == 0
    assert run_git(folder, "rev-list", "--count", "HEAD").strip() == "2"


def test_a_team_that_was_changed_and_committed_meanwhile_is_not_overwritten(folder: Path) -> None:
    committed(folder)
    words = ("--in-place", "--budget", "calls=150")
    changed = TEAM.replace("You add.", "You multiply.")

    def editing(request: Request) -> Reply:
        if (folder / "solo.yaml").read_text() == TEAM:
            (folder / "solo.yaml").write_text(changed)
            run_git(folder, "commit", "-qam", "Mine")
        return world(request)

    result = raced(folder, *words, script=editing).ended(2)
    assert "solo.yaml is no longer the team that raced, and is not overwritten" in result.err
    assert (folder / "solo.yaml").read_text() == changed
    out = ("--out", "better.yaml", "--budget", "calls=150")
    assert "Written to better.yaml" in raced(folder, *out, script=refusing).ended(0).err


@pytest.mark.parametrize("moment", [50, 96])
def test_killed_it_resumes_to_the_same_bytes_and_pays_for_nothing_twice(
    folder: Path, moment: int
) -> None:
    (folder / "race.yaml").rename(folder / "recipe.yaml")
    words = ("--budget", "calls=110")
    first = evolve(folder, "whole", *words, script=world).ended(0)
    was_killed, before = killed_at(folder, "killed", moment, *words, script=world)
    assert was_killed
    again = evolve(folder, "killed", *words, script=world).ended(0)
    same, _, more = again.out.partition("beside these: ")
    assert same == first.out
    assert more.startswith(f"{before + again.calls - first.calls} call")
    for name in ("ledger.jsonl", "evolutions/recipe/race.json"):
        assert (folder / "killed" / name).read_bytes() == (folder / "whole" / name).read_bytes()
    # What was asked when it was killed is asked again.
    assert before - 2 + again.calls <= first.calls


@pytest.mark.parametrize(
    ("team", "tasks", "why"),
    [
        ("tasks.jsonl", "solo.yaml", "tasks.jsonl: it has tasks. A team is a .yaml file"),
        ("solo.yaml", "solo.yaml", "solo.yaml: tasks are a .jsonl or .csv file, not YAML"),
    ],
)
def test_a_team_in_the_place_of_tasks_is_one_error_and_the_other_way_about(
    folder: Path, team: str, tasks: str, why: str
) -> None:
    result = invoked_in(folder, mas_evolve, [team, tasks], "mas-evolve")
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert why in result.err


@pytest.mark.parametrize("option", ["--out", "--csv"])
@pytest.mark.parametrize(
    ("file", "why"),
    [("gone/x", "there is no folder"), ("/proc/x", "cannot create a file in /proc")],
)
def test_an_impossible_file_is_said_first(folder: Path, option: str, file: str, why: str) -> None:
    result = raced(folder, option, file, script=refusing).ended(2)
    assert why in result.err


@pytest.mark.parametrize("option", ["--csv", "--otel"])
def test_a_report_is_not_written_over_what_the_command_reads(folder: Path, option: str) -> None:
    result = raced(folder, option, "./solo.yaml", script=refusing).ended(2, calls=0)
    assert f"error: {option} solo.yaml: the command reads this file." in result.err.replace(
        "./", ""
    )
    assert (folder / "solo.yaml").read_text() == TEAM


def test_several_teams_are_refused_before_anything_is_spent(folder: Path) -> None:
    recipe = folder / "race.yaml"
    recipe.write_text('strategy: race\nseeds: [solo.yaml, "seed:direct"]\n')
    result = raced(folder, label="race.yaml", script=refusing).ended(2)
    assert "race begins with one team, and the pool has 2" in result.err


def test_a_team_may_be_a_folder(folder: Path) -> None:
    (folder / "crew").mkdir()
    (folder / "crew" / "team.yaml").write_text(TEAM)
    result = raced(folder, "--dry-run", label="crew").ended(0)
    assert "teams of runs/evolve-crew (new): solo" in result.out
    (folder / "crew" / "team.yaml").unlink()
    assert raced(folder, "--dry-run", label="crew").code == 2
    assert raced(folder, "--dry-run", label=".").code == 2
