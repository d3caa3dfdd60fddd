"""The host's own offers: tool servers, Python functions, permissions, scorers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ..values.values import nothing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .catalogue import ToolServer
    from .python_scorer import PythonScorer
    from .python_tool import PythonTool

Permission = Literal["allow", "ask", "deny"]
"""Whether agents may call a tool; `ask` asks a person before each call."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HostTools:
    """The content of a tools.yaml.

    Attributes:
        servers: The tool servers, by name.
        python: The Python functions, by name.
        permissions: The permissions by tool; for all other tools, `allow`.
        scorers: The Python functions that score answers, by name.
    """

    servers: Mapping[str, ToolServer] = field(default_factory=nothing)
    python: Mapping[str, PythonTool] = field(default_factory=nothing)
    permissions: Mapping[str, Permission] = field(default_factory=nothing)
    scorers: Mapping[str, PythonScorer] = field(default_factory=nothing)

    @property
    def names(self) -> frozenset[str]:
        """The names of these tools in team files."""
        servers = self.servers.values()
        served = {f"{server.name}.{tool}" for server in servers for tool in server.tools}
        return frozenset(served | self.python.keys())
