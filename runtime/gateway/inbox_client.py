"""Models that are people, or programs without an API: questions are files of a folder.

The same question has the same files, whoever asks it and when. So what is pending survives the
process that asks, and what is answered is not asked again.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ...schema.values.files import write_atomically
from .inbox_question import ANSWERS, SHOWN, InboxQuestion

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from .chat.body import Body
    from .chat.messages import ChatAnswer
    from .endpoint import Endpoint
    from .stream_sink import StreamSink

FOLDER = "inbox"
"""The inbox of a run's folder; where a run keeps none, that of the working directory."""
SECONDS_BETWEEN_LOOKS = 0.25


class Responder(Protocol):
    """Answers questions in front of the program."""

    async def __call__(self, question: str, /) -> str:
        """Return the answer to a question; an empty one where nobody wants to give it here."""
        ...


class InboxClient:
    """Puts each request into a folder, and waits for its answer; see `Client`.

    Args:
        responder: Who also answers what has no folder of its own; None: nobody.
    """

    def __init__(self, responder: Responder | None = None) -> None:
        self._responder = responder

    async def chat(self, endpoint: Endpoint, body: Body, sink: StreamSink, /) -> ChatAnswer:
        """Ask, unless somebody has answered already; wait until it is answered.

        Raises:
            StorageError: The question cannot be written.
        """
        inbox = endpoint.folder or (sink.folder or Path()) / FOLDER
        question = InboxQuestion(inbox=inbox, fields=body.fields)
        responder = self._responder if endpoint.folder is None else None
        if not question.is_open:
            return replace(await _answer(question, sink), model=endpoint.model)
        question.ask()
        fields = {"file": str(question.file(SHOWN)), "terminal": responder is not None}
        sink.tell("question_asked", **fields)
        try:
            async with _typed(question, responder) as typing:
                answer = await _answer(question, sink, typing)
        finally:
            sink.tell("question_closed", **fields)
        return replace(answer, model=endpoint.model)

    async def close(self) -> None:
        """Leave pending questions where they are."""


async def _answer(
    question: InboxQuestion, sink: StreamSink, typing: asyncio.Task[None] | None = None
) -> ChatAnswer:
    """Wait for an answer. What is wrong with a file that is there is reported once."""
    reported = ""
    while (answer := question.answer()) is None:
        if typing is not None and typing.done():
            typing.result()  # raises what kept it from being written down
        sink.on_bytes(True)  # no model's timeout is for people
        if question.problem not in {"", reported}:
            reported = question.problem
            sink.tell("answer_unread", problem=reported)
        await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
    return answer


@asynccontextmanager
async def _typed(
    question: InboxQuestion, responder: Responder | None
) -> AsyncGenerator[asyncio.Task[None] | None]:
    """Have somebody type an answer meanwhile: it is written down as by any other program."""
    if responder is None:
        yield None
        return
    typing = asyncio.create_task(_write(question, responder))
    try:
        yield typing
    finally:
        typing.cancel()
        await asyncio.wait({typing})


async def _write(question: InboxQuestion, responder: Responder) -> None:
    if text := (await responder(question.shown())).strip():
        write_atomically(question.file(ANSWERS[1]), text)
