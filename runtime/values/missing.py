"""External programs that this machine lacks: git and uv."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ...schema.values.errors import AgentError

HOW: Mapping[str, str] = MappingProxyType(
    {
        "git": "Install it with this system's packages",
        "uv": "Install it (python -m pip install uv), or name it in the variable UV",
    }
)


class MissingProgram(AgentError):
    """A program is missing. If an agent needs it, the agent fails; else it is bad input."""

    exit_code = 2

    def __init__(self, program: str, what_for: str) -> None:
        super().__init__(f"{program} {what_for}, and is not installed. {HOW[program]}.")
