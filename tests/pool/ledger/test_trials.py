"""Trials on a task, found again in the ledger: those that are meant, and as far as is said."""

from pathlib import Path

import pytest

from coterie.pool.ledger.changes import Evaluated
from coterie.pool.ledger.ledger import Ledger
from coterie.pool.ledger.trials import TrialIndex
from coterie.pool.values.layout import LEDGER
from coterie.pool.values.statistics import Trial, TrialPart
from coterie.schema.values.errors import StorageError


def test_what_only_looks_like_a_trial_that_is_meant_does_not_count(tmp_path: Path) -> None:
    ledger, trials = Ledger(tmp_path / LEDGER), TrialIndex(ledger=tmp_path / LEDGER)
    workers = {"w": TrialPart(member="ada")}
    evaluateds = [
        Evaluated(member="vote", trial=Trial(task="t", score=0.5, agents=workers)),
        Evaluated(member="vote", trial=Trial(task="t", score=1.0)),
        Evaluated(member="other", trial=Trial(task="t", score=0.0)),
        Evaluated(member="vote", trial=Trial(task="u", score=0.0)),
        Evaluated(member="vote", trial=Trial(task="t")),
        Evaluated(member="vote", trial=Trial(task="t", score=0.25, chosen=True)),
    ]
    for number, tried in enumerate(evaluateds):
        ledger.append(tried.value(), op=f"{number}")
    for tried, entry in zip(evaluateds, ledger.read(), strict=True):
        if tried.trial.score is not None and tried.trial.kind == "plain":
            trials.take(tried.members, tried.trial.task, entry.start)
        if tried.trial.kind == "plain":
            trials.places.add("vote on t", entry.start)  # as if hashes were equal
            trials.places.add("nobody on t", entry.start)
    ends = [entry.end.offset for entry in ledger.read()]
    known = [trials.on("vote", "t", upto=end) for end in (0, ends[0])]
    assert known[0] is None
    assert known[1] is not None
    assert known[1].score == 0.5
    assert trials.on("nobody", "t") is None
    agents = trials.on("ada", "t")
    assert agents is not None
    assert (agents.n, agents.score) == (1, 0.5)
    (tmp_path / LEDGER).unlink()
    with pytest.raises(StorageError, match="cannot be read: No such file"):
        trials.on("vote", "t")
