"""What commands print at the end of a run: its cost, and the command that resumes it."""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from ...schema.team.words import span
from ...schema.values.json_text import dumps
from ...schema.values.terminal import counted, on_one_line, speakable, speakable_json, unbroken

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from ...schema.team.task import Task
    from ..agents.outcomes import Run
    from ..runs.record import RunRecord
    from ..runs.services import Setting
    from ..values.budget import Budget, Caps
    from ..values.usage import Usage

REPEATED = {
    "model": "--model",
    "models_file": "--models",
    "tools_file": "--tools",
    "scorer": "--scorer",
    "allowed_tools": "--allow-tool",
    "cache": "--cache",
    "pool": "--pool",
    "allow_unpriced": "--allow-unpriced",
    "allow_zeros": "--allow-zeros",
    "batch": "--batch",
    "on": "--on",
}
"""Options that a resumed run does not take from its folder, because they name addresses, keys and
places of this host, or grant rights. Named as on the command line."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Resuming:
    """How to resume recorded work.

    Attributes:
        words: The part of the command that is always the same.
    """

    words: tuple[str, ...]
    options: dict[str, Any]
    setting: Setting

    def command(self, budget: Budget | None = None, *, is_spent: bool = False) -> str:
        """Return the command; with a larger budget if the last one was spent.

        Args:
            is_spent: Whether a budget was spent: the run's, or an agent's own.
        """
        words = [*self.words, *(self._larger(budget) if is_spent else ())]
        for name, option in REPEATED.items():
            value = self.options.get(name) or ()
            if value is True:
                words.append(option)
                continue
            for item in (value,) if isinstance(value, (str, os.PathLike)) else value:
                words += [option, str(item)]
        if self.setting.unsafe_local:
            words.append("--unsafe-local")
        return shlex.join(words)

    def _larger(self, budget: Budget | None) -> list[str]:
        if budget is not None and budget.reached:
            return ["--budget", larger(budget)]
        own = self.setting.agent_budget
        return ["--agent-budget", _doubled(own, own.value())] if own.value() else []


def larger(budget: Budget) -> str:
    """Return a budget's caps as typed on the command line, with the spent ones doubled."""
    return _doubled(budget.caps, budget.reached)


def _doubled(caps: Caps, reached: Collection[str]) -> str:
    return ",".join(
        f"{name}={_plain(cap * 2 if name in reached else cap)}"
        for name, cap in caps.value().items()
    )


def _plain(cap: float) -> str:
    return str(int(cap)) if cap == int(cap) else f"{cap:.10f}".rstrip("0")


def spent(usage: Usage, seconds: float) -> list[str]:
    """Return the cost of some work: calls, tokens, price and time."""
    return [
        counted(usage.calls, "call"),
        counted(usage.tokens, "token"),
        usage.cost,
        f"{seconds:.1f} s",
    ]


def cancelled(states: Mapping[str, str]) -> list[str]:
    """Return the agents that were waiting or working when the run ended; empty if there were none.

    Args:
        states: The final state of each agent, by its id.
    """
    names = [agent for agent, state in states.items() if state == "cancelled"]
    return [f"{counted(len(names), 'agent')} cancelled ({span(names)})"] if names else []


def summary(run: Run, record: RunRecord) -> str:
    """Return one line about how a run ended and where its record is."""
    usage = record.spent()
    parts = spent(usage, record.took(run))
    if answers := record.journal.recorded_answers:
        parts.insert(1, f"{counted(answers, 'answer')} from the journal")
    if usage.cached_calls:
        parts.insert(1, f"{usage.cached_calls} from the cache")
    if record.repeats:
        parts.insert(0, counted(run.rounds, "round"))
    if run.recruited:
        parts.insert(0, f"recruited {span(run.recruited)}")
    if run.cut_off:
        parts.insert(0, f"cut off: the answer of {span(run.cut_off)}")
    if run.substituted:
        parts.insert(0, f"warning: another model answered for {span(run.substituted)}")
    parts[:0] = cancelled({agent: outcome.status for agent, outcome in run.agents.items()})
    if run.score is not None:
        parts.insert(0, f"score {run.score.value:g} ({on_one_line(run.score.reason)})")
    return f"{', '.join(parts)}; {unbroken(record.folder.path)}{os.sep}"


def how_to_look(folder: Path) -> str:
    """Return the command that shows what is in a folder."""
    return f"Look at it with: {unbroken(shlex.join(('mas-view', str(folder))))}"


def tell_result(result: dict[str, Any], folder: Path) -> None:
    """Print a result for a program, and where the record of the run is."""
    fields = {**result, "folder": str(folder)}
    click.echo(speakable_json(dumps(fields, indent=2, ensure_ascii=False)))


def tell_answer(answer: str, task: Task) -> None:
    """Print an answer. A patch is bytes, and is written unchanged except to a terminal."""
    is_patch = task.repo is not None and answer.startswith("diff --git ")
    if is_patch and not sys.stdout.isatty():
        click.echo(answer.encode(), nl=False)
    else:
        click.echo(speakable(answer))
