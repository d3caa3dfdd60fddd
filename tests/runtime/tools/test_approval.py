"""Asking a person before a tool is called, and what becomes of the answer."""

import asyncio
import os
import sys
from typing import Any

import pytest

from coterie.runtime.repository.workspace import Workspace
from coterie.runtime.tools import Toolbox, ToolError
from coterie.runtime.tools.approval import Approvals, AtTerminal, terminal_approver
from coterie.schema import InputError

ASK = {"read_file": "ask", "list_files": "allow"}


def box(approver: Any = None) -> Toolbox:
    return Toolbox(approvals=Approvals(ASK, approver))  # type: ignore[arg-type]


async def read(toolbox: Toolbox, workspace: Workspace, emit: Any) -> str:
    await toolbox.prepare(["read_file", "list_files"])
    hand = toolbox.granted(["read_file", "list_files"], workspace, emit)
    await hand["list_files"].call({})
    return await hand["read_file"].call({"path": "notes.txt", "line_count": 1})


@pytest.mark.parametrize("allows", [True, False])
def test_a_person_is_shown_the_call_and_decides(workspace: Workspace, allows: bool) -> None:
    asked: list[Any] = []
    events: list[tuple[str, Any]] = []

    async def approve(*about: Any) -> bool:
        asked.append(about)
        return allows

    def emit(event: str, /, **fields: Any) -> None:
        events.append((event, fields.get("error", fields.get("allowed"))))

    work = read(box(approve), workspace, emit)
    no = "read_file: a person was asked and does not allow this call. Go on without it."
    if allows:
        assert asyncio.run(work).startswith("one")
    else:
        with pytest.raises(ToolError, match=no):
            asyncio.run(work)
    assert asked == [("agent", "read_file", {"path": "notes.txt", "line_count": 1})]
    assert events == [
        ("tool_call", None),
        ("approval_asked", None),
        ("approval_given", allows),
        ("tool_call", None if allows else no),
    ]


def test_a_terminal_asks_about_one_call_at_a_time() -> None:
    class Terminal(AtTerminal):
        open_questions = 0

        async def _line(self) -> str:
            self.open_questions += 1
            assert self.open_questions == 1
            await asyncio.sleep(0)
            self.open_questions -= 1
            return "yes"

    async def ask() -> list[bool]:
        ask = Terminal(sys.stdin)
        return await asyncio.gather(*(ask("agent", "read_file", {}) for _ in range(3)))

    assert asyncio.run(ask()) == [True] * 3


def test_a_question_shows_the_unseen_inertly(capsys: pytest.CaptureFixture[str]) -> None:
    class Terminal(AtTerminal):
        async def _line(self) -> str:
            return "no"

    hidden = "\x1b]0;x\x07a\u202e\u200b"
    assert not asyncio.run(Terminal(sys.stdin)(f"w{hidden}\nAllow", f"t{hidden}", {"p": hidden}))
    assert capsys.readouterr().err.splitlines()[0] == (
        r'wa Allow wants to have ta called: {"p": "\u001b]0;x\u0007a\u202e\u200b"}'
    )


def test_where_nobody_can_be_asked_one_sentence_says_what_to_write() -> None:
    with pytest.raises(InputError) as refused:
        box().approvals.refuse_unasked(["read_file", "list_files"])
    assert str(refused.value) == (
        "tools.yaml wants a person asked before read_file is called, and there is no terminal to"
        " ask at. To have it called without asking, write --approve read_file."
    )
    box().approvals.refuse_unasked(["list_files"])
    assert terminal_approver() is None


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (b"y\nno\n", [True, False]),
        (b"a\n", [True, True]),
        (b"\nyes\n", [False, True]),
        (b"", [False, False]),
    ],
)
async def test_a_line_at_the_terminal_is_the_answer(
    capsys: pytest.CaptureFixture[str], typed: bytes, said: list[bool]
) -> None:
    reading, writing = os.pipe()
    os.write(writing, typed)
    os.close(writing)
    with os.fdopen(reading) as answers:
        person = AtTerminal(answers)
        assert [await person("solver", "wipe", {"path": "\x1b[2Jx\ny"}) for _ in range(2)] == said
    shown = capsys.readouterr().err
    assert 'solver wants to have wipe called: {"path": "\\u001b[2Jx\\ny"}' in shown
    assert "\x1b" not in shown


async def test_a_person_answers_one_question_after_another(
    capsys: pytest.CaptureFixture[str],
) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"Yes.\nDo it.\n\nNo.\n")
    os.close(writing)
    with os.fdopen(reading) as answers:
        person = AtTerminal(answers)
        both = (person.respond("May\x1b[2J we?"), person.respond("Must we?"))
        assert [*await asyncio.gather(*both)] == ["Yes.\nDo it.\n", "No.\n"]
    shown = capsys.readouterr().err
    assert shown.index("May we?") < shown.index("Must we?")


def test_long_arguments_say_that_there_is_more(capsys: pytest.CaptureFixture[str]) -> None:
    reading, writing = os.pipe()
    os.close(writing)
    with os.fdopen(reading) as answers:
        asyncio.run(AtTerminal(answers)("solver", "write", "x" * 5_000))
    assert "x [1002 more characters are not shown]" in capsys.readouterr().err
