"""A tool, and a tool in the hands of one agent."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...schema.catalogue import tool_identifier
from ...schema.errors import AgentError
from ...schema.problems import dotted
from ...schema.values import is_mapping
from ..once import unkept

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from jsonschema.protocols import Validator

    from ..once import Once
    from ..trace import Emit
    from ..workspace import Workspace

__all__ = ["GrantedTool", "Tool", "ToolCall", "ToolError", "Toolkit"]

LARGEST_RESULT = 100_000
"""Characters of a tool's result that an agent gets to see."""

MOST_PROBLEMS = 5


class ToolError(AgentError):
    """A tool could not do what was asked. The agent is told and goes on.

    Args:
        message: Why, in words that help the model.
        detail: What else people may want to know. It goes to the trace, not to the agent.
    """

    def __init__(self, message: str, *, detail: str = "") -> None:
        super().__init__(message)
        self.detail = detail


@dataclass(frozen=True, kw_only=True, slots=True)
class Tool:
    """Something that an agent can have done.

    Attributes:
        name: What agents call it.
        description: What it does, for the model.
        parameters: JSON Schema of its arguments: an object.
        run: Does it: takes the arguments, which fit the schema, and the agent's workspace; gives a
            JSON-able value. Raises `ToolError` with words that help the model.
        keeps_state: Whether what it gives follows from its earlier calls in the same workspace,
            and from nothing else. A resumed run then has it work again, where it would else take
            what came of it from the journal.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    run: Callable[[Mapping[str, Any], Workspace], Coroutine[Any, Any, Any]]
    keeps_state: bool = False

    @property
    def definition(self) -> dict[str, Any]:
        """The tool as OpenAI's chat API has it."""
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
class Toolkit:
    """Tools that are granted together, under one name."""

    name: str
    tools: tuple[Tool, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCall:
    """What an agent had a tool do.

    Attributes:
        tool: The tool's name.
        arguments: As the model gave them, JSON-able.
        error: Why the tool could not do it; None where it did.
    """

    tool: str
    arguments: Any
    error: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class GrantedTool:
    """A tool that one agent of one run may use. Calls are checked, bounded, kept and traced."""

    tool: Tool
    workspace: Workspace
    emit: Emit
    once: Once = unkept

    async def call(self, arguments: Any) -> Any:
        """Have the tool do its work.

        Args:
            arguments: What the model gave; checked against the tool's parameters.

        Returns:
            A JSON-able value, cut to `LARGEST_RESULT` characters where it is text.

        Raises:
            ToolError: The arguments do not fit, or the tool could not do it.
        """
        work = functools.partial(self._called, arguments)
        once = unkept if self.tool.keeps_state else self.once
        came = await once("tool", [self.tool.name, arguments], work)
        self.emit("tool_call", tool=self.tool.name, arguments=arguments, **came)
        if "error" in came:
            raise ToolError(came["error"], detail=came.get("detail", ""))
        return came["result"]

    async def _called(self, arguments: Any) -> Mapping[str, Any]:
        """Call it. That it could not do it is an answer too, which the agent has to live with."""
        try:
            result = _bounded(await self.tool.run(self._checked(arguments), self.workspace))
        except ToolError as error:
            return {"error": str(error), **({"detail": error.detail} if error.detail else {})}
        return {"result": result}

    def _checked(self, arguments: Any) -> Mapping[str, Any]:
        if not is_mapping(arguments):
            raise ToolError(f"{self.tool.name}: the arguments are not a JSON object.")
        if problems := _problems(arguments, self.tool.parameters):
            raise ToolError(f"{self.tool.name}: {'; '.join(problems[:MOST_PROBLEMS])}")
        return arguments


def _problems(arguments: Mapping[str, Any], parameters: Mapping[str, Any]) -> list[str]:
    """Check arguments; a server's schema may lead nowhere, or in circles."""
    from referencing.exceptions import Unresolvable

    validator = _validator(json.dumps(parameters))
    try:
        return [
            f"{dotted(tuple(error.absolute_path)) or 'the arguments'}: {error.message[:200]}"
            for error in validator.iter_errors(arguments)
        ]
    except (Unresolvable, RecursionError):
        return ["its parameters refer to each other in a way that cannot be checked."]


@functools.cache
def _validator(parameters: str) -> Validator:
    from jsonschema import Draft202012Validator, validators
    from referencing import Registry

    # JSON Schema takes 5.0 for an integer; a tool that counts with it would not.
    integers = Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    )
    strict = validators.extend(Draft202012Validator, type_checker=integers)
    return strict(json.loads(parameters), registry=Registry())


def _bounded(result: Any) -> Any:
    text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
    if len(text) <= LARGEST_RESULT:
        return result
    left_out = len(text) - LARGEST_RESULT
    return f"{text[:LARGEST_RESULT]}\n[{left_out} more characters left out]"
