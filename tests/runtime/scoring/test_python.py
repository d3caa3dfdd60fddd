"""Functions of one's own as scorers: what they are given, and what they may return."""

import asyncio
from pathlib import Path

import pytest

from coterie.runtime import Evidence, Score
from coterie.runtime.jail import Jails
from coterie.runtime.scoring import python
from coterie.runtime.scoring.scorers import ScorerError, score
from coterie.schema import ScorerChoice, Task
from coterie.schema.host.python_scorer import load_python_scorer


def scored(folder: Path, text: str, *, name: str = "mine", reference: str | None = "7") -> Score:
    (folder / "own.py").write_text(text)
    own = load_python_scorer(f"own.py:{name}", folder)
    choice = ScorerChoice(name=name, options={"least": 2}, python=own)
    task = Task(id="t", query="q", answer=reference, scorer=choice)
    result = asyncio.run(score(Evidence(task=task, answer="the answer", jails=Jails())))
    assert result is not None
    return result


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("def mine(answer): return len(answer) / 100", 0.1),
        ("def mine(answer, reference, options): return options['least'] == 2", 1),
        ("async def mine(evidence): return evidence.task.answer == 'no'", 0),
        (
            "from coterie.runtime import Score\n"
            "def mine(task): return Score(value=0.5, reason=task.id)",
            0.5,
        ),
    ],
)
def test_a_number_a_truth_value_or_a_score_counts(tmp_path: Path, text: str, value: float) -> None:
    assert scored(tmp_path, text).value == value


def test_who_takes_no_reference_needs_none(tmp_path: Path) -> None:
    assert scored(tmp_path, "def mine(answer): return True", reference=None).value == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def mine(answer): return 'good'", "the scorer mine returned 'good'. Return a"),
        ("def mine(answer): return 1.5", r"returned 1\.5\. Return a number from 0 to 1, True, F"),
        ("def mine(answer): return float('nan')", "returned NaN"),
        ("def mine(answer):\n    return 1 / 0", r"mine failed: ZeroDivisionError.*own\.py:2\)"),
        ("def mine(answer): raise SystemExit(3)", "mine: it ended with SystemExit 3"),
        ("async def mine(answer): raise KeyboardInterrupt", "it ended with KeyboardInterrupt"),
    ],
)
def test_what_is_no_score_is_a_failure(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ScorerError, match=message):
        scored(tmp_path, text)


def test_who_takes_too_long_gives_no_score(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python, "SECONDS", 0)
    text = "import asyncio\nasync def mine(answer): await asyncio.Event().wait()"
    with pytest.raises(ScorerError, match="the scorer mine took longer than 0 seconds"):
        scored(tmp_path, text)
