"""Comparisons of evaluations: which differ by more than chance, and who won which task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...runtime.view import Links, NoPage, Page, PageTable, TableCell, is_number, paged
from ...schema.values.errors import CoterieError
from ..comparison.comparing import Comparison, compare, compared
from .evaluated import EvaluationFolder
from .figures import table_of
from .many import readable
from .samples import address_of
from .templates import TEMPLATES

ALL_PAIRS = 5
"""Up to this number of evaluations, all pairs are compared; of more, each with the first."""
CHANGES = ("better", "worse", "same")
HEADS = {"task": "<", "": "<", "first": ">", "second": ">", "difference": ">"}


def comparisons_page(members: Mapping[str, EvaluationFolder], links: Links) -> Page:
    """Return the page on which evaluations of a benchmark differ by more than chance."""
    good, _ = readable(members)
    groups: dict[str, list[str]] = {}
    for prefix, fields in good.items():
        groups.setdefault(fields["benchmark"], []).append(prefix)
    return TEMPLATES.page(
        "Comparisons",
        "comparisons.html",
        links,
        groups=[
            _compared(name, prefixes, members, links)
            for name, prefixes in groups.items()
            if len(prefixes) > 1
        ],
    )


def _compared(
    benchmark: str, prefixes: Sequence[str], members: Mapping[str, EvaluationFolder], links: Links
) -> dict[str, Any]:
    pairs, why = list[tuple[str, "Comparison"]](), list[str]()
    for word, second in _pairs(prefixes):
        try:
            pair = compare(members[word].folder, members[second].folder)
        except CoterieError as error:
            why.append(str(error))
        else:
            pairs.append((links.to("", _address(word, second)), pair))
    named = [" and ".join(pair.names) for _, pair in pairs]
    rows = [
        {"pair": name, **{head: row[head] for head in row if head not in {"first", "second"}}}
        for name, row in zip(named, compared([pair for _, pair in pairs]), strict=True)
    ]
    addresses = {name: where for name, (where, _) in zip(named, pairs, strict=True)}
    warnings = dict.fromkeys(line for _, pair in pairs for line in pair.warnings())
    return {
        "name": benchmark,
        "table": table_of("Each pair on the tasks that both have", rows, addresses),
        "notes": [*warnings, *why],
        "is_first_only": len(prefixes) > ALL_PAIRS,
    }


def _pairs(prefixes: Sequence[str]) -> Iterator[tuple[str, str]]:
    for place, prefix in enumerate(prefixes):
        if place == 0 or len(prefixes) <= ALL_PAIRS:
            yield from ((prefix, second) for second in prefixes[place + 1 :])


def _address(first: str, second: str) -> str:
    return f"compare/{first}{second}same/0"


def pair_page(members: Mapping[str, EvaluationFolder], address: str, links: Links) -> Page:
    """Return the page of two evaluations, task by task.

    Args:
        address: `compare/ONE/OTHER/KIND/PAGE`; page 0 has all kinds.

    Raises:
        NoPage: There are no such evaluations.
        InputError: They cannot be compared.
    """
    match address.split("/"):
        case ["compare", base, second_word, kind, number] if (
            {f"{base}/", f"{second_word}/"} <= members.keys()
            and kind in CHANGES
            and is_number(number)
        ):
            pass
        case _:
            raise NoPage(address)
    first, second = members[f"{base}/"], members[f"{second_word}/"]
    pair = compare(first.folder, second.folder)
    rows = sorted(
        zip(pair.tasks, pair.before, pair.after, strict=True), key=lambda row: row[1] - row[2]
    )
    chosen = [row for row in rows if number == "0" or _change(row) == kind]

    def at(page: int) -> str:
        return f"compare/{base}/{second_word}/{kind}/{page}"

    part = paged(chosen, max(1, int(number)), links, at)
    there = [{each.task: each for each in evaluation.samples} for evaluation in (first, second)]
    return TEMPLATES.page(
        f"{base} and {second_word}",
        "pair.html",
        links,
        names=[(first.name, f"{base}/"), (second.name, f"{second_word}/")],
        told=str(pair),
        choices=[("all", links.to("", _address(f"{base}/", f"{second_word}/")), number == "0")]
        + [
            (
                f"{name} {sum(_change(row) == name for row in rows)}",
                links.to("", f"compare/{base}/{second_word}/{name}/1"),
                number != "0" and name == kind,
            )
            for name in CHANGES
        ],
        part=part,
        table=PageTable(
            caption="Tasks: the mean over its trials in each, those that gained most first",
            heads=HEADS,
            rows=[
                (
                    task,
                    TableCell(_change(row), badge=True),
                    TableCell(f"{before:.3g}", _at(there[0], task, f"{base}/", links)),
                    TableCell(f"{after:.3g}", _at(there[1], task, f"{second_word}/", links)),
                    f"{after - before:+.3g}",
                )
                for row in part.shown
                for task, before, after in [row]
            ],
            empty="none.",
        ),
    )


def _change(row: tuple[str, float, float]) -> str:
    _, before, after = row
    return "better" if after > before else "worse" if after < before else "same"


def _at(samples: Mapping[str, Any], task: str, prefix: str, links: Links) -> str:
    return links.to("", address_of(samples[task], prefix)) if task in samples else ""
