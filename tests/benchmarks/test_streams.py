"""The generated streams: seeded, disjoint, scored exactly; and what their edits are tested with."""

import json
import re
from pathlib import Path

import pytest

from coterie.benchmarks.streams.__main__ import main as write
from coterie.benchmarks.streams.tasks import SPLITS, STREAMS, Split, stream
from coterie.pool import Pool
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.doubles.script import Request
from coterie.schema import Catalogue, InputError, Task, load_team
from coterie.schema.edits import RejectedEdits, apply
from coterie.schema.loading.tasks import load_tasks
from studies.headroom.__main__ import main as headroom
from studies.headroom.candidates import CANDIDATES

from ..scoring import found
from ..support.commands import printed, ran
from ..support.processes import python

SOLO = Path(__file__).parents[2] / "benchmarks" / "streams" / "solo.yaml"


def numbers(text: str) -> tuple[str, ...]:
    return tuple(sorted(re.findall(r"\d+", text)))


CONTENT = {
    "products": lambda task: numbers(task.query),
    "coins": lambda task: numbers(task.query),
    "sentiment": lambda task: frozenset(
        re.findall(r"\w+", task.query.partition("word. ")[2].lower())
    ).difference(["the", "was", "i", "found", "did", "not", "find", "what", "a"]),
    "dates": lambda task: task.answer[:4],
    "ages": lambda task: frozenset(re.findall(r"[A-Z]\w+", task.query)) - {"How"},
}
"""What a task is about, by stream: what the splits must not share."""


@pytest.mark.parametrize("name", STREAMS)
def test_the_same_seed_gives_the_same_tasks_and_another_one_others(name: str) -> None:
    first = stream(name, "evolve", count=30)
    assert stream(name, "evolve", count=30) == first
    assert stream(name, "evolve", count=10) == first[:10]
    assert stream(name, "evolve", count=30, seed=1) != first


@pytest.mark.parametrize("name", STREAMS)
def test_the_splits_share_nothing_whatever_their_seeds(name: str) -> None:
    drawn: dict[Split, set[object]] = {
        split: {
            CONTENT[name](task)
            for seed in range(5)
            for task in stream(name, split, count=60, seed=seed)
        }
        for split in SPLITS
    }
    assert len(drawn["evolve"]) >= 15
    assert drawn["evolve"] & drawn["test"] == set()


@pytest.mark.parametrize("name", ["ages", "sentiment"])
def test_the_splits_share_no_word_of_their_vocabulary(name: str) -> None:
    words = [
        frozenset[str]().union(*(CONTENT[name](task) for task in stream(name, split, count=100)))
        for split in SPLITS
    ]
    assert words[0] & words[1] == set()


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("name", STREAMS)
def test_tasks_load_and_only_right_answers_score(name: str, split: Split, tmp_path: Path) -> None:
    out = printed(ran(write, name, "--count", "40", "--split", split, "--seed", "3"))
    file = tmp_path / "tasks.jsonl"
    file.write_text(out)
    tasks = load_tasks(file, Catalogue.of_host())
    assert tasks == stream(name, split, count=40, seed=3)
    assert len({task.query for task in tasks}) == 40
    answers = {task.answer for task in tasks}
    assert {(task.niche, f"-{split}-" in task.id) for task in tasks} == {(name, True)}
    for task in tasks[::4]:
        assert scored(task, task.answer) == 1
        assert scored(task, f" {task.answer}.") == 1
        assert [scored(task, other) for other in answers - {task.answer}] == [0] * (
            len(answers) - 1
        )


def scored(task: Task, answer: str) -> float:
    return found(task, answer).value


def test_a_label_counts_alone_and_in_any_case() -> None:
    for task in stream("sentiment", "evolve", count=10):
        assert scored(task, f"{task.answer.title()}.") == 1
        assert scored(task, "It is positive or negative.") == 0


def test_products_and_coins_are_right() -> None:
    for task in stream("products", "evolve", count=40):
        first, second = map(int, numbers(task.query))
        assert int(task.answer) == first * second
    for task in stream("coins", "test", count=40):
        first, second = sorted(map(int, numbers(task.query)))
        right = {"finds": first + second, "spends": second - first, "jars": first * second}
        (value,) = (value for word, value in right.items() if word in task.query)
        assert int(task.answer) == value


def test_a_stream_that_runs_dry_says_so() -> None:
    with pytest.raises(InputError, match=r"products-evolve-0 has only \d+ tasks\."):
        stream("products", "evolve", count=10_000)
    with pytest.raises(InputError, match=r"no stream 'sums'\. Known: products, coins"):
        stream("sums", "test", count=1)


@pytest.mark.parametrize("name", STREAMS)
def test_every_candidate_makes_another_team_and_shows_no_test_item(name: str) -> None:
    known = Catalogue.of_host()
    solo = load_team(SOLO, known)
    queries = [task.query for split in SPLITS for task in stream(name, split, count=60)]
    for candidate in CANDIDATES[name]:
        child = apply(solo, candidate.edits, known)
        assert not isinstance(child, RejectedEdits), (candidate.name, child.problems)
        assert child != solo
        assert not any(
            query in agent.prompt for query in queries for agent in child.agents.values()
        )


def played(request: Request) -> Reply:
    """Know the product only as an expression, and otherwise be right for even products only."""
    question = str(request["messages"][-1]["content"])
    first, second = map(int, re.findall(r"\d+", question)[:2])
    if "expression" in json.dumps(request.get("response_format", {})):
        return Reply.json({"expression": f"{first} * {second}"})
    if "response_format" in request:
        return Reply.json({"answer": 0})
    return Reply(text=str(first * second if first * second % 4 == 0 else 0))


def test_headroom_chooses_on_one_split_and_tests_on_the_other(tmp_path: Path) -> None:
    with ScriptedModel(played) as model:
        arguments = ["products", "--evolve", "8", "--test", "12", "--pool", str(tmp_path / "pool")]
        arguments += ["--model", f"m@{model.api_base}"]
        result = ran(headroom, *arguments)
        assert result.exit_code == 0, result.output
        calls = len(model.calls)
        again = ran(headroom, *arguments)
        assert (again.output, len(model.calls)) == (result.output, calls)
    assert "| calculating, the best on the evolve split | 12 | 1.00 |" in result.output
    pool = Pool.open(tmp_path / "pool")
    assert set(pool.members) == {"solo", *(product.name for product in CANDIDATES["products"])}
    child = pool.member("calculating")
    assert (child.lineage.parents, child.lineage.operator) == (("solo",), "scripted")
    assert child.lineage.edits
    assert child.statistics.n == 8  # what was held out does not count for evolution
    by_split = [
        (entry.value["team"], entry.value.get("split", "evolve"))
        for entry in pool.entries()
        if entry.value["kind"] == "evaluated"
    ]
    assert by_split.count(("calculating", "test")) == 12
    assert by_split.count(("careful", "test")) == 0


def test_a_failing_provider_is_no_score(tmp_path: Path) -> None:
    with ScriptedModel(Reply.error(401)) as model:
        arguments = ["ages", "--evolve", "3", "--test", "1", "--pool", str(tmp_path / "pool")]
        result = ran(headroom, *arguments, "--model", f"m@{model.api_base}")
    assert result.exit_code == 1
    assert "task ages-evolve-0-0000: agent solver: " in result.stderr
    assert "Traceback" not in result.stderr
    assert Pool.open(tmp_path / "pool").member("solo").statistics.n == 0


def test_the_program_writes_json_lines() -> None:
    done = python("-m", "coterie.benchmarks.streams", "dates", "--count", "2", check=True)
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [
        "dates-evolve-0-0000",
        "dates-evolve-0-0001",
    ]
