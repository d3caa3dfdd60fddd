"""A conversation as a task: the last message is the question, and all others are its context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from ...schema.host.catalogue import Catalogue
from ...schema.loading.loading import parse_task
from ...schema.team.task import Task
from ...schema.values.attachments import MOST_BYTES, MOST_IN_ALL, Attachment
from ...schema.values.errors import ConfigError
from ...schema.values.json_text import dumps
from ..runs.conversation import Turn, continued
from .refusals import bad_request

File = str | Attachment
Role = Literal["system", "user", "assistant"]

ID = "request"


@dataclass(frozen=True, kw_only=True, slots=True)
class ClientMessage:
    """A message of a conversation.

    Attributes:
        role: The role of its author; `system` for instructions.
        files: Its files: the name of each, which may be empty, and its content.
    """

    role: Role
    text: str
    files: Sequence[tuple[str, File]] = ()


def file_of(content: bytes) -> File:
    """Return a file's content.

    Raises:
        Refusal: It is neither text nor an image or a PDF that models accept, or it is too large.
    """
    if len(content) > MOST_BYTES:
        raise bad_request(f"a file has {len(content)} bytes; the limit is {MOST_BYTES}.")
    attachment = Attachment.of(content)
    try:
        return content.decode() if attachment is None else attachment
    except UnicodeDecodeError:
        raise bad_request(
            "a file is neither UTF-8 text nor a PNG, JPEG, GIF, WebP or PDF. Send one of these."
        ) from None


def task_of(messages: Sequence[ClientMessage], catalogue: Catalogue) -> Task:
    """Return the task that a conversation asks for.

    Args:
        messages: The conversation, the oldest message first.

    Raises:
        Refusal: The last message is not the user's, or the task would not load.
    """
    if not messages or messages[-1].role != "user":
        raise bad_request("the last message must be the user's: it is the team's task.")
    if not messages[-1].text.strip():
        raise bad_request("the last message has no text. Write the team's task.")
    files = _files(messages)
    attachments = {name: file for name, file in files.items() if isinstance(file, Attachment)}
    if sum(len(file.content) for file in attachments.values()) > MOST_IN_ALL:
        raise bad_request(f"the images and PDFs exceed {MOST_IN_ALL} bytes in total.")
    turns, query = _turns_of(messages)
    value = {
        "id": ID,
        "query": query,
        "context": "\n\n".join(message.text for message in messages if message.role == "system"),
        "files": {name: file for name, file in files.items() if isinstance(file, str)},
    }
    try:
        task = parse_task(dumps(value).encode(), ID, Path(), catalogue)
    except ConfigError as error:
        raise bad_request(str(error)) from None
    return replace(continued(task, turns), attachments=attachments)


def _turns_of(messages: Sequence[ClientMessage]) -> tuple[list[Turn], str]:
    """Return the earlier questions with their answers, and the current question."""
    turns: list[Turn] = []
    texts: list[str] = []
    for message in messages:
        if message.role == "user":
            texts.append(message.text)
        elif message.role == "assistant":
            turns.append(Turn(asked="\n\n".join(texts), answered=message.text))
            texts = []
    return turns, "\n\n".join(texts)


def _files(messages: Sequence[ClientMessage]) -> dict[str, File]:
    """Collect the files of all messages; a later file with the same name is renamed."""
    files: dict[str, File] = {}
    for message in messages:
        for name, file in message.files:
            files[_free(name.replace("\\", "/").rsplit("/", 1)[-1] or "file", files)] = file
    return files


def _free(name: str, files: Mapping[str, File]) -> str:
    stem, number = Path(name), 1
    while name in files:
        number += 1
        name = f"{stem.stem}-{number}{stem.suffix}"
    return name
