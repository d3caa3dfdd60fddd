"""Filters of teams or agents: all, active ones, those of an operator, or those of a niche."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from urllib.parse import unquote

from ...pool.command.figures import made_by
from ...pool.ledger.records import TrialRecord
from ...runtime.view import Links, word


def choices_of(members: Iterable[TrialRecord]) -> Mapping[str, Callable[[TrialRecord], bool]]:
    """Return the filters of teams or agents, each with its predicate."""
    records = [*members]
    operators = sorted({made_by(record.lineage) for record in records if record.lineage.operator})
    niches = sorted({niche for record in records for niche in record.niches})
    return {
        "all": lambda _: True,
        "living": lambda record: record.retired is None,
        **{
            f"by {word(name)}": lambda record, name=name: made_by(record.lineage) == name
            for name in operators
        },
        **{
            f"on {word(niche)}": lambda record, niche=niche: niche in record.niches
            for niche in niches
        },
    }


def addresses(kind: str) -> Callable[..., str]:
    """Return a function that makes the address of a filter and a page number."""

    def address(choice: str, number: int = 1) -> str:
        return kind if (choice, number) == ("all", 1) else f"{kind}/{choice}/{number}"

    return address


def links_of(
    names: Iterable[str], chosen: str, address: Callable[[str], str], links: Links
) -> Sequence[tuple[str, str, bool]]:
    """Return the label and the link of each filter, and whether it is the current one."""
    return [(unquote(name), links.to("", address(name)), name == chosen) for name in names]
