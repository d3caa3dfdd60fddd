"""Two teams side by side, with their differences in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...pool.command.figures import score
from ...runtime.view import Links, Page, PageTable, TableCell
from ...schema.edits import words
from .pool_source import PoolSource
from .templates import TEMPLATES, graph_of

MOST = 1_000
HEADS = {"team": "<", "expected": ">", "its own trials": "<"}


def choose_page(source: PoolSource, name: str, links: Links) -> Page:
    """Return the page on which to choose a team to compare with."""
    rows = [
        (
            TableCell(expectation.name, links.to("", f"compare/{name}/{expectation.name}")),
            str(expected),
            score(expectation.statistics),
        )
        for expectation, expected in source.ranked.items()
        if expectation.name != name
    ]
    return TEMPLATES.page(
        f"Compare {name}",
        "choose.html",
        links,
        name=name,
        page=links.to("", f"team/{name}"),
        table=PageTable(caption="With which team?", heads=HEADS, rows=rows[:MOST]),
    )


def compare_page(source: PoolSource, first: str, second: str, links: Links) -> Page:
    """Return the page that compares two teams."""
    ranked = source.ranked
    members = [source.pool.teams[name] for name in (first, second)]
    return TEMPLATES.page(
        f"{first} and {second}",
        "compare.html",
        links,
        names=(first, second),
        back=links.to("", f"compare/{second}/{first}"),
        lines=[*_lines(members[0].team, members[1].team)],
        sides=[
            (
                member.name,
                links.to("", f"team/{member.name}"),
                str(ranked[member]),
                score(member.statistics),
                graph_of(member.team, links.id(f"tip-{number}")),
            )
            for number, member in enumerate(members)
        ],
    )


def _lines(before: Any, after: Any) -> Iterator[tuple[str, str]]:
    """Yield the lines of the difference, each with its sign: `+`, `-` or ""."""
    for line in words(before, after):
        sign = line.strip()[:1]
        yield (sign if sign in {"+", "-"} and line.startswith("    ") else ""), line
