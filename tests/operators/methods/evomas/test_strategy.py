"""What EvoMAS does with a task, told from evolutions of a scripted world."""

import json
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from coterie.pool import Pool
from coterie.runtime.doubles import Reply
from coterie.runtime.doubles.script import Request

from ...evolving import ALONE, RECIPE, asked, evolve, lines_of, oracle, write_world


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_world(tmp_path, tasks=4)


def think(what: object) -> Reply:
    edit = {"set_prompt": {"agent": "one", "prompt": f"Think of {what}."}}
    return Reply.json({"reason": f"for {what}", "edits": [edit]})


def test_a_step_that_comes_to_nothing_is_made_again(folder: Path) -> None:
    numbers = count()

    def stubborn(request: Request) -> Reply:
        assert "summary" not in asked(request)  # memory: 0 wants no experience, and pays for none
        if "edits" in asked(request):  # every other child is one that was tried before
            return think(next(numbers) // 2)
        return oracle(request)

    one_by_one = ALONE.replace("workers: 8", "workers: 1")
    (folder / "recipe.yaml").write_text(
        f"{one_by_one}  components: [prompts]\n  early_stop: false\n"
    )
    evolve(folder, "pool", script=stubborn).ended(0)
    lines = lines_of(folder / "pool")
    assert {len(line["candidates"]) for line in lines} == {3}
    assert sum(len(line["dropped"]) for line in lines) > 0


def test_an_answer_of_no_use_is_a_config_that_did_not_run(folder: Path) -> None:
    def useless(request: Request) -> Reply:
        return Reply.json({"nonsense": 1}) if "edits" in asked(request) else oracle(request)

    (folder / "recipe.yaml").write_text(f"{ALONE}  components: [prompts]\n")
    report = evolve(folder, "pool", "--json", "--limit", "2", script=useless).ended(0).json
    assert report["ran"] == report["candidates"] == 2  # the team as it stands
    assert report["generated"] > 0
    assert report["execution_rate"] == 0


@pytest.mark.parametrize(
    ("more", "rewards", "asks"),
    [
        ("", [[0, 0, 1], [1]], ["edits", "edits", "summary"]),
        ("  early_stop: false", [[0, 0, 1, 0], [1, 1, 1, 1]], (["edits"] * 3 + ["summary"]) * 2),
        # Right, but not for nothing: a cheaper team might be better yet.
        ("beta: 0.5\ncost: {unit: calls, per: 1}", [[-0.5, -0.5, 0.5, -0.5], [0.5] * 4], None),
    ],
)
def test_steps_end_at_a_reward_that_cannot_be_beaten(
    folder: Path, more: str, rewards: list[list[float]], asks: list[str] | None
) -> None:
    operators: list[str] = []

    def second_is_right(request: Request) -> Reply:
        shown = json.dumps(request["messages"])
        if wanted := asked(request):
            operators.append("edits" if "edits" in wanted else "summary")
            return think(len(operators)) if "edits" in wanted else Reply.json({"summary": "none"})
        is_right = "Think of 2." in shown or "What is 1 + 6?" in shown  # that is the second task
        return Reply(text="7" if is_right else "8")

    recipe = ALONE.replace("workers: 8", "workers: 1").replace("steps: 2", "steps: 3")
    recipe = recipe.replace("memory: 0", "memory: 1")
    recipe += "  instantiate: false\n  components: [prompts]\n  select: statistics\n"
    (folder / "recipe.yaml").write_text(f"{recipe}{more}\n")
    words = ("--limit", "2", "--embedder", "hashing")
    evolve(folder, "pool", *words, script=second_is_right).ended(0)
    assert [
        [candidate["reward"] for candidate in line["candidates"]]
        for line in lines_of(folder / "pool")
    ] == (rewards)
    # A task that is solved at once has no step, so no operator is asked, not even to consolidate.
    assert asks is None or operators == asks


def test_a_step_may_add_and_remove_agents_where_the_recipe_says_so(folder: Path) -> None:
    offered: list[str] = []

    def restructuring(request: Request) -> Reply:
        wanted = asked(request)
        if "change" in wanted:
            offered.extend(wanted["change"]["enum"])
            return Reply.json({"reason": "two is idle", "change": "roster"})
        if "edits" in wanted:
            assert "Look for what no agent does" in json.dumps(request["messages"])
            edits = [{"remove_agent": {"agent": "two"}}]
            return Reply.json({"reason": "two is idle", "edits": edits})
        return Reply(text="8")

    recipe = RECIPE.replace(", solo.yaml", "").replace("parents: 2", "parents: 1")
    recipe = recipe.replace("steps: 2", "steps: 1")
    more = "  instantiate: false\n  components: [prompts, roster]\n"
    (folder / "recipe.yaml").write_text(f"{recipe}{more}")
    evolve(folder, "pool", "--limit", "1", script=restructuring).ended(0)
    assert offered == ["prompts", "roster"]
    (line,) = lines_of(folder / "pool")
    parent, child = line["candidates"]
    assert (child["operator"], child["component"]) == ("mutate", "roster")
    assert (parent["usage"]["calls"], child["usage"]["calls"]) == (3, 2)


def test_a_step_may_route_a_task_to_another_specialist(folder: Path) -> None:
    """The dispatcher calls every task a matter of facts; only the calculator is right."""
    when = {"agent": "dispatcher", "field": "kind", "is": "facts"}

    def routing(request: Request) -> Reply:
        wanted, shown = asked(request), json.dumps(request["messages"])
        if "edits" in wanted:
            assert "when dispatcher.kind is" in shown or '"when"' in shown or "when:" in shown
            edit = {"set_parameter": {"agent": "calculator", "when": when}}
            return Reply.json({"reason": "It is no matter of facts.", "edits": [edit]})
        if "kind" in wanted:
            return Reply.json({"kind": "facts"})
        is_right = "for calculations" in shown or 'from=\\"calculator\\"' in shown
        return Reply(text="7" if is_right else "8")

    recipe = ALONE.replace("solo.yaml", '"seed:triage"').replace("steps: 2", "steps: 1")
    more = "  instantiate: false\n  components: [parameters]\n"
    (folder / "recipe.yaml").write_text(f"{recipe}{more}")
    evolve(folder, "pool", "--limit", "1", script=routing).ended(0)
    (line,) = lines_of(folder / "pool")
    assert [candidate["reward"] for candidate in line["candidates"]] == [0, 1]
    assert [candidate["usage"]["calls"] for candidate in line["candidates"]] == [3, 4]
    (child,) = [team for team in Pool.open(folder / "pool").teams.values() if team.lineage.parents]
    changed = child.team.agents["calculator"].when
    assert str(changed) == "when dispatcher.kind is facts"
    assert child.team.lineage is not None
    assert child.team.lineage.edits[0] == (
        "calculator: when dispatcher.kind is calculation -> when dispatcher.kind is facts"
    )


def test_lineage_files_each_edit_under_the_operator_that_made_it(folder: Path) -> None:
    def two_steps(request: Request) -> Reply:
        shown = json.dumps(request["messages"])
        wanted = asked(request)
        if "edits" in wanted:
            if "Think of it" not in shown:
                return think("it")
            edit = {"set_parameter": {"agent": "one", "temperature": 0.5}}
            return Reply.json({"reason": "for luck", "edits": [edit]})
        if "change" in wanted:
            return Reply.json({"reason": "for luck", "change": "parameters"})
        hot = request.get("temperature") == 0.5
        return Reply(text="7" if hot else "8")

    recipe = ALONE.replace("steps: 2", "steps: 1") + "  components: [prompts, parameters]\n"
    (folder / "recipe.yaml").write_text(recipe)
    evolve(folder, "pool", "--limit", "1", script=two_steps).ended(0)
    (child,) = [team for team in Pool.open(folder / "pool").teams.values() if team.lineage.parents]
    assert child.lineage.operator == "mutate"
    steps = child.team.lineage.steps if child.team.lineage else ()
    assert [(step.operator, step.reason) for step in steps] == [
        ("instantiate", "for it"),
        ("mutate", "for luck"),
    ]
    assert [step.fields for step in steps] == [("agents.one.prompt",), ("agents.one.temperature",)]


def test_what_has_no_answer_is_judged_by_the_model_that_judges(folder: Path) -> None:
    tasks = [{"id": "a", "query": "What is 3 + 4?"}, {"id": "b", "query": "Three?", "answer": "7"}]
    (folder / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in tasks))
    judges: list[str] = []

    def judging(request: Request) -> Reply:
        if "score" in asked(request):
            judges.append(request["model"])
            assert "Three?" not in json.dumps(request["messages"])
            return Reply.json({"reason": "Fine.", "score": 0.7})
        return Reply(text="7")

    more = "  instantiate: false\n  repeats: 2\njudge_model: wise\n"
    (folder / "recipe.yaml").write_text(ALONE.replace("steps: 2", "steps: 0") + more)
    evolve(folder, "pool", script=judging, aliases=("wise",)).ended(0)
    assert judges == ["wise", "wise"]
    judged, answered = lines_of(folder / "pool")
    assert (judged["scored_by"], judged["score"], judged["verdict"]) == ("judge", 0.7, None)
    assert (answered["scored_by"], answered["score"], answered["verdict"]) == ("answer", 1.0, 1.0)
    pool = Pool.open(folder / "pool")
    assert pool.teams["solo"].statistics.n == 4  # each of the two runs of each task


@pytest.mark.parametrize(
    "more",
    [
        "  choice: schedule\n  select: chance\n  parent: chance",
        "  choice: outcome\n  parent: best\n  trace: false",
    ],
)
def test_ablations_run_to_the_end(folder: Path, more: str) -> None:
    seen: list[Any] = []

    def told(request: Request) -> Reply:
        if asked(request):
            seen.append(json.dumps(request["messages"]))
        return oracle(request)

    (folder / "recipe.yaml").write_text(f"{RECIPE}  components: [prompts]\n{more}\n")
    result = evolve(folder, "pool", "--json", script=told).ended(0)
    assert result.json["operators"]["mutate"]["made"] > 0
    assert any("_run" in item and "Reward:" in item for item in seen) == (
        "trace: false" not in more
    )


def test_fields_that_nothing_would_read_are_refused(folder: Path) -> None:
    (folder / "recipe.yaml").write_text(
        f"{RECIPE}  crossover: [0, 0]\n  admission: best\n  margin: 0.1\n"
    )
    result = evolve(folder, "pool")
    assert (result.code, result.out, result.calls) == (2, "", 0)
    assert (
        "recipe.yaml:8:14: error: settings.crossover: [0, 0] is drawn from only where" in result.err
    )
    assert (
        "recipe.yaml:10:11: error: settings.margin: 0.1 is looked at only with admission: gain"
        in result.err
    )
    assert not (folder / "pool").exists()


def test_a_child_with_too_little_time_is_dropped_and_not_waited_for(folder: Path) -> None:
    def slow(request: Request) -> Reply:
        if "edits" in asked(request):
            edit = {"set_parameter": {"agent": "one", "timeout": 1}}
            return Reply.json({"reason": "for haste", "edits": [edit]})
        questions.append("asked")  # the first is the parent's, all others its children's
        return Reply(text="8") if len(questions) == 1 else Reply.fault("hang")

    questions: list[str] = []
    recipe = ALONE.replace("steps: 2", "steps: 1").replace("workers: 8", "workers: 1")
    (folder / "recipe.yaml").write_text(
        f"{recipe}  instantiate: false\n  components: [parameters]\n"
    )
    evolve(folder, "pool", "--limit", "1", script=slow).ended(0)
    (line,) = lines_of(folder / "pool")
    assert [candidate["operator"] for candidate in line["candidates"]] == ["select"]
    assert "less time than its parent did" in line["dropped"][0]["reason"]
