"""Progress of an evaluation: how far, how good, how fast, how long still, and what it costs."""

import pytest

from coterie.benchmarks.command.progress import Progress
from coterie.runtime.values.usage import Usage

from ..kept import sample


def shown(progress: Progress, *scores: float | None, at: float) -> str:
    progress.quiet = True
    usage = Usage(calls=1, prompt_tokens=900, completion_tokens=100, usd=0.01)
    for number, score in enumerate(scores):
        progress(sample(str(number), score, usage=usage))
    return progress.line(at)


def test_a_line_says_all_that_one_wants_to_know() -> None:
    line = shown(Progress(total=604, started=0.0), 1.0, 1.0, 0.0, None, at=2.0)
    assert line == "     4 of 604  score 0.667  2/s  5:00 left  $0.0400, 4000 tokens  1 unscored"


def test_what_an_earlier_process_made_says_nothing_of_the_rate() -> None:
    line = shown(Progress(total=7206, earlier=4, started=0.0), 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, at=1.0)
    assert "2/s  1:00:00 left" in line


def test_nothing_is_said_of_what_is_not_known_yet() -> None:
    assert shown(Progress(total=9, started=0.0), at=1.0) == "     0 of 9  free, 0 tokens"
    known = shown(Progress(total=9, earlier=1, started=0.0), None, at=1.0)
    assert known == "     1 of 9  $0.0100, 1000 tokens  1 unscored"


def test_the_last_sample_is_always_shown(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(total=2)
    progress(sample("a", 1.0))
    assert capsys.readouterr().err == ""
    progress(sample("b", 0.0))
    progress.end()
    assert "2 of 2  score 0.500" in capsys.readouterr().err


def test_quiet_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(total=1, quiet=True)
    progress(sample("a", 1.0))
    progress.end()
    assert capsys.readouterr().err == ""
