"""Models that are people or programs without an API: questions and answers are files."""

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime.gateway import ChatAnswer, ChatRequest, Gateway, ToolRequest
from coterie.runtime.values.budget import Budget
from coterie.runtime.values.usage import Usage
from coterie.schema import Model

from ...virtual_time import run_virtually, virtually

TIMEOUT, LATE = 5.0, 20.0
"""Seconds that a model may take, and after which the program answers."""
ADD = {"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}

Event = tuple[str, Mapping[str, Any]]
Program = Callable[[Path], Coroutine[Any, Any, None]]


def inbox(folder: Path) -> Model:
    return Model(alias="boss", model=f"inbox:{folder}", timeout=TIMEOUT)


def question(text: str = "May we?", **fields: Any) -> ChatRequest:
    return ChatRequest(model="boss", messages=({"role": "user", "content": text},), **fields)


def asked(
    folder: Path, program: Program, *requests: ChatRequest, events: list[Event] | None = None
) -> list[ChatAnswer]:
    """Ask all at once, while a program looks after the folder."""

    def tell(event: str, /, **fields: Any) -> None:
        if events is not None:
            events.append((event, fields))

    async def calls() -> list[ChatAnswer]:
        async with Gateway({"boss": inbox(folder)}) as gateway, asyncio.TaskGroup() as group:
            answering = group.create_task(program(folder))
            answers = await asyncio.gather(
                *(gateway.chat(request, tell=tell) for request in requests)
            )
            answering.cancel()
        return answers

    return run_virtually(calls())


def names(folder: Path) -> list[str]:
    return sorted({path.name.partition(".")[0] for path in folder.glob("*.question.json")})


def answering(ending: str, content: str) -> Program:
    """A program that takes longer than a model may, and renames what it wrote into its place."""

    async def program(folder: Path) -> None:
        await asyncio.sleep(LATE)
        for name in names(folder):
            (folder / "part").write_text(content)
            (folder / "part").rename(folder / f"{name}.answer.{ending}")

    return program


async def nobody(_folder: Path) -> None:
    return


def test_a_question_is_readable_and_complete_and_its_answer_is_free(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}}
    folder = tmp_path / "questions"
    events: list[Event] = []
    wanted = question("May we?\n\nReally?", schema=schema)
    (answer,) = asked(folder, answering("json", '{"ok": true}'), wanted, events=events)
    assert json.loads(answer.text) == {"ok": True}
    assert answer.usage == Usage(calls=1)
    (name,) = names(folder)
    shown = (folder / f"{name}.question.md").read_text()
    assert "May we?\n\nReally?" in shown
    assert f"{name}.answer.txt" in shown
    assert '"ok"' in shown
    complete = json.loads((folder / f"{name}.question.json").read_text())
    assert complete["schema"] == schema
    assert complete["messages"] == [*wanted.messages]
    file = {"file": str(folder / f"{name}.question.md"), "terminal": False}
    assert events == [("question_asked", file), ("question_closed", file)]


def test_calls_of_tools_are_answered_as_json(tmp_path: Path) -> None:
    text = json.dumps({"tool_calls": [{"name": "add", "arguments": {"a": 1}}]})
    (answer,) = asked(tmp_path, answering("json", text), question(tools=(ADD,)))
    assert answer.tool_calls == (ToolRequest(id="call_1", name="add", arguments='{"a": 1}'),)
    assert (answer.text, answer.finish_reason) == ("", "tool_calls")


def test_the_same_question_is_asked_once_and_another_seed_asks_again(tmp_path: Path) -> None:
    once = [question(), question(max_tokens=4096), question(seed=1)]
    first = asked(tmp_path, answering("txt", "Yes."), *once)
    assert [answer.text for answer in first] == ["Yes."] * 3
    assert len(names(tmp_path)) == 2
    assert [answer.text for answer in asked(tmp_path, nobody, *once)] == ["Yes."] * 3


async def hesitating(folder: Path) -> None:
    """Begin to write, stop, and write what is no JSON; a link; then what it is."""
    await asyncio.sleep(1)
    (name,) = names(folder)
    plain, structured = (folder / f"{name}.answer.{ending}" for ending in ("txt", "json"))
    plain.write_text("")
    await asyncio.sleep(5)
    for count in range(50):
        plain.write_text("no " * (count + 1))
        await asyncio.sleep(0.1)
    plain.unlink()
    structured.write_text('{"ok": ')
    await asyncio.sleep(5)
    structured.unlink()
    (folder / "secret").write_text("of the host")
    structured.symlink_to(folder / "secret")
    await asyncio.sleep(5)
    structured.unlink()
    plain.write_text("\ufeffYes.\n")


def test_a_file_counts_once_it_is_whole(tmp_path: Path) -> None:
    events: list[Event] = []
    (answer,) = asked(tmp_path, hesitating, question(), events=events)
    assert answer.text == "Yes."
    problems = [fields["problem"] for event, fields in events if event == "answer_unread"]
    assert len(problems) == 3
    assert "it is empty" in problems[0]
    assert ".answer.json" in problems[1]


def test_what_is_cancelled_stays_asked(tmp_path: Path) -> None:
    async def interrupted() -> None:
        async with Gateway({"boss": inbox(tmp_path)}) as gateway:
            async with asyncio.timeout(LATE):
                await gateway.chat(question(), budget=budget)

    budget = Budget()
    with pytest.raises(TimeoutError):
        run_virtually(interrupted())
    assert budget.spent == Usage()
    (name,) = names(tmp_path)
    (tmp_path / f"{name}.answer.txt").write_text("Yes.")
    (answer,) = asked(tmp_path, nobody, question())
    assert answer.text == "Yes."


@virtually
async def test_what_has_no_folder_is_asked_here_and_in_the_folder_of_the_run(
    tmp_path: Path,
) -> None:
    async def respond(text: str, /) -> str:
        assert "May we?" in text
        return "Yes.\n"

    async with Gateway({}, responder=respond) as gateway:
        request = ChatRequest(model="person", messages=question().messages)
        assert (await gateway.chat(request, folder=tmp_path)).text == "Yes."
    (name,) = names(tmp_path / "inbox")
    assert (tmp_path / "inbox" / f"{name}.answer.txt").read_text() == "Yes."
