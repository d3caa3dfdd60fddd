"""Filters of teams or agents: all, active ones, those of an operator, or those of a niche."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar
from urllib.parse import unquote

from ...pool.command.figures import made_by
from ...pool.ledger.records import TrialRecord
from ...runtime.view import Links, NoPage, paged, word
from ...runtime.view.tables import Paged

Item = TypeVar("Item")


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


def filtered(
    kind: str,
    items: Iterable[Item],
    choices: Mapping[str, Callable[[Item], bool]],
    page: tuple[str, int],
    links: Links,
) -> tuple[list[Item], Paged[Item], Sequence[tuple[str, str, bool]]]:
    """Return the items of a filter, the page of them, and the links to all filters.

    Args:
        page: The filter, and the number of the page.

    Returns:
        Of each filter its label, its link, and whether it is the current one.

    Raises:
        NoPage: There is no such filter.
    """
    choice, number = page
    if choice not in choices:
        raise NoPage(choice)

    def address(name: str, number: int = 1) -> str:
        return kind if (name, number) == ("all", 1) else f"{kind}/{name}/{number}"

    shown = [item for item in items if choices[choice](item)]
    part = paged(shown, number, links, lambda number: address(choice, number))
    labels = [(unquote(name), links.to("", address(name)), name == choice) for name in choices]
    return shown, part, labels
