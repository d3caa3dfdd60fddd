"""Ask at the terminal for approvals of tool calls and for a person's answers."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator
from typing import Any, TextIO

import click

from ...schema.values.json_text import dumps
from ..values.terminal import on_one_line, speakable, speakable_json

LONGEST_SHOWN = 4_000
"""The most characters of the arguments to show."""


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
