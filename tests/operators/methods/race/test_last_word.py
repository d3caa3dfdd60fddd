"""The last word: a second round only where it may show more, and an interval that covers."""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest

from coterie.operators.methods.race.last_word import EARLY, LAST
from coterie.operators.methods.race.result import RaceResult
from coterie.operators.methods.race.spending import ROUNDS
from coterie.runtime.doubles import Reply
from coterie.runtime.doubles.script import Request

from ....support.commands import CommandResult
from .test_race import HELPS, pleased, raced, refusing, with_tasks, world

Script = Callable[[Request], Reply]


def weak(request: Request) -> Reply:
    """Let the sentence that helps make every seventh sum right, beside every fifth."""
    text = json.dumps(request["messages"])
    if "response_format" in request or HELPS not in text:
        return world(request)
    number = int(text.split("What is ")[-1].split(" ")[0])
    return Reply(text="7" if number % 5 == 0 or number % 7 == 1 else "8")


@pytest.mark.parametrize(("script", "rounds"), [(world, 1), (weak, 2)])
def test_a_second_round_is_run_if_the_first_shows_no_gain(
    tmp_path: Path, script: Script, rounds: int
) -> None:
    _sampling(with_tasks(tmp_path))
    _raced(tmp_path, "calls=400", script=script).ended(0)
    word = _result(tmp_path).last_word
    assert word
    assert word.gain > 0
    assert word.usage.calls == 2 * rounds * len(word.tasks)
    assert (word.level, word.is_whole) == ((EARLY, LAST)[rounds - 1], True)


def judging(useless: Sequence[str] = ()) -> Script:
    """Let a judge like singing, who gives no score where a text is in the question."""

    def script(request: Request) -> Reply:
        text = json.dumps(request["messages"])
        if "score" not in str(request.get("response_format")):
            return pleased(request)
        score = "fine" if any(each in text for each in useless) else 0.9 if "la la" in text else 0
        return Reply.json({"reason": "Hm.", "score": score})

    return script


def test_pairs_without_a_score_are_paid_for_and_count_as_no_task(tmp_path: Path) -> None:
    folder = _judged(tmp_path)
    outcome = _raced(folder, "calls=300", script=judging(["What is 1 ", "What is 2"])).ended(0)
    result = _result(folder)
    assert result.last_word
    assert result.last_word.gain == pytest.approx(0.9)
    assert len(result.last_word.tasks) < 27
    assert result.spent.calls == outcome.calls


def test_a_judge_who_scores_no_held_back_task_halts_the_race(tmp_path: Path) -> None:
    folder = _judged(tmp_path)
    (folder / "test.jsonl").write_text(_lines(range(100, 104)))
    words = ("--test", "test.jsonl")
    outcome = _raced(folder, "calls=300", *words, script=judging(["What is 10"]))
    assert "the last word has no score: " in outcome.ended(1).err


@pytest.mark.parametrize("calls", [210, 211])
def test_a_judged_last_word_takes_a_third_of_the_budget(tmp_path: Path, calls: int) -> None:
    folder = _sampling(_judged(tmp_path))
    outcome = _raced(folder, f"calls={calls}", script=judging()).ended(0)
    result = _result(folder)
    assert result.last_word
    assert 60 <= result.last_word.usage.calls <= 70
    assert 195 < result.spent.calls == outcome.calls


def test_a_limit_in_the_first_round_ends_the_last_word(tmp_path: Path) -> None:
    folder = _sampling(with_tasks(tmp_path))
    long = {"id": "long", "query": "What is 101 + 6? " + "Please. " * 60_000, "answer": "7"}
    (folder / "test.jsonl").write_text(_lines(range(100, 112), answer="7") + json.dumps(long))
    _raced(folder, "tokens=40000", "--test", "test.jsonl", script=weak).ended(0)
    word = _result(folder).last_word
    assert word
    assert word.low < 0 < word.gain  # so another round would follow
    assert 4 <= len(word.tasks) < 12
    assert word.usage.calls == 2 * len(word.tasks)
    assert (word.level, word.is_whole) == (LAST, False)


def test_too_few_held_out_tasks_are_refused_before_anything_is_spent(tmp_path: Path) -> None:
    folder = with_tasks(tmp_path)
    (folder / "test.jsonl").write_text(_lines(range(100, 103), answer="7"))
    words = ("--test", "test.jsonl")
    assert "3 held-out tasks: fewer than 4" in raced(folder, *words, script=refusing).ended(2).err


@pytest.mark.parametrize("share", [1.2, 1.6, float(ROUNDS)])
def test_reported_intervals_cover_the_gain_whatever_it_is(share: float) -> None:
    """Normal means after one round and after `share` rounds, in standard errors of the first."""
    chance = np.random.default_rng(1)
    early, more = chance.standard_normal((2, 100_000))
    late = (early + (share - 1) ** 0.5 * more) / share
    bounds = [NormalDist().inv_cdf((1 + level) / 2) for level in (EARLY, LAST)]
    bounds[1] /= share**0.5
    for gain in np.arange(0, 6, 0.25):
        ends = (gain + early > bounds[0]) | (gain + early <= 0)
        covers = np.where(ends, abs(early) <= bounds[0], abs(late) <= bounds[1])
        claims = np.where(ends, gain + early > bounds[0], gain + late > bounds[1])
        assert covers.mean() >= 0.95
        assert gain > 0 or claims.mean() <= 0.035


def _sampling(folder: Path) -> Path:
    team = (folder / "solo.yaml").read_text().replace("temperature: 0", "temperature: 1")
    (folder / "solo.yaml").write_text(team)
    return folder


def _judged(folder: Path) -> Path:
    (with_tasks(folder) / "tasks.jsonl").write_text(_lines(range(60)))
    return folder


def _lines(numbers: Iterable[int], **fields: str) -> str:
    tasks = [{"id": f"t{n}", "query": f"What is {n} + {7 - n}?", **fields} for n in numbers]
    return "".join(json.dumps(task) + "\n" for task in tasks)


def _raced(folder: Path, budget: str, *words: str, script: Script) -> CommandResult:
    words = ("--pool", "pool", "--budget", budget, *words)
    return raced(folder, *words, script=script, label="race.yaml")


def _result(folder: Path) -> RaceResult:
    result = RaceResult.read(folder / "pool" / "evolutions" / "race")
    assert result is not None
    return result
