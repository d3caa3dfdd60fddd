"""`mas-pool memory`: the lessons of a pool, and the origin of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from ...schema.command import Command, as_json
from ...schema.values.json_text import dumps
from ...schema.values.terminal import on_one_line
from ..ledger.learnt import Learnt
from ..ledger.lessons import standing_for
from ..teams.pool import Pool
from ..values.layout import LEDGER
from .arguments import open_pool, pool_folder
from .figures import table

COLUMNS = {
    "entry": "<",
    "kind": "<",
    "niche": "<",
    "agent": "<",
    "case": "<",
    "turn": ">",
    "credit": ">",
    "text": "<",
}
ARCHIVE = {"entry": "<", "from": "<", **COLUMNS}
"""The columns for one agent, with the source of each entry."""
ORIGINS = {"entry": "<", "line": ">", "agent": "<", "case": "<", "turn": ">", "credit": ">"}
MOST_OWNERS = 3
LONGEST_TEXT = 60
"""Maximum characters of an entry in a row."""


@click.command("memory", cls=Command)
@pool_folder
@click.option("--kind", metavar="NAME", help="Show only entries of this kind.")
@click.option("--niche", metavar="NAME", help="Show only entries of this niche.")
@click.option("--owner", metavar="AGENT", help="Show the archive of this agent.")
@click.option("--case", metavar="TASK", help="Show only entries that come from this task.")
@click.option("--all", "everything", is_flag=True, help="Show replaced entries, too.")
@as_json
def show_memory(
    folder: Path, owner: str | None, everything: bool, as_json: bool, **wanted: str | None
) -> None:
    """List the lessons of a pool in order, each with its case, agent and credit.

    An entry that one agent received from another names both: giver > owner. The archive of an agent
    shows which lessons it learnt itself, received, or inherited.
    """
    pool = open_pool(folder)
    entries = pool.learnt.values() if owner is None else _archive(owner, pool)
    shown = [
        entry
        for entry in entries
        if (everything or pool.learnt.stands(entry.id, owner=owner)) and _fits(entry, wanted)
    ]
    if as_json:
        lines = _lines(pool)
        records = [
            {**_value(learnt, pool, lines), **_whence(learnt, owner, pool)} for learnt in shown
        ]
        click.echo(dumps({"entries": records}, indent=2))
        return
    total = f"{len(shown)} of {len(pool.learnt)} entries"
    heads = COLUMNS if owner is None else ARCHIVE
    click.echo(
        "\n".join([*table(heads, [_row(learnt, owner, pool) for learnt in shown]), "", total])
    )


def entry_json(entry: Learnt, pool: Pool) -> dict[str, Any]:
    """Return an entry as plain values."""
    return _value(entry, pool, _lines(pool))


def entry_facts(entry: Learnt, pool: Pool) -> Iterator[str]:
    """Yield an entry's data, line by line."""
    by = pool.learnt.replaced_by(entry.id)
    facts = {
        "line": f"{pool.folder / LEDGER}:{_lines(pool)[entry.id]}",
        "kind": entry.kind,
        "niche": entry.niche,
        "owner": ", ".join(entry.owners),
        "giver": entry.giver,
        "level": entry.level,
        "case": entry.case,
        "turn": entry.turn,
        "credit": _credit(entry),
        "reward": entry.reward,
        "run": entry.run,
        "replaces": ", ".join(entry.replaces),
        "replaced": None if by is None else f"by {by.id}",
        "task": entry.task,
        "text": entry.text,
    }
    yield on_one_line(entry.id)
    for name, item in facts.items():
        if item not in (None, "", "-"):
            first, *more = str(item).splitlines() or [""]
            yield f"  {name:<9} {on_one_line(first)}"
            yield from (f"  {'':<9} {on_one_line(word)}" for word in more)


def origins_json(entry: Learnt, pool: Pool) -> list[dict[str, Any]]:
    """Return an entry and all entries that it replaces as plain values."""
    lines = _lines(pool)
    return [_value(learnt, pool, lines) for learnt in standing_for(entry, pool.learnt)]


def origins_table(entry: Learnt, pool: Pool) -> Iterator[str]:
    """Yield the origins of an entry, and of all entries that it replaces."""
    lines = _lines(pool)
    rows = [
        (
            learnt.id,
            str(lines[learnt.id]),
            _agent(learnt),
            learnt.case or "-",
            _turn(learnt),
            _credit(learnt),
        )
        for learnt in standing_for(entry, pool.learnt)
    ]
    return table(ORIGINS, rows)


def _archive(owner: str, pool: Pool) -> Sequence[Learnt]:
    """Return an agent's current and former entries, in order."""
    learnt = pool.learnt
    had = [*learnt.archive(owner), *learnt.own(owner)]
    ids = {item.id for entry in had for item in (entry, *standing_for(entry, learnt))}
    line = {*learnt.line(owner)}
    return [item for item in learnt.values() if item.id in ids and not line.isdisjoint(item.owners)]


def _whence(entry: Learnt, owner: str | None, pool: Pool) -> dict[str, str | None]:
    """Name the agent from which an entry of a memory was inherited."""
    if owner is None:
        return {}
    origin = pool.learnt.origin(entry.id, owner)
    return {"inherited_from": None if origin == owner else origin}


def _from(entry: Learnt, owner: str, pool: Pool) -> str:
    inherited = _whence(entry, owner, pool)["inherited_from"]
    gift = f"given by {entry.giver}" if entry.giver else ""
    if inherited is None:
        return gift or "itself"
    return ", ".join(filter(None, (f"inherited, of {inherited}", gift)))


def _fits(entry: Learnt, wanted: Mapping[str, str | None]) -> bool:
    return all(item is None or getattr(entry, name) == item for name, item in wanted.items())


def _lines(pool: Pool) -> Mapping[str, int]:
    return {line.op: line.end.line for line in pool.entries() if line.value["kind"] == "learnt"}


def _value(entry: Learnt, pool: Pool, lines: Mapping[str, int]) -> dict[str, Any]:
    by = pool.learnt.replaced_by(entry.id)
    return {**asdict(entry), "line": lines[entry.id], "replaced_by": by.id if by else None}


def _row(entry: Learnt, owner: str | None, pool: Pool) -> Sequence[str]:
    text, stands = on_one_line(entry.text), pool.learnt.stands(entry.id, owner=owner)
    return (
        entry.id if stands else f"{entry.id} (replaced)",
        *(() if owner is None else (_from(entry, owner, pool),)),
        entry.kind,
        entry.niche or "-",
        _agent(entry),
        entry.case or "-",
        _turn(entry),
        _credit(entry),
        text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]} …",
    )


def _agent(entry: Learnt) -> str:
    owners = ", ".join(entry.owners[:MOST_OWNERS])
    more = len(entry.owners) - MOST_OWNERS
    whose = f"{owners} and {more} more" if more > 0 else owners
    return " > ".join(filter(None, (entry.giver, whose))) or "-"


def _turn(entry: Learnt) -> str:
    return "-" if entry.turn is None else str(entry.turn)


def _credit(entry: Learnt) -> str:
    return "-" if entry.credit is None else f"{entry.credit:.3g}"
