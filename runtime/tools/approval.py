"""Ask a person before a tool is called, if tools.yaml requires it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ...schema.values.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ...schema.host.host_tools import Permission
    from ..record.trace import Emit


class Approver(Protocol):
    """Asks a person."""

    async def __call__(self, agent: str, tool: str, arguments: Any, /) -> bool:
        """Ask whether an agent may call a tool with these arguments, which a model wrote."""
        ...


class Approvals:
    """People's decisions about tool calls.

    Args:
        permissions: The settings of tools.yaml for tools, by their names.
        approver: Asks a person; None if nobody can be asked.
    """

    def __init__(
        self,
        permissions: Mapping[str, Permission] | None = None,
        approver: Approver | None = None,
    ) -> None:
        fields = permissions or {}
        self._asking = frozenset(name for name, permission in fields.items() if permission == "ask")
        self._approver = approver

    def needed(self, tool: str) -> bool:
        """Return whether a tool, by its name in teams, needs a person's approval."""
        return tool in self._asking

    def refuse_unasked(self, tools: Iterable[str]) -> None:
        """Check that a person can be asked about these tools, if any needs approval.

        Raises:
            InputError: Nobody can be asked.
        """
        if self._approver is None and (asking := sorted(self._asking.intersection(tools))):
            options = " ".join(f"--approve {name}" for name in asking)
            raise InputError(
                f"tools.yaml wants a person asked before {', '.join(asking)} is called, and there"
                f" is no terminal to ask at. To have it called without asking, write {options}."
            )

    async def obtain(self, agent: str, tool: str, arguments: Any, emit: Emit) -> None:
        """Ask for approval of a call.

        Raises:
            ToolError: A person refused, or nobody can be asked.
        """
        from .tool import ToolError

        if self._approver is None:
            raise ToolError(f"{tool}: nobody can be asked to allow this call. Go on without it.")
        emit("approval_asked", tool=tool)
        allowed = await self._approver(agent, tool, arguments)
        emit("approval_given", tool=tool, allowed=allowed)
        if not allowed:
            raise ToolError(
                f"{tool}: a person was asked and does not allow this call. Go on without it."
            )
