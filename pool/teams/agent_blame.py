"""The origin of each field of an agent: its birth, a revision or an ancestor; when, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...schema.values.problems import Path, dotted
from ...schema.values.values import is_mapping
from ..ledger.ledger import LedgerEntry

REVISED = "revised"
NESTED: Mapping[str, int] = {"notes": 2}
"""The depth to which a field's parts are listed one by one: `notes.patches.units`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentOrigin:
    """The origin of a field of an agent.

    Attributes:
        field: The field, dotted: `notes.patches.units`.
        agent: The agent that first had this value: the agent itself, or an ancestor.
        revision: The revision that set it; 0: its birth.
        by: The operator that made that agent, or `revised`.
    """

    field: str
    value: Any
    agent: str
    revision: int
    by: str
    op: str
    reason: str


def blame_agent(entries: Iterable[LedgerEntry], name: str) -> tuple[AgentOrigin, ...]:
    """Return the origin of the current value of each field of an agent.

    A value inherited at birth comes from the parent at that time; if several parents had it, from
    the first of them. Later revisions of a parent do not count.

    Args:
        entries: The entries of the ledger, from the first on.
    """
    origins: dict[str, dict[str, AgentOrigin]] = {}
    revisions: dict[str, int] = {}
    for entry in entries:
        value = entry.value
        if value["kind"] == "born" and "agent" in value:
            revisions[value["agent"]] = 0
            origins[value["agent"]] = _added_origins(entry, origins)
        elif value["kind"] == REVISED:
            revisions[value["agent"]] += 1
            origins[value["agent"]] = _revised(entry, origins, revisions[value["agent"]])
    return tuple(origins[name].values())


def _added_origins(
    entry: LedgerEntry, origins: Mapping[str, Mapping[str, AgentOrigin]]
) -> dict[str, AgentOrigin]:
    lineage = entry.value["lineage"]
    fresh = _set(entry, 0, lineage["operator"], lineage.get("reason", ""))
    for parent in reversed(lineage.get("parents", ())):
        fresh = _inherited(fresh, origins[parent])
    return fresh


def _revised(
    entry: LedgerEntry, origins: Mapping[str, Mapping[str, AgentOrigin]], number: int
) -> dict[str, AgentOrigin]:
    fresh = _set(entry, number, REVISED, entry.value.get("reason", ""))
    return _inherited(fresh, origins[entry.value["agent"]])


def _set(entry: LedgerEntry, number: int, by: str, reason: str) -> dict[str, AgentOrigin]:
    """Return the origins of all fields in a ledger entry, set by this entry."""
    whole = AgentOrigin(
        field="",
        value=None,
        agent=entry.value["agent"],
        revision=number,
        by=by,
        op=entry.op,
        reason=reason,
    )
    items = {dotted(path): value for path, value in _items(entry.value.get("value", {}))}
    return {field: replace(whole, field=field, value=value) for field, value in items.items()}


def _inherited(
    fresh: Mapping[str, AgentOrigin], old: Mapping[str, AgentOrigin]
) -> dict[str, AgentOrigin]:
    """Replace the origins of unchanged fields by their earlier ones."""
    return {
        field: old[field] if field in old and old[field].value == origin.value else origin
        for field, origin in fresh.items()
    }


def _items(value: Mapping[str, Any], path: Path = (), depth: int = 0) -> Iterator[tuple[Path, Any]]:
    for key, item in value.items():
        below = NESTED.get(key, 0) if not path else depth - 1
        if below > 0 and is_mapping(item):
            yield from _items(item, (*path, key), below)
        else:
            yield (*path, key), item
