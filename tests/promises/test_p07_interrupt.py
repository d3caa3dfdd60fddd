"""P7: Ctrl-C at any moment ends a run at once and in order, and the run can be resumed."""

import json
import random
import re
import signal
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

from coterie.runtime.command.run import main as mas_run_here
from coterie.runtime.doubles import Call, Reply, ScriptedModel, message_text
from coterie.runtime.jail.detect import detect
from coterie.runtime.jail.scratch import sweep
from coterie.schema import load_team

from ..support.commands import invoked_in
from ..support.shares import every
from .on_terminal import PATIENCE, OnTerminal, on_terminal

TEAM = """\
name: team
agents:
  a: {agent_type: LLM, prompt: "You are [a]."}
  b: {agent_type: LLM, prompt: "You are [b]."}
  c: {agent_type: LLM, prompt: "You are [c]."}
  d: {agent_type: LLM, prompt: "You are [d]."}
  e: {agent_type: LLM, prompt: "You are [e]."}
topology:
  reports_to: {a: [d], b: [d], c: [e], d: [e]}
"""
CALLS = 5
AT_ONCE = 3
"""Agents that work at the same time."""
ANSWER = "words of e"
PARTS = 8
THINKING = 0.1
"""Seconds that the model thinks."""
FOR_EVER = 10 * PATIENCE

How = Literal["ctrl_c", "twice", "sigterm"]
ENDS_BY = {"ctrl_c": signal.SIGINT, "twice": signal.SIGINT, "sigterm": signal.SIGTERM}


@dataclass(frozen=True, kw_only=True)
class Moment:
    """When a run is interrupted, and how.

    Attributes:
        how: By which key or signal. `twice` presses Ctrl-C again after `gap` seconds.
        calls: So many calls must have arrived; one more than the run makes: all must be answered.
        delay: So many seconds must have passed since.
    """

    how: How
    calls: int
    delay: float
    gap: float

    @property
    def is_late(self) -> bool:
        """Whether the run has all its answers, and may end before it is interrupted."""
        return self.calls > CALLS


def moments(count: int) -> list[Moment]:
    """Moments of all kinds, at random."""
    chance = random.Random(7)
    return [
        Moment(
            how=chance.choice(("ctrl_c", "ctrl_c", "twice", "sigterm")),
            calls=(calls := number % (CALLS + 2)),
            # Before the first call a whole process starts, which takes longer.
            delay=chance.uniform(0, 2 * THINKING if calls else 0.8),
            gap=chance.uniform(0, 0.03),
        )
        for number in range(count)
    ]


def mas_run(
    model: ScriptedModel, folder: Path, *arguments: str
) -> AbstractContextManager[OnTerminal]:
    """Start the command in a folder, with a folder of its own for what is temporary."""
    (folder / "tmp").mkdir(exist_ok=True)
    environment = {"TMPDIR": str(folder / "tmp"), "TERM": "xterm"}
    models = ("--model", f"scripted@{model.api_base}")
    command = ("-m", "coterie.schema.command", "run", *arguments, *models)
    return on_terminal(command, cwd=folder, environment=environment)


@dataclass(eq=False)
class Interrupted:
    """A run that is interrupted at a moment, and what is left of it."""

    moment: Moment
    folder: Path
    may_end: threading.Event = field(default_factory=threading.Event)
    code: int = 0

    def check(self) -> None:
        """Interrupt the run, look at what is left, and go on with it."""
        self.folder.mkdir()
        (self.folder / "team.yaml").write_text(TEAM)
        if self.moment.is_late:
            self.may_end.set()
        with ScriptedModel(self._reply) as model:
            with mas_run(model, self.folder, "team.yaml", "--query", "Work.") as running:
                self._interrupt(running, model)
                assert running.left_over() == []
            text = running.shown.decode()
            assert list((self.folder / "tmp").iterdir()) == []
            left = self._left(text)
            if left is None:
                assert not model.calls
            else:
                self._resume(model, left)

    def _reply(self, request: Any) -> Reply:
        """Answer slowly; the last agent only once the run may end."""
        result = re.search(r"You are \[(\w)\]", message_text(request))
        assert result is not None
        hangs = result[1] == "e" and not self.may_end.is_set()
        return Reply(text=f"words of {result[1]}", latency=FOR_EVER if hangs else THINKING)

    def _interrupt(self, running: OnTerminal, model: ScriptedModel) -> None:
        """Wait for the moment, interrupt the run, and wait for its end."""
        moment = self.moment
        model.wait_for(
            lambda calls: (
                len(calls) >= moment.calls or (moment.is_late and len(answered(calls)) == CALLS)
            ),
            timeout=PATIENCE,
        )
        time.sleep(moment.delay)  # the moment is what this test varies
        interrupt(running, moment.how, gap=moment.gap)
        self.code = running.wait()

    def _left(self, message: str) -> Path | None:
        """Look at the run's folder; give it if the run can be resumed."""
        number = ENDS_BY[self.moment.how]
        folders = list((self.folder / "runs").glob("*"))
        if not folders:
            # Until 3.12, a class that is being made on import turns it into another error.
            signs = ("init_import_site", "__set_name__")
            python_was_starting = self.code == 1 and any(sign in message for sign in signs)
            assert self.code in {128 + number, -number} or python_was_starting, message
            return None
        (left,) = folders
        assert "Traceback" not in message, message
        orderly = {128 + number} | ({0, -number} if self.moment.is_late else set())
        assert self.code in (orderly | {-number} if self.moment.how == "twice" else orderly), (
            message
        )
        for line in events(left):
            json.loads(line)
        result = left / "result.json"
        if self.moment.how != "twice" or result.exists():
            status = json.loads(result.read_text())["status"]
            assert self.code != 0 or status == "done"
            assert status in ({"interrupted", "done"} if self.moment.is_late else {"interrupted"})
        if not (left / "run.json").exists():  # the second Ctrl-C came while it was being made
            assert self.moment.how == "twice"
            return None
        load_team(left / "team.yaml")
        return left

    def _resume(self, model: ScriptedModel, left: Path) -> None:
        """Go on with the run: it comes to its answer, and what was paid is not paid again."""
        self.may_end.set()
        kept = [line for line in events(left) if '"type":"model_call"' in line]
        lost = len(answered(model.calls)) - len(kept)
        assert 0 <= lost <= AT_ONCE
        words = ["--resume", str(left), "--quiet", "--model", f"scripted@{model.api_base}"]
        resumed = invoked_in(self.folder, mas_run_here, words, "mas-run")
        assert (resumed.code, resumed.out.splitlines()[0]) == (0, ANSWER), resumed.err
        result = json.loads((left / "result.json").read_text())
        assert (result["status"], result["answer"]) == ("done", ANSWER)
        assert len(answered(model.calls)) <= CALLS + lost
        assert [json.loads(line)["n"] for line in events(left)] == [
            *range(1, len(events(left)) + 1)
        ]


def interrupt(running: OnTerminal, how: How, *, gap: float = 0.0) -> None:
    """Interrupt a command."""
    if how == "sigterm":
        running.terminate()
        return
    running.press_ctrl_c()
    if how == "twice":
        time.sleep(gap)
        running.press_ctrl_c()


def answered(calls: Sequence[Call]) -> list[Call]:
    """The calls that got their answer."""
    return [call for call in calls if call.finished is not None and not call.abandoned]


def events(folder: Path) -> list[str]:
    """The lines of a run's list of events."""
    listed = folder / "events.jsonl"
    return listed.read_text().splitlines() if listed.exists() else []


@pytest.mark.parametrize("part", every(2, range(PARTS)))
def test_p07_any_moment(part: int, nightly: bool, tmp_path: Path) -> None:
    """An eighth of the moments: half of the parts on every change, from start to end.

    A run that did not end would wait for a model that hangs, longer than anybody waits for the run.
    """
    chosen = moments(200 if nightly else PARTS)[part::PARTS]
    interrupted = [
        Interrupted(moment, tmp_path / str(number)) for number, moment in enumerate(chosen)
    ]
    for item in interrupted:
        item.check()
    assert len(interrupted) == (25 if nightly else 1)


CODERS = """\
name: team
agents:
  a: {agent_type: CodeAgent, prompt: "You are [a]."}
  b: {agent_type: CodeAgent, prompt: "You are [b]."}
  c: {agent_type: LLM, prompt: "You are [c]."}
topology:
  reports_to: {a: [c], b: [c]}
"""


MOMENTS = [round(random.Random(seed).uniform(0.2, 3.0), 2) for seed in range(20)]


@pytest.mark.skipif(detect().tier is None, reason="this machine has no jail for agents' code")
@pytest.mark.parametrize(
    ("how", "moment"),
    [
        *(("ctrl_c", None), ("twice", None), ("sigterm", None)),
        *(pytest.param("ctrl_c", moment, marks=pytest.mark.nightly) for moment in MOMENTS),
    ],
)
def test_p07_code_under_way_ends_too(
    how: How, moment: float | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Code is under way after two answers, or may be at so many seconds after the start.

    A second Ctrl-C may come before the folders of jails are removed. Then whoever sweeps next
    removes them.
    """
    (tmp_path / "team.yaml").write_text(CODERS)
    working = Reply.code(f"import time\ntime.sleep({FOR_EVER})")
    with (
        ScriptedModel(working) as model,
        mas_run(model, tmp_path, "team.yaml", "--query", "Work.") as running,
    ):
        if moment is None:
            model.wait_for(lambda calls: len(answered(calls)) == 2, timeout=PATIENCE)
        else:
            time.sleep(moment)
        interrupt(running, how)
        code = running.wait()
        assert running.left_over() == []
    number = ENDS_BY[how]
    assert code in {128 + number, -number}, running.shown.decode()
    if how == "twice":
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
        sweep()
    assert list((tmp_path / "tmp").iterdir()) == []
    for left in (tmp_path / "runs").glob("*"):
        if how != "twice":
            assert json.loads((left / "result.json").read_text())["status"] == "interrupted"
        assert [json.loads(line)["n"] for line in events(left)]
        load_team(left / "team.yaml")
    assert moment or [*(tmp_path / "runs").iterdir()]
