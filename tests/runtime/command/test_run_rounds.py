"""`mas-run` on a team that repeats: killed in any round, resumed, replayed, and what people see."""

import json
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime.doubles import Reply, ScriptedModel, message_text

from .test_run_resume import mas_run, run_of, started

VOICES = {
    "Write the text": ["Tides.", "Tides come.", "Tides come and go.", "Tides come and go."],
    "Check the writer's": ["why?", "when?", "content", "content"],
    "Read the writer's": ["short", "content", "content", "content"],
    "as it goes out": ["Tides come and go twice a day."],
}
"""What each agent of the seed says, known by its prompt: one thing in each round."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "task.json").write_text(json.dumps({"id": "t", "query": "One sentence on tides."}))
    return tmp_path


class Provider:
    """Answers by how far an agent has come, hangs at one call, and counts what it answered."""

    def __init__(self, hangs_at: tuple[str, int] = ("", 0)) -> None:
        self.answered = Counter[str]()
        self.hanging = threading.Event()
        self._hangs_at = hangs_at

    def __call__(self, request: Any) -> Reply:
        text = message_text(request)
        voice = next(name for name in VOICES if name in text)
        so_far = [name in text.split("You have worked")[-1] for name in VOICES[voice]]
        place = so_far.index(True) + 1 if "You have worked" in text and True in so_far else 0
        if (voice, place) == self._hangs_at:
            self.hanging.set()
            return Reply.fault("hang")
        self.answered[voice] += 1
        return Reply(text=VOICES[voice][place])


WRITTEN = "Tides come and go twice a day.\n"


@pytest.mark.parametrize(
    "moment",
    [("Write the text", 1), pytest.param(("Read the writer's", 0), marks=pytest.mark.nightly)],
)
def test_a_run_killed_in_any_round_goes_on_there(folder: Path, moment: tuple[str, int]) -> None:
    before = Provider(hangs_at=moment)
    with ScriptedModel(before) as model:
        address = f"m@{model.api_base}"
        process = started(folder, "seed:write_and_revise", "task.json", "--model", address)
        assert before.hanging.wait(300)
        process.kill()
        process.communicate()
    run, after = run_of(folder), Provider()
    with ScriptedModel(after) as model:
        code, out, err = mas_run(folder, "--resume", str(run), "--model", f"m@{model.api_base}")
    assert (code, out) == (0, WRITTEN), err
    total = before.answered + after.answered
    assert sum(total.values()) <= 10 + 1  # at most the call in flight beside the one that hung
    result = json.loads((run / "result.json").read_text())
    usage = result["usage"]
    assert result["rounds"] == 3
    assert usage["calls"] - usage["uncertain_calls"] == 10
    assert 1 <= usage["uncertain_calls"] <= 2
    code, out, _ = mas_run(folder, "--replay", str(run), "--verify")
    assert (code, out.split(":")[0]) == (0, "verified")


def test_people_see_the_rounds(folder: Path) -> None:
    with ScriptedModel(Provider()) as model:
        address = f"m@{model.api_base}"
        code, out, err = mas_run(folder, "seed:write_and_revise", "task.json", "--model", address)
    assert (code, out) == (0, WRITTEN)
    assert "write_and_revise: 4 agents, at most 3 rounds until unchanged; default = m" in err
    texts = [line.split(" s  ")[1] for line in err.splitlines() if " s  " in line]
    marks = [line for line in texts if line.startswith(("round", "after"))]
    assert marks == ["round 1", "round 2", "round 3", "after the rounds"]
    assert "3 rounds, 10 calls" in err
