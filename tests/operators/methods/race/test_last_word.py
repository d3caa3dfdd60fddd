"""The last word: a second round only where it may show more, and an interval that covers."""

import json
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest

from coterie.operators.methods.race.last_word import EARLY, LAST
from coterie.operators.methods.race.result import RaceResult
from coterie.operators.methods.race.spending import ROUNDS
from coterie.runtime.doubles import Reply
from coterie.runtime.doubles.script import Request

from .test_race import HELPS, raced, with_tasks, world


def weak(request: Request) -> Reply:
    """Let the sentence that helps make every seventh sum right, beside every fifth."""
    text = json.dumps(request["messages"])
    if "response_format" in request or HELPS not in text:
        return world(request)
    number = int(text.split("What is ")[-1].split(" ")[0])
    return Reply(text="7" if number % 5 == 0 or number % 7 == 1 else "8")


@pytest.mark.parametrize(("script", "rounds"), [(world, 1), (weak, 2)])
def test_a_second_round_is_run_if_the_first_shows_no_gain(
    tmp_path: Path, script: object, rounds: int
) -> None:
    folder = with_tasks(tmp_path)
    team = (folder / "solo.yaml").read_text().replace("temperature: 0", "temperature: 1")
    (folder / "solo.yaml").write_text(team)
    words = ("--pool", "pool", "--budget", "calls=400")
    raced(folder, *words, script=script, label="race.yaml").ended(0)
    result = RaceResult.read(folder / "pool" / "evolutions" / "race")
    word = result and result.last_word
    assert word
    assert word.gain > 0
    assert word.usage.calls == 2 * rounds * len(word.tasks)


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
