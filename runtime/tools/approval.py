"""Ask a person before a tool is called, if tools.yaml requires it: at a terminal, or elsewhere."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TextIO

import click

from ...schema.values.errors import InputError
from ...schema.values.json_text import dumps
from ...schema.values.terminal import on_one_line, speakable, speakable_json

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Mapping

    from ...schema.host.catalogue import Permission
    from ..record.trace import Emit

LONGEST_SHOWN = 4_000
"""The most characters of the arguments to show."""


Approver = Callable[[str, str, Any], Awaitable[bool]]
"""Asks a person whether an agent may call a tool with these arguments, which a model wrote."""


class Approvals:
    """People's decisions about tool calls.

    Args:
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


def terminal_approver() -> AtTerminal | None:
    """Return the approver at the terminal; None without a terminal, as in CI."""
    return AtTerminal(sys.stdin) if sys.stdin.isatty() and sys.stderr.isatty() else None


class AtTerminal:
    """Asks on standard error and reads lines for an answer, one question after the other.

    Args:
        answers: The stream of answers; it has a descriptor.
    """

    def __init__(self, answers: TextIO) -> None:
        self._answers = answers
        self._always: set[str] = set()
        self._one_at_a_time = asyncio.Lock()

    async def __call__(self, agent: str, tool: str, arguments: Any, /) -> bool:
        """Ask for approval; see `Approver`. Any answer but a yes is a no."""
        async with self._one_at_a_time:
            return tool in self._always or await self._allowed(agent, tool, arguments)

    async def _allowed(self, agent: str, tool: str, arguments: Any) -> bool:
        text = speakable_json(dumps(arguments, ensure_ascii=False))
        agent, called = on_one_line(agent), on_one_line(tool)
        left_out = len(text) - LONGEST_SHOWN
        more = f" [{left_out} more characters are not shown]" if left_out > 0 else ""
        click.echo(f"{agent} wants to have {called} called: {text[:LONGEST_SHOWN]}{more}", err=True)
        click.echo("Allow it? [y]es, [n]o, [a]lways in this run: ", nl=False, err=True)
        answer = (await self._line()).strip().casefold()
        if answer in {"a", "always"}:
            self._always.add(tool)
        return answer in {"y", "yes", "a", "always"}

    async def respond(self, question: str, /) -> str:
        """Ask a person; see `Responder`. An empty line ends an answer."""
        async with self._one_at_a_time:
            click.echo(f"\n{speakable(question)}\n", err=True)
            click.echo("Your answer, ended by an empty line:", err=True)
            return "".join([line async for line in self._lines()])

    async def _lines(self) -> AsyncGenerator[str]:
        while (line := await self._line()).strip():
            yield line

    async def _line(self) -> str:
        """Wait for a line; Ctrl-C ends the wait."""
        loop = asyncio.get_running_loop()
        readable = asyncio.Event()
        loop.add_reader(self._answers, readable.set)
        try:
            await readable.wait()
        finally:
            loop.remove_reader(self._answers)
        return self._answers.readline()
