"""The samples of an evaluation, by outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from urllib.parse import unquote

from ...runtime.view import (
    Links,
    NoPage,
    Page,
    PageTable,
    TableCell,
    is_number,
    paged,
    verdict,
    word,
)
from ...schema.values.terminal import counted
from ..evaluation.samples import Sample
from .evaluated import EvaluationFolder
from .templates import TEMPLATES

KINDS = ("right", "in part right", "wrong", "unscored")
"""The outcomes of a sample."""
LONGEST = 160
HEADS = {
    "task": "<",
    "trial": ">",
    "": "<",
    "score": ">",
    "niche": "<",
    "answer": "<",
    "why": "<",
    "tokens": ">",
    "cost": ">",
    "seconds": ">",
}


def kind_of(sample: Sample) -> str:
    """Return a sample's outcome in a word."""
    return "unscored" if sample.score is None else verdict(sample.score)


def address_of(sample: Sample, prefix: str) -> str:
    """Return the address of the page of a sample."""
    return f"{prefix}sample/{sample.trial}/{sample.task}"


def samples_page(evaluated: EvaluationFolder, prefix: str, which: str, links: Links) -> Page:
    """Return a page of samples.

    Args:
        which: `KIND/PAGE`, `niche NAME/PAGE`, `all/PAGE`, or nothing.

    Raises:
        NoPage: There is no such kind or niche.
        InputError: A file is damaged.
    """
    choice, _, number = (which or "all/1").rpartition("/")
    samples = evaluated.samples
    choices = _choices(samples)
    if choice not in choices or not is_number(number):
        raise NoPage(which)
    shown = [each for each in samples if choices[choice](each)]
    part = paged(shown, int(number), links, lambda page: _address(prefix, choice, page))
    return TEMPLATES.page(
        f"Samples of {evaluated.name}",
        "samples.html",
        links,
        title=evaluated.name,
        up=prefix,
        choices=[
            (unquote(name), links.to("", _address(prefix, name, 1)), name == choice)
            for name in choices
        ],
        part=part,
        table=PageTable(
            caption=counted(len(shown), "sample"),
            heads=HEADS,
            rows=[_row(each, prefix, links) for each in part.shown],
            empty="none of this kind.",
        ),
    )


def _address(prefix: str, choice: str, number: int) -> str:
    if choice == "all" and number == 1:
        return f"{prefix}samples"
    return f"{prefix}samples/{choice}/{number}"


def _choices(samples: Sequence[Sample]) -> Mapping[str, Callable[[Sample], bool]]:
    there = {kind_of(each) for each in samples}
    niches = sorted({each.niche for each in samples if each.niche})
    of_kinds = {
        kind: lambda each, kind=kind: kind_of(each) == kind for kind in KINDS if kind in there
    }
    of_niches = {
        f"niche {word(niche)}": lambda each, niche=niche: each.niche == niche for niche in niches
    }
    return {"all": lambda _: True, **of_kinds, **(of_niches if len(niches) > 1 else {})}


def _row(sample: Sample, prefix: str, links: Links) -> Sequence[str | TableCell]:
    answer = sample.answer if sample.answer is not None else sample.error or ""
    return (
        TableCell(sample.task, links.to("", address_of(sample, prefix))),
        str(sample.trial),
        TableCell(kind_of(sample), badge=True),
        "" if sample.score is None else f"{sample.score:g}",
        sample.niche,
        _short(answer),
        _short(sample.reason),
        f"{sample.usage.tokens:,}",
        sample.usage.cost,
        f"{sample.seconds:.2f}",
    )


def _short(text: str) -> str:
    line = " ".join(text[: 4 * LONGEST].split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"
