"""Whether a model is to use tools: as asked, or else as it likes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..chat.fallback import LEFT_OUT, ParameterFallback, ParameterForm
from ..chat.messages import ChatRequest


def choices(
    request: ChatRequest, write_choice: Callable[[Any], Any] = lambda choice: choice
) -> ParameterFallback:
    """Return the ladder of a choice of tools.

    Args:
        write_choice: Writes a choice of the chat API as the API at hand has it.
    """
    choice = request.tool_choice
    if not request.tools or choice is None:
        return ()
    values = dict.fromkeys((choice, "auto")) if isinstance(choice, str) else (choice, "auto")
    return (*(_form(item, write_choice(item)) for item in values), LEFT_OUT)


def _form(choice: Any, value: Any) -> ParameterForm:
    name = choice if isinstance(choice, str) else "named"
    return ParameterForm(name=name, place="tool_choice", fields={"tool_choice": value})
