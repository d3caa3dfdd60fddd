"""A tool, and a tool granted to one agent."""

from __future__ import annotations

import time
import traceback
from base64 import b64decode, b64encode
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...schema.host.catalogue import tool_identifier
from ...schema.host.conforming import PluginValue
from ...schema.host.foreign_code import is_theirs, place_of, running_task
from ...schema.values.attachments import Attachment
from ...schema.values.errors import AgentError, JailError, StorageError
from ...schema.values.json_text import dumps
from ...schema.values.values import Json, is_list, is_mapping
from ..gateway.chat.dialogue import shortened
from ..gateway.chat.messages import sound
from ..record.once import unkept
from ..values.bounds import LARGEST_RESULT, LONGEST_EVENT
from ..values.schema_check import excess
from .fitting import fitted

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping

    from ..record.once import Once
    from ..record.trace import Emit
    from ..repository.workspace import Workspace
    from .approval import Approvals

LARGEST_INTEGER = 10_000
"""Most bits of an integer. Python itself writes no number with more than 4,300 digits."""

Show = Callable[[Attachment], bool]
"""Shows a model an attachment of a tool's answer; returns whether the model sees it."""


def unseen(_attachment: Attachment) -> bool:
    """Show nothing, and return that the model does not see it."""
    return False


Waiting = Callable[[], AbstractContextManager[None]]
"""Counts a block as waiting for others rather than as work."""


class ToolError(AgentError):
    """A tool failed. The agent sees the message and continues.

    Args:
        message: Why, in words that help the model.
        detail: Further details for people. They go to the trace, not to the agent.
    """

    def __init__(self, message: str, *, detail: str = "") -> None:
        super().__init__(message)
        self.detail = detail


@dataclass(frozen=True, kw_only=True, slots=True)
class Tool(PluginValue):
    """An action that an agent can call.

    Attributes:
        parameters: JSON Schema of its arguments: an object.
        run: Performs it: takes the arguments, which fit the schema, and the agent's workspace;
            returns a JSON-able value. Raises `ToolError` with words that help the model.
        keeps_state: Whether its result depends on its earlier calls in the same workspace, and on
            nothing else. A resumed run then calls it again, instead of taking the result from the
            journal.
    """

    name: str
    description: str
    parameters: Mapping[str, Json]
    run: Callable[[Mapping[str, Any], Workspace], Coroutine[Any, Any, Any]]
    keeps_state: bool = False
    IS_GUARDED = False  # The agent reads its errors.

    @property
    def definition(self) -> dict[str, Any]:
        """The tool's definition in the form of OpenAI's chat API."""
        function = {
            "name": self.identifier,
            "description": self.description,
            "parameters": dict(self.parameters),
        }
        return {"type": "function", "function": function}

    @property
    def identifier(self) -> str:
        """The name as an identifier, for models and code: `clock.now` becomes `clock_now`."""
        return tool_identifier(self.name)


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolOutput:
    """A tool's answer with images or PDFs.

    Attributes:
        text: The answer, with a marker for each attachment.
        attachments: The images and PDFs. A model that cannot see one reads that it is not shown.
    """

    text: str
    attachments: tuple[Attachment, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Toolkit(PluginValue):
    """Tools that are granted together, under one name."""

    name: str
    tools: tuple[Tool, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class GrantedTool:
    """A tool that one agent of one run may use. Calls are checked, bounded, journaled and traced.

    `approvals` is asked before each call; None if calls need no approval. While a person is asked,
    the agent is `waiting`. `show` receives the attachments of answers, and returns whether the
    agent's model sees them.
    """

    tool: Tool
    workspace: Workspace
    emit: Emit
    once: Once = unkept
    approvals: Approvals | None = None
    waiting: Waiting = nullcontext
    show: Show = unseen

    async def call(self, arguments: Any) -> Any:
        """Call the tool.

        Args:
            arguments: The model's arguments; checked against the tool's parameters.

        Returns:
            A JSON-able value; a text is cut to `LARGEST_RESULT` characters.

        Raises:
            ToolError: The arguments do not fit, a person refused, or the tool failed. Whatever a
                tool raises, bugs included, the agent is told and continues.
            JailLost: The machine with the workspace is gone.
        """
        too_much = excess(arguments)
        is_live = False

        async def work() -> Mapping[str, Any]:
            nonlocal is_live
            is_live = True
            return await self._called(arguments, too_much)

        once = unkept if self.tool.keeps_state else self.once
        fields = await once("tool", [self.tool.name, arguments], work)
        report = shortened(dumps(arguments) if too_much else arguments, LONGEST_EVENT)
        source = {} if is_live else {"source": "journal"}
        parts = [_decoded(text) for text in fields.get("attachments", ())]
        attachments = (
            {"attachments": [part.described(part.marker) for part in parts]} if parts else {}
        )
        self.emit(
            "tool_call",
            tool=self.tool.name,
            arguments=report,
            **{**fields, **attachments},
            **source,
        )
        if "error" in fields:
            raise ToolError(fields["error"], detail=fields.get("detail", ""))
        result = fields["result"]
        for part in parts:
            if not self.show(part):
                result = result.replace(part.marker, f"{part.marker[:-1]}, not shown]")
        return result

    async def _called(self, arguments: Any, too_much: str) -> Mapping[str, Any]:
        """Call the tool. A failure is an answer too, which the journal keeps."""
        if too_much:
            return {"error": f"{self.tool.name}: it is not given this: {too_much}."}
        started = time.monotonic()
        fields = await self._act(arguments)
        return {**fields, "seconds": round(time.monotonic() - started, 6)}

    async def _act(self, arguments: Any) -> Mapping[str, Any]:
        """Run the tool, and return its result, or the error that it raised."""
        task = running_task()
        try:
            checked = self._checked(arguments)
            if self.approvals is not None:
                agent = self.workspace.agent
                with self.waiting():
                    await self.approvals.obtain(agent, self.tool.name, arguments, self.emit)
            output = await self.tool.run(checked, self.workspace)
            parts = output.attachments if isinstance(output, ToolOutput) else ()
            result = _bounded(_sound(output.text if isinstance(output, ToolOutput) else output))
        except ToolError as error:
            detail = {"detail": _bounded(_sound(error.detail))} if error.detail else {}
            return {"error": _bounded(_sound(str(error))), **detail}
        except BaseException as error:  # the tool is third-party code and may raise anything
            is_moved = isinstance(error, JailError) and error.is_lost
            if is_moved or not is_theirs(error, task):
                raise  # no answer: the agent restarts elsewhere, where the tool can work
            raised = "".join(traceback.format_exception_only(error)).strip()
            detail = "".join(traceback.format_exception(error))
            place = Path(place_of(error) or "").name  # without the folders: a model reads it
            words = _sound(f"{self.tool.name}: {raised}{f' ({place})' if place else ''}")
            return {"error": _bounded(words), "detail": _bounded(_sound(detail))}
        encoded = [b64encode(part.content).decode() for part in parts]
        return {"result": result, **({"attachments": encoded} if encoded else {})}

    def _checked(self, arguments: Any) -> Mapping[str, Any]:
        if not is_mapping(arguments):
            raise ToolError(f"{self.tool.name}: the arguments are not a JSON object.")
        fitting, problems = fitted(arguments, self.tool.parameters)
        if problems:
            raise ToolError(f"{self.tool.name}: {'; '.join(problems)}")
        return fitting


def _decoded(text: str) -> Attachment:
    """Return an attachment of a tool's answer from its form in the journal."""
    part = Attachment.answered(b64decode(text))
    if part is None:
        raise StorageError("the journal holds an image that is none.")
    return part


def _sound(value: Any) -> Any:
    """Return a value that every JSON reader accepts, as those of endpoints and files are.

    Lone surrogates and NUL are replaced, and an oversized integer is described.
    """
    if isinstance(value, str):
        return sound(value).replace("\0", "\ufffd")
    if is_list(value) or isinstance(value, tuple):
        return [_sound(item) for item in value]
    if is_mapping(value):
        return {_sound(key): _sound(item) for key, item in value.items()}
    if isinstance(value, int) and value.bit_length() > LARGEST_INTEGER:
        return f"[an integer of about {value.bit_length() * 3 // 10} digits]"
    return value


def _bounded(result: Any) -> Any:
    text = result if isinstance(result, str) else dumps(result, ensure_ascii=False)
    if len(text) <= LARGEST_RESULT:
        return result
    left_out = len(text) - LARGEST_RESULT
    return f"{text[:LARGEST_RESULT]}\n[{left_out} more characters left out]"
