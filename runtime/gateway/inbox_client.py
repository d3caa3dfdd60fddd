"""Models that are people, or programs without an API: questions are files in a folder.

The same question always has the same files, whoever asks it and when. So a pending question
survives the process that asked it, and an answered question is not asked again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...schema.values.files import write_atomically
from .inbox_question import ANSWERS, SHOWN, InboxQuestion

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from .chat.body import Body
    from .chat.messages import ChatAnswer
    from .endpoint import Endpoint
    from .stream_sink import StreamSink

FOLDER = "inbox"
"""The inbox in a run's folder, or in the working directory if a run keeps no folder."""
SECONDS_BETWEEN_LOOKS = 0.25


Responder = Callable[[str], Awaitable[str]]
"""Answers a question in the running program; the answer is empty if nobody answers here."""


class InboxClient:
    """Puts each request into a folder, and waits for its answer; see `Client`.

    Args:
        responder: Also answers questions whose endpoint has no folder of its own; None for files
            only.
    """

    def __init__(self, responder: Responder | None) -> None:
        self._responder = responder

    async def chat(self, endpoint: Endpoint, body: Body, sink: StreamSink, /) -> ChatAnswer:
        """Write the question unless it is already answered, and wait for the answer.

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
    """Wait for an answer. A problem with an answer file is reported once."""
    reported = ""
    while (answer := question.answer()) is None:
        if typing is not None and typing.done():
            typing.result()  # raises the error that kept the answer from being written
        sink.on_bytes(True)  # models' timeouts do not apply to people
        if question.problem not in {"", reported}:
            reported = question.problem
            sink.tell("answer_unread", problem=reported)
        await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
    return answer


@asynccontextmanager
async def _typed(
    question: InboxQuestion, responder: Responder | None
) -> AsyncGenerator[asyncio.Task[None] | None]:
    """Let a person type an answer meanwhile; it is written to a file like any other answer."""
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
