"""`mas chat`: a conversation with a team, each turn a run."""

from __future__ import annotations

import sys
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from ...schema.command import Command
from ...schema.values.errors import InputError
from .run import main as run_command
from .run import make
from .spending import caps_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ..values.caps import Caps

LIMIT_REACHED = 3
NOT_HERE = frozenset(
    {"task_file", "query", "resume", "replay", "verify", "view", "dry_run", "as_json"}
)
"""Options of `mas-run` that make no sense for a conversation."""
WITH_QUERY = "With --query: "


def _talk(**options: Any) -> None:
    """Chat with a team: each line of standard input is a question, each turn a run.

    Every run knows the questions and answers before it. Empty lines are ignored; /exit or the end
    of the input ends the chat. --budget limits the whole chat, --continue RUN begins where a run
    ended, and --file, --context and --repo belong to the first question.
    """
    if not (options["team_file"] or options["continued"]):
        raise InputError(
            "give a team file, or seed:NAME; or name the run to continue with --continue."
        )
    others = dict.fromkeys(NOT_HERE)
    sys.exit(_Chat(options={**others, **options}, budget=caps_of(options)).to_the_end())


def _own(param: click.Parameter) -> click.Parameter:
    """Return a parameter of `mas-run`, described without the option that asks a question there."""
    own = copy(param)
    if isinstance(own, click.Option) and (text := own.help or "").startswith(WITH_QUERY):
        text = text.removeprefix(WITH_QUERY)
        own.help = text[0].upper() + text[1:]
    return own


main = Command(
    "chat",
    params=[_own(param) for param in run_command.params if param.name not in NOT_HERE],
    callback=_talk,
    help=_talk.__doc__,
)


@dataclass(kw_only=True)
class _Chat:
    """A running conversation.

    Attributes:
        options: The options of `mas-run` for the next turn.
        budget: The remaining budget; None: no limit.
    """

    options: dict[str, Any]
    budget: Caps | None
    is_typed: bool = field(default_factory=sys.stdin.isatty)

    def to_the_end(self) -> int:
        """Answer line by line; return the exit code of the turn that ended the chat, or 0."""
        for line in self._lines():
            code, folder = make({**self.options, "query": line})
            if folder is None or (code and not self.is_typed):
                return code
            if code == 0:
                once = {"continued": folder, "files": (), "context": None, "repo": None}
                self.options |= once
            if not self._is_affordable(folder):
                click.echo("the chat has spent its budget.", err=True)
                return LIMIT_REACHED
        return 0

    def _lines(self) -> Iterator[str]:
        while True:
            if self.is_typed:
                click.echo("> ", nl=False, err=True)
            line = sys.stdin.readline()
            if not line or line.strip() == "/exit":
                return
            if line.strip():
                yield line.strip()

    def _is_affordable(self, folder: Path) -> bool:
        """Subtract a turn's cost from the budget; return whether another turn may begin."""
        from ..runs.record import read_result

        if self.budget is None:
            return True
        result = read_result(folder) or {}
        usage = result.get("usage", {})
        tokens = usage.get("prompt_tokens", 0) + usage.get("completion_tokens", 0)
        spent = {**usage, "tokens": tokens, "seconds": result.get("seconds", 0)}
        self.budget = self.budget.less(spent)
        if self.budget is not None:
            caps = self.budget.value().items()
            self.options["budget"] = ",".join(f"{name}={cap!r}" for name, cap in caps)
        return self.budget is not None
