"""Puts edges where the order of the roster has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...values.problems import Path
from .kind import Value

EDGES: Path = ("topology", "reports_to")


def insert_edge(value: Value, sender: str, receiver: str) -> None:
    """Add an edge where the order of the roster has it."""
    reports_to: dict[str, list[str]] = value["topology"]["reports_to"]
    rank = {agent_id: (place,) for place, agent_id in enumerate(value["agents"])}
    senders = list(reports_to)
    if sender not in reports_to:
        insert(senders, sender, rank)
    receivers = list(reports_to.get(sender, ()))
    insert(receivers, receiver, rank)
    old = {**reports_to, sender: receivers}
    value["topology"]["reports_to"] = {name: old[name] for name in senders}


def insert(items: list[str], item: str, rank: Mapping[str, tuple[Any, ...]]) -> None:
    """Put an item ahead of the first that ranks above it; one without a rank goes last."""
    ranked = rank.get(item)
    later = (
        place
        for place, name in enumerate(items)
        if ranked is not None and name in rank and rank[name] > ranked
    )
    items.insert(next(later, len(items)), item)
