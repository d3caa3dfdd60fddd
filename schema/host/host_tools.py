"""What a host offers of its own: tool servers, Python functions, permissions, scorers."""

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
"""Whether agents may have a tool called; `ask` asks a person before each call."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HostTools:
    """What a tools.yaml says.

    Attributes:
        servers: The tool servers, by name.
        python: The Python functions, by name.
        permissions: What is said of tools by their names; of all others, `allow` holds.
        scorers: The Python functions that score answers, by name.
    """

    servers: Mapping[str, ToolServer] = field(default_factory=nothing)
    python: Mapping[str, PythonTool] = field(default_factory=nothing)
    permissions: Mapping[str, Permission] = field(default_factory=nothing)
    scorers: Mapping[str, PythonScorer] = field(default_factory=nothing)

    @property
    def names(self) -> frozenset[str]:
        """The names that teams may grant these tools by."""
        servers = self.servers.values()
        served = {f"{server.name}.{tool}" for server in servers for tool in server.tools}
        return frozenset(served | self.python.keys())
