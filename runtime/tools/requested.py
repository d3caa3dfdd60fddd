"""The gate before tool calls: which calls of an answer are executed.

Whatever library an agent runs in, it receives calls that were checked here, or none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...schema.values.errors import AgentError
from ...schema.values.hints import did_you_mean
from ...schema.values.json_text import dumps
from ...schema.values.problems import quoted
from ..gateway import ChatAnswer, ToolRequest
from ..gateway.chat.ending import NO_EFFECT, as_written, is_cut_off

UNTYPED = frozenset({"final_answer"})
"""Tools with an argument of any type, which smolagents declares as text."""


class Requests:
    """The requests of one attempt of an agent. A model is shown the same mistake once."""

    def __init__(self) -> None:
        self._mistake = ""

    def checked(self, answer: ChatAnswer, tools: Sequence[Mapping[str, Any]]) -> ChatAnswer:
        """Return an answer with the calls to execute; see `requested`.

        Raises:
            AgentError: Its model was shown its mistake, and repeated it.
        """
        checked = requested(answer, tools)
        mistake = checked.text if checked.refused else ""
        if mistake and mistake == self._mistake:
            raise AgentError(f"its model was shown its mistake and repeats it: {checked.refused}")
        self._mistake = mistake
        return checked


def requested(answer: ChatAnswer, tools: Sequence[Mapping[str, Any]]) -> ChatAnswer:
    """Return an answer with the calls to execute, or without calls and with the reason.

    All its calls are executed, or none: an unreadable call, or a cut answer, rejects them all.

    Args:
        tools: The tools that the model was offered, in the chat API's form.
    """
    if not tools:
        return answer
    schemas = {
        str(function["name"]): function.get("parameters") or {"type": "object"}
        for function in (tool["function"] for tool in tools)
    }
    if not answer.tool_calls:
        from .calls_in_text import calls_in

        text, calls, problem = calls_in(answer.text, schemas)
        if problem:
            return replace(answer, refused=f"{problem} {NO_EFFECT}")
        answer = replace(answer, text=text, tool_calls=calls)
    if not answer.tool_calls:
        return answer
    if is_cut_off(answer.finish_reason):
        reason = answer.finish_reason
        return _refused(answer, f"your answer was cut off ({reason}) in its calls. Write less.")
    checked = [_checked(call, schemas) for call in answer.tool_calls]
    problems = [problem for _, problem in checked if problem]
    if problems:
        return _refused(answer, " ".join(problems))
    calls = tuple(call for call, _ in checked)
    return answer if calls == answer.tool_calls else replace(answer, tool_calls=calls)


def _refused(answer: ChatAnswer, problem: str) -> ChatAnswer:
    return replace(
        answer,
        text=as_written(answer),
        tool_calls=(),
        kept={},
        refused=f"{problem} {NO_EFFECT}",
    )


def _checked(
    call: ToolRequest, schemas: Mapping[str, Mapping[str, Any]]
) -> tuple[ToolRequest, str]:
    """Return a call ready to execute, and its problems."""
    from .fitting import arguments_in, fitted

    if call.name not in schemas:
        hint = did_you_mean(call.name[:80], schemas)
        return (
            call,
            f"there is no tool {quoted(call.name[:80])}.{hint} There are {_names(schemas)}.",
        )
    try:
        arguments = arguments_in(call.arguments)
    except ValueError as error:
        return call, f"{call.name}: {str(error).rstrip('.')}."
    if call.name in UNTYPED:
        return replace(call, arguments=call.arguments.strip() or "{}"), ""
    fitting, problems = fitted(arguments, schemas[call.name])
    if problems:
        return call, f"{call.name}: {'; '.join(problems).rstrip('.')}."
    is_same = fitting is arguments and call.arguments.strip()
    return (call if is_same else replace(call, arguments=dumps(fitting, ensure_ascii=False))), ""


def _names(schemas: Mapping[str, Any]) -> str:
    shown = sorted(schemas)[:20]
    return ", ".join(shown) + (" and others" if len(schemas) > len(shown) else "")
