"""The presentation of operators' results, by what an operator gives."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, is_dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import click

from ....pool.ledger.changes import Added, Change, EventNoted, Retired, Revised
from ....pool.ledger.learnt import Learnt
from ....pool.ledger.state import Admission
from ....pool.population.population import LIFECYCLE
from ....runtime.record.journal import digest
from ....schema.host.conforming import expected
from ....schema.team.team import Agent, Team
from ....schema.values.errors import InputError
from ....schema.values.json_text import dumps
from ....schema.values.terminal import on_one_line, speakable, speakable_json
from ....schema.values.values import Json
from ...core.operator import Operator
from ...core.printed import Noted, Printed
from ...core.proposal import Proposal, RejectedProposal
from ...core.roles import alone
from ...methods.search.consolidate import tell_steps
from ..arguments import refusal


def present(
    operator: Operator, result: Any, values: Mapping[str, Any], options: Mapping[str, Any]
) -> None:
    """Print a result, and write it if requested.

    Args:
        values: The operator's arguments, and the values behind them, by the names of inputs.

    Raises:
        RunError: It was rejected.
        StorageError: It cannot be written.
    """
    if isinstance(result, Noted):
        for note in result.notes:
            click.echo(note, err=True)
        result = result.proposal
    if isinstance(result, RejectedProposal):
        raise refusal(result)
    kind = {"child": Proposal, "entry": Learnt, "changes": Sequence[Change]}.get(
        operator.gives, object
    )
    expected(result, kind, f"the operator {operator.name}")
    PRESENTERS[operator.gives](result, values, options)


def _show_child(proposal: Proposal, values: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    """Print the differences and the reason, and write the child."""
    from ....schema import dump
    from ....schema.command.diff import painted
    from ....schema.edits import words
    from ....schema.values.files import write_atomically

    dry_run, output = options["dry_run"], options["output"]
    reason = f"reason: {on_one_line(proposal.reason) or 'none given'}"
    click.echo("\n".join([*words(proposal.base, proposal.child, painted), reason]), err=not dry_run)
    if dry_run:
        return
    text = dump(_named(proposal, values["task"].id if "task" in values else "", output))
    if output is None:
        click.echo(text, nl=False)
    else:
        write_atomically(output, text)


def _named(proposal: Proposal, task: str, output: Path | None) -> Team:
    """Return a child with its lineage, named after its file if that is a valid name."""
    from ....pool.values.texts import LONGEST_REASON, displayable, told_all
    from ....schema.edits import summary
    from ....schema.team.team import Lineage

    lineage = Lineage(
        operator=proposal.operator,
        parents=tuple(dict.fromkeys(proposal.parents)),
        edits=told_all(summary(proposal.base, proposal.child)),
        reason=displayable(proposal.reason, LONGEST_REASON),
        task=task,
    )
    name = output.stem if output and re.fullmatch(r"[a-z][a-z0-9_]{0,63}", output.stem) else None
    return replace(proposal.child, name=name or proposal.child.name, lineage=lineage)


def _show_entry(entry: Learnt, values: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    click.echo(speakable(entry.text))
    op = f"consolidate/{values['task'].id}/{digest(tell_steps(values['steps']))[:12]}"
    if not options["dry_run"] and not values["pool"].commit(entry, op=op):
        click.echo("the memory already has this entry.", err=True)


def _show_changes(
    changes: Sequence[Change], values: Mapping[str, Any], options: Mapping[str, Any]
) -> None:
    """Print the changes of a pool's agents and, with --keep, apply them as an evolution does."""
    if "agents" not in values:
        raise InputError("an operator that returns changes must have agents as input. Correct it.")
    lines = [line for change in changes for line in _change_lines(change, values["agents"])]
    click.echo("\n".join(lines))
    if not options["keep"]:
        return
    pool, op = values["pool"], f"mas-op/{uuid4().hex}"
    for number, change in enumerate(changes):
        result = pool.commit(change, op=f"{op}/{number}")
        if isinstance(result, Admission):
            click.echo(f"kept: {result.name} ({pool.agent(result.name).path})", err=True)
    pool.commit(EventNoted(what=LIFECYCLE, about=values["event"].about), op=f"{op}/told")


def _change_lines(change: Change, agents: Sequence[Agent]) -> Iterator[str]:
    """Yield the lines about a change; a new persona is compared with the first agent's."""
    from ....schema.command.diff import painted
    from ....schema.edits import words

    match change:
        case Added(member=agent, lineage=lineage):
            yield from words(_alone(agents[0]), _alone(agent), painted)
            yield f"reason: {speakable(lineage.reason)}"
        case Revised(to=agent, reason=reason):
            yield from words(_alone(agents[0]), _alone(agent), painted)
            yield f"reason: {speakable(reason)}"
        case Retired(member=name, reason=reason):
            yield f"{name}: retired, {speakable(reason)}"
        case _:
            pass


def _alone(agent: Any) -> Team:
    [team] = alone({agent.id: agent})
    return team


def _show_words(result: Any, _values: Mapping[str, Any], _options: Mapping[str, Any]) -> None:
    """Print a text, or another value as JSON, and its notes."""
    printed: Printed = result.printed() if hasattr(result, "printed") else Printed(value=result)
    text = printed.value if isinstance(printed.value, str) else _json(printed.value)
    click.echo(speakable(text))
    for note in printed.notes:
        click.echo(speakable(note), err=True)


def _json(value: Any) -> str:
    value = expected(_plain(value), Json, "the operator")
    return speakable_json(dumps(value, indent=2, ensure_ascii=False))


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value


PRESENTERS: Mapping[str, Callable[[Any, Mapping[str, Any], Mapping[str, Any]], None]] = {
    "child": _show_child,
    "changes": _show_changes,
    "entry": _show_entry,
    "words": _show_words,
}
