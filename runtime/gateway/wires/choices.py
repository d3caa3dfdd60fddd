"""Whether a model is to use tools: as asked, or else as it likes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..chat.fallback import LEFT_OUT, ParameterFallback, ParameterForm
from ..chat.messages import ChatRequest


def choices(
    request: ChatRequest, said: Callable[[Any], Any] = lambda choice: choice
) -> ParameterFallback:
    """Return the ladder of a choice of tools.

    Args:
        said: Writes a choice of the chat API as the API at hand has it.
    """
    choice = request.tool_choice
    if not request.tools or choice is None:
        return ()
    asked = dict.fromkeys((choice, "auto")) if isinstance(choice, str) else (choice, "auto")
    return (*(_form(item, said(item)) for item in asked), LEFT_OUT)


def _form(choice: Any, said: Any) -> ParameterForm:
    name = choice if isinstance(choice, str) else "named"
    return ParameterForm(name=name, place="tool_choice", fields={"tool_choice": said})
