"""A granted tool in smolagents' form. Importing this imports smolagents.

A CodeAgent's prompt shows the types and descriptions of a tool's arguments, and nothing else of
their JSON Schema. So the descriptions contain the rest: possible values, and which arguments are
optional.
"""

# smolagents has type hints, but does not say so.
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

import functools
import json
import time
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from smolagents import Tool
from smolagents.models import get_tool_json_schema
from smolagents.tools import AUTHORIZED_TYPES

from ....schema.values.json_text import dumps
from ....schema.values.values import is_list, is_mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping
    from contextlib import AbstractContextManager

    from ...tools import GrantedTool
    from ...tools import Tool as ToolOfHost
    from ..bridge import Bridge

SAID_OTHERWISE = frozenset({"default", "description", "title", "type"})
"""Parts of an argument's schema that the description covers in words, or in their own place."""

REFERRED_TO = frozenset({"$defs", "definitions"})
"""Keywords for schemas that others refer to."""


class _Inputs(dict[str, Any]):
    """Arguments as prompts describe them; smolagents accepts any others: the tool checks them."""

    def __contains__(self, _name: object) -> bool:
        return True

    def __missing__(self, _name: str) -> dict[str, Any]:
        return {"type": "any"}


class HostTool(Tool):
    """A granted tool, called in the run's thread."""

    skip_forward_signature_validation = True

    def __init__(self, granted: GrantedTool, bridge: Bridge, *, as_text: bool) -> None:
        self.granted = granted
        self._as_text = as_text
        self.name = granted.tool.identifier
        self.description = _whole_description(granted.tool)
        self.inputs = _Inputs(_inputs(granted.tool.parameters))
        self.output_type = "any"
        self._bridge = bridge
        super().__init__()

    def forward(self, *values: Any, **arguments: Any) -> Any:
        named = dict(zip(self.inputs, values, strict=False)) | arguments
        value = self._bridge.wait(self.granted.call(named))
        # smolagents would show a model a dictionary as Python writes it.
        is_shown = self._as_text and not isinstance(value, str)
        return dumps(value, ensure_ascii=False) if is_shown else value


class PersonWait:
    """Counts the seconds for which tools wait for a person."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def counting(self, granted: GrantedTool) -> GrantedTool:
        """Return a tool whose waits count here as well."""
        return replace(granted, waiting=functools.partial(self._counted, granted.waiting))

    @contextmanager
    def _counted(self, waiting: Callable[[], AbstractContextManager[None]]) -> Generator[None]:
        begun = time.monotonic()
        try:
            with waiting():
                yield
        finally:
            self.seconds += time.monotonic() - begun


def definition(tool: Tool) -> dict[str, Any]:
    """Return a tool's definition in the form of OpenAI's chat API."""
    if isinstance(tool, HostTool):
        return tool.granted.tool.definition
    return get_tool_json_schema(tool)


def _whole_description(tool: ToolOfHost) -> str:
    """Describe a tool, including the schemas that its arguments refer to."""
    shared = {key: item for key, item in tool.parameters.items() if key in REFERRED_TO}
    return tool.description + (f"\n\nIts arguments refer to: {_json(shared)}" if shared else "")


def _inputs(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Describe a tool's arguments in smolagents' form; the tool itself checks them again."""
    properties: Mapping[str, Any] = parameters.get("properties") or {}
    required: list[str] = parameters.get("required") or []
    return {
        name: {
            "type": _type(schema),
            "description": _description(schema, is_required=name in required),
            **({} if name in required else {"nullable": True}),
        }
        for name, schema in properties.items()
    }


def _type(schema: Any) -> Any:
    kind = schema.get("type") if is_mapping(schema) else None
    kinds = kind if is_list(kind) else [kind]
    return kind if all(item in AUTHORIZED_TYPES for item in kinds) else "any"


def _description(schema: Any, *, is_required: bool) -> str:
    """Describe an argument, with everything that smolagents' prompts omit: all but its type."""
    fields: Mapping[str, Any] = schema if is_mapping(schema) else {}
    rest = {key: item for key, item in fields.items() if key not in SAID_OTHERWISE}
    default = f": it is {_json(fields['default'])} then" if "default" in fields else ""
    more = [
        "" if is_required else f"May be left out{default}.",
        f"JSON Schema: {_json(rest)}" if rest else "",
    ]
    meaning = str(fields.get("description", ""))
    ends = not meaning or meaning.endswith((".", "!", "?")) or not any(more)
    return " ".join(filter(None, [meaning if ends else f"{meaning}.", *more]))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
