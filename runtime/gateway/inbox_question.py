"""A question in an inbox: its question files and its answer file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ...schema.values import beneath
from ...schema.values.files import make_folders, write_atomically
from ...schema.values.json_text import dumps, loads
from ...schema.values.problems import reason_of
from ...schema.values.values import is_mapping
from ..prompts import render
from ..values.bounds import LARGEST_ANSWER
from ..values.usage import Usage
from .chat.messages import ChatAnswer, Message, ToolRequest, as_text, text_of

QUESTION, SHOWN = "question.json", "question.md"
ANSWERS = ("answer.json", "answer.txt")
ABOUT_US = frozenset({"model", "stream", "stream_options"})
"""Fields of a request that do not affect the answer."""
HEADINGS = {"system": "Instructions", "user": "Question", "assistant": "Answer", "tool": "Result"}


@dataclass(kw_only=True, eq=False)
class InboxQuestion:
    """A question in an inbox.

    Attributes:
        fields: The request, in the chat API's form.
        problem: Why the answer file is invalid; empty without one.
    """

    inbox: Path
    fields: Mapping[str, Any]
    problem: str = ""
    _stamps: dict[Path, tuple[int, ...]] = field(default_factory=dict["Path", tuple[int, ...]])

    @cached_property
    def name(self) -> str:
        """A digest of everything that affects the answer. The names of its files begin with it."""
        shaping = {name: item for name, item in self.fields.items() if name not in ABOUT_US}
        text = json.dumps(shaping, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def file(self, ending: str) -> Path:
        """Return the path of one of its files."""
        return self.inbox / f"{self.name}.{ending}"

    @property
    def is_open(self) -> bool:
        """Whether no answer file exists."""
        return not any(self.file(ending).exists() for ending in ANSWERS)

    def ask(self) -> None:
        """Write the question, for programs and then for people.

        Raises:
            StorageError: The question cannot be written.
        """
        make_folders(self.inbox)
        write_atomically(self.file(QUESTION), dumps(self._value(), indent=2, ensure_ascii=False))
        write_atomically(self.file(SHOWN), self.shown(self.file(ANSWERS[1]).name) + "\n")

    def _value(self) -> dict[str, Any]:
        fields = {key: item for key, item in self.fields.items() if key not in ABOUT_US}
        fields.pop("response_format", None)
        schema = {} if self._schema is None else {"schema": self._schema}
        answers = [self.file(ending).name for ending in ANSWERS]
        return {"answer_files": answers, **fields, **schema}

    @property
    def _schema(self) -> Any:
        form: Any = self.fields.get("response_format", {})
        return form.get("json_schema", {}).get("schema")

    def shown(self, answer_file: str = "") -> str:
        """Return the question as text for people.

        Args:
            answer_file: Where to write the answer; empty if the person need not know.
        """
        tools: Any = self.fields.get("tools") or []
        schema = self._schema
        return render(
            "inbox",
            turns=[*map(_turn, self.fields["messages"])],
            tools=[tool["function"]["name"] for tool in tools],
            schema="" if schema is None else dumps(schema, indent=2, ensure_ascii=False),
            answer_file=answer_file,
        )

    def answer(self) -> ChatAnswer | None:
        """Return the answer; None if there is none, or it may be incomplete.

        A file counts once two consecutive checks find it unchanged, so a writer has time to finish
        it. A file renamed into place is complete from the start.
        """
        for path in map(self.file, ANSWERS):
            try:
                status = path.lstat()
            except FileNotFoundError:
                continue
            now = (status.st_ino, status.st_size, status.st_mtime_ns)
            if self._stamps.get(path) != now:
                self._stamps[path] = now
                continue
            try:
                return self._read(path)
            except (OSError, ValueError) as error:
                self.problem = f"{path.name}: {reason_of(error)}"
        return None

    def _read(self, path: Path) -> ChatAnswer:
        content = beneath.read(self.inbox, path.name, LARGEST_ANSWER)
        text = content.decode("utf-8-sig").strip()
        if not text:
            raise ValueError("it is empty")
        if path.suffix == ".txt":
            return ChatAnswer(text=text, usage=Usage(calls=1))
        value = loads(text)
        if not (self.fields.get("tools") and is_mapping(value) and "tool_calls" in value):
            words = value if isinstance(value, str) else dumps(value, ensure_ascii=False)
            return ChatAnswer(text=words, usage=Usage(calls=1))
        calls = tuple(_calls(value["tool_calls"]))
        return ChatAnswer(
            text=text_of(value.get("text")),
            tool_calls=calls,
            finish_reason="tool_calls",
            usage=Usage(calls=1),
        )


def _calls(listed: Any) -> Iterator[ToolRequest]:
    """Parse tool calls: `[{"name": …, "arguments": {…}}]`."""
    try:
        for number, call in enumerate(listed, 1):
            arguments = as_text(call.get("arguments", {}))
            yield ToolRequest(id=f"call_{number}", name=str(call["name"]), arguments=arguments)
    except (AttributeError, KeyError, TypeError):
        raise ValueError('tool_calls is not a list of {"name": …, "arguments": {…}}') from None


def _turn(message: Message) -> tuple[str, str]:
    """Return a message's heading and its text, including its tool calls."""
    content: Any = message.get("content")
    parts = [content] if isinstance(content, str) else content or []
    texts = [part if isinstance(part, str) else _part(part) for part in parts]
    calls: Any = message.get("tool_calls") or []
    texts += [f"calls {call['function']['name']} {call['function']['arguments']}" for call in calls]
    role = str(message["role"])
    return HEADINGS.get(role, role), "\n\n".join(texts)


def _part(part: Mapping[str, Any]) -> str:
    """Return a part of a message as text; non-text content is only in the file for programs."""
    return part["text"] if part.get("type") == "text" else f"({part.get('type')}, not shown here)"
