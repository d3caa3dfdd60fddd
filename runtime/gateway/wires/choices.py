"""The forms of a tool choice: as requested, or else left to the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..chat.fallback import LEFT_OUT, ParameterFallback, ParameterForm
from ..chat.messages import ChatRequest


def choices(
    request: ChatRequest, write_choice: Callable[[Any], Any] = lambda choice: choice
) -> ParameterFallback:
    """Return the ladder of a tool choice.

    Args:
        write_choice: Converts a choice of the chat API into the form of the current API.
    """
    choice = request.tool_choice
    if not request.tools or choice is None:
        return ()
    values = dict.fromkeys((choice, "auto")) if isinstance(choice, str) else (choice, "auto")
    return (*(_form(item, write_choice(item)) for item in values), LEFT_OUT)


def _form(choice: Any, value: Any) -> ParameterForm:
    name = choice if isinstance(choice, str) else "named"
    return ParameterForm(name=name, place="tool_choice", fields={"tool_choice": value})
