"""`mas-run --adapt` and `mas-evolve` with tacomas: what a person runs, and finds in the folders."""

import json
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from coterie.operators.command.evolve import main as mas_evolve
from coterie.runtime import Journal
from coterie.runtime.command.run import main as mas_run
from coterie.runtime.command.view import main as mas_view
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.doubles.script import Request
from coterie.schema.command.diff import main as mas_diff

from ....jails import needs_jail
from ....support.commands import CommandResult, invoked, invoked_in, ran, started
from ...command.acting import TRIO
from ...evolving import asked

PLACE = {"receives_from": ["solver"], "reports_to": ["writer"]}
CALLS = 20


@dataclass
class World:
    """Agents that are right once somebody verifies, and a judge that sees it."""

    folder: Path
    hang_at: int = 0
    hung: threading.Event = field(default_factory=threading.Event)
    asked: int = 0

    def reply(self, request: Request) -> Reply:
        self.asked += 1
        if self.asked == self.hang_at:
            self.hung.set()
            return Reply.fault("hang")
        text, wanted = json.dumps(request["messages"]), asked(request)
        if "converged" in wanted:
            agents = [*wanted["agents"]["properties"]]
            table = {agent: {"reason": "so", "contribution": 0.5} for agent in agents}
            score = 0.95 if "verifier" in agents else 0.3
            return Reply.json({"reason": "r", "agents": table, "score": score, "converged": False})
        if "plan" in wanted:
            return Reply.json({"wrong": "It was vague.", "plan": "Be exact."})
        if "edges" in wanted:
            born = {"add_agent": {"role": "verifier", **PLACE}}
            enlists = "add_agent" not in json.dumps(wanted)
            agents = ["solver", "verifier"] if enlists else [born]
            return Reply.json({"reason": "nobody checks", "agents": agents, "edges": []})
        return Reply(text="7" if "You check what colleagues" in text or "verifier" in text else "8")

    def run(self, *arguments: str, command: Any = mas_run) -> CommandResult:
        """Call `mas-run`, or another command, in the folder."""
        with ScriptedModel(self.reply) as model:
            given = [*arguments, "--model", f"m@{model.api_base}"]
            return invoked_in(self.folder, command, given, "mas-run")

    def made(self) -> Path:
        """The folder of the newest run."""
        return max((self.folder / "runs").iterdir(), key=lambda path: path.stat().st_mtime_ns)


@pytest.fixture
def world(tmp_path: Path) -> World:
    (tmp_path / "team.yaml").write_text(TRIO)
    task = {"id": "sum", "query": "What is 3 + 4?", "answer": "7"}
    (tmp_path / "task.json").write_text(json.dumps(task))
    (tmp_path / "adapt.yaml").write_text("strategy: tacomas\nsettings: {most: 4}\n")
    return World(tmp_path)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


HOW = ("team.yaml", "task.json", "--adapt", "adapt.yaml")


def content(run: Path) -> tuple[str, dict[str, str]]:
    """What a run came to: the digest of its journal, and its files of rounds."""
    with Journal.open(run, replaying=True) as journal:
        digest = journal.content_hash
    names = [*run.glob("rounds/*"), run / "story.json"]
    return digest, {path.name: path.read_text() for path in sorted(names)}


def test_a_team_adapts_while_it_works(world: World) -> None:
    done = world.run(*HOW).ended(0)
    assert done.out == "7\n"
    assert "round 3: ended, threshold; round 3 answers" in done.err
    run = world.made()
    result = json.loads((run / "result.json").read_text())
    assert result["score"]["value"] == 1
    assert result["usage"]["calls"] == world.asked == CALLS
    assert sorted(path.name for path in (run / "rounds").iterdir()) == [
        f"round_{number}.yaml" for number in (1, 2, 3)
    ]
    report = ran(mas_diff, *(run / "rounds" / f"round_{number}.yaml" for number in (1, 3)))
    assert "agents: +verifier" in report.output
    assert "coaching of planner, solver, writer: +2 lines" in report.output


def test_the_folder_tells_contributions_weights_and_why_it_ended(world: World) -> None:
    world.run(*HOW)
    story = json.loads((world.made() / "story.json").read_text())["story"]
    assert [item["event"] for item in story] == [
        *("contributions", "coaching", "contributions", "coaching", "restructure"),
        *("contributions", "rounds_ended"),
    ]
    assert story[0]["agents"]["solver"] == {"contribution": 0.5, "weight": 1 / 3, "reason": "so"}
    ended = {"rounds": 3, "judged": 3, "why": "threshold", "answer_of": 3}
    assert story[-1] == {"event": "rounds_ended", **ended}
    events = lines(world.made() / "events.jsonl")
    assert {"contributions", "coaching", "restructure"} <= {event["type"] for event in events}


@pytest.mark.parametrize("calls", [3, 6, 13])
def test_a_run_that_met_its_budget_goes_on_to_the_same(world: World, calls: int) -> None:
    world.run(*HOW)
    whole, before = world.made(), world.asked
    world.run(*HOW, "--budget", f"calls={calls}", "--quiet").ended(3)
    assert world.asked - before <= calls
    run = world.made()
    world.run("--resume", str(run), "--budget", "calls=100", "--quiet").ended(0)
    assert world.asked == 2 * CALLS
    assert content(run) == content(whole)
    replayed = world.run("--replay", str(run), "--verify", "--quiet")
    assert f"verified: {CALLS} recorded answers" in replayed.out
    assert world.asked == 2 * CALLS


def test_a_run_that_was_killed_while_it_was_judged_goes_on_to_the_same(world: World) -> None:
    world.run(*HOW)
    whole = world.made()
    world.hang_at = world.asked + 4
    with ScriptedModel(world.reply) as model:
        process = started(world.folder, *HOW, "--model", f"m@{model.api_base}")
        assert world.hung.wait(300)
        process.kill()
        process.communicate(timeout=300)
    run = world.made()
    world.run("--resume", str(run), "--quiet").ended(0)
    assert content(run) == content(whole)


def test_a_dry_run_tells_the_most_calls_and_asks_nobody(world: World) -> None:
    result = world.run(*HOW, "--dry-run")
    assert "adapts by tacomas: at most 44 calls in all" in result.out
    value = world.run(*HOW, "--dry-run", "--json").json
    assert value["adapts"] == {"by": "tacomas", "calls_at_most": 44}
    assert world.asked == 0


def test_a_team_may_begin_with_roles_of_the_catalogue(world: World) -> None:
    (world.folder / "adapt.yaml").write_text("strategy: tacomas\nsettings: {begin: roles}\n")
    assert world.run(*HOW).out == "7\n"
    first = (world.made() / "rounds" / "round_1.yaml").read_text()
    assert "  solver:\n" in first
    assert "planner" not in first


def test_roles_are_those_of_a_folder_beside_the_recipe_and_go_with_the_run(world: World) -> None:
    place = world.folder / "recipes"
    (place / "agents" / "prompts").mkdir(parents=True)
    for role in ("solver", "verifier"):
        (place / "agents" / f"{role}.yaml").write_text(f"role: {role}\nprompt: check_it\n")
    prompt = "---\nversion: 1\ndescription: A check.\n---\nYou check what colleagues say. OURS\n"
    (place / "agents" / "prompts" / "check_it.md").write_text(prompt)
    (place / "r.yaml").write_text("strategy: tacomas\nsettings: {roles: agents}\n")
    world.run("team.yaml", "task.json", "--adapt", "recipes/r.yaml").ended(0)
    run = world.made()
    assert "OURS" in (run / "rounds" / "round_3.yaml").read_text()
    assert sorted(path.stem for path in (run / "roles").iterdir()) == ["solver", "verifier"]
    verified = world.run("--replay", str(run), "--verify")
    assert "no difference" in verified.out, verified.err


@pytest.mark.parametrize(
    ("recipe", "why"),
    [
        ("strategy: tacomas\nsettings: {roles: nowhere}\n", "nowhere is no folder"),
        ("strategy: tacomas\nsettings: {most: 0}\n", "most"),
        ("strategy: evomas\n", "needs memory of a pool"),
        ("strategy: tacomas\nmeta_model: giant\n", "no model 'giant' on this host"),
    ],
)
def test_faults_are_said_before_anything_is_spent(world: World, recipe: str, why: str) -> None:
    (world.folder / "adapt.yaml").write_text(recipe)
    done = world.run(*HOW).ended(2)
    assert why in done.err
    assert world.asked == 0
    assert not (world.folder / "runs").exists()


def test_a_recorded_run_has_its_recipe(world: World) -> None:
    done = world.run("--resume", str(world.folder), "--adapt", "adapt.yaml").ended(2)
    assert "team, task and recipe from the run's folder" in done.err


def test_in_a_stream_each_task_begins_with_the_pool_s_team(world: World) -> None:
    tasks = [{"id": f"t{n}", "query": f"What is {n} + {7 - n}?", "answer": "7"} for n in range(2)]
    stream = "\n".join(map(json.dumps, tasks))
    (world.folder / "tasks.jsonl").write_text(stream + "\n")
    recipe = "strategy: tacomas\nseeds: [team.yaml]\nsettings: {most: 4}\n"
    (world.folder / "recipe.yaml").write_text(recipe)
    given = ("recipe.yaml", "tasks.jsonl", "--pool", "pool")
    world.run(*given, command=mas_evolve).ended(0)
    pool = world.folder / "pool"
    assert [path.name for path in (pool / "teams").iterdir()] == ["trio.yaml"]
    evolution = pool / "evolutions" / "recipe"
    turns = [fields["value"] for fields in lines(evolution / "turns.jsonl")]
    assert [turn["score"] for turn in turns] == [1, 1]
    for number, line in enumerate(turns):
        assert line["story"][-1]["why"] == "threshold"
        rounds = evolution / "episodes" / f"{number:06d}" / "rounds"
        assert (rounds / "round_1.yaml").read_text() == (
            evolution / "episodes" / "000000" / "rounds" / "round_1.yaml"
        ).read_text()
        assert "verifier" in (rounds / "round_3.yaml").read_text()
    before = world.asked
    world.run(*given, command=mas_evolve).ended(0)
    assert world.asked == before == 2 * CALLS


@needs_jail
def test_what_adapting_agents_write_is_kept(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(World, "reply", writes)
    (world.folder / "team.yaml").write_text(
        "name: solo\nagents:\n  one: {prompt: Code., agent_type: CodeAgent, max_steps: 2}\n"
    )
    world.run(*HOW).ended(0)
    run = world.made()
    assert (run / "artifacts" / "one" / "out.txt").read_text() == "made"
    assert json.loads((run / "result.json").read_text())["artifacts"] == ["artifacts/one/out.txt"]
    shown = invoked(mas_view, ["--text", str(run)], "mas-view").out
    assert "\nfile     artifacts/one/out.txt\n" in shown


def writes(_world: World, request: Request) -> Reply:
    """Write a file; as the judge, be content."""
    if "converged" not in asked(request):
        return Reply.code("open('out.txt', 'w').write('made')\nfinal_answer('7')")
    fields = {"one": {"reason": "so", "contribution": 0.5}}
    return Reply.json({"reason": "r", "agents": fields, "score": 0.95, "converged": False})
