"""Several evaluations together: figures, costs, and the ones that none beats at their cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...runtime.values.usage import tokens_of
from ...runtime.view import Links, Page
from ...runtime.view.plots import Bars, Plot, PlotPoint, Series
from ...schema.values.errors import CoterieError
from ...schema.values.terminal import counted
from ..comparison.tables import by_niche, by_team, figure_text
from .evaluated import EvaluationFolder
from .figures import bar_of, table_of
from .templates import TEMPLATES

ALREADY = frozenset({"benchmark", "team"})
"""Columns whose content the page shows elsewhere."""


def many_page(folder: Path, members: Mapping[str, EvaluationFolder], links: Links) -> Page:
    """Return the page of all evaluations of a folder, by benchmark."""
    good, bad = readable(members)
    benchmarks = dict.fromkeys(fields["benchmark"] for fields in good.values())
    return TEMPLATES.page(
        folder.resolve().name,
        "many.html",
        links,
        title=folder.resolve().name,
        many=counted(len(members), "evaluation"),
        bad=bad,
        groups=[
            _group(
                name,
                {prefix: fields for prefix, fields in good.items() if fields["benchmark"] == name},
                links,
            )
            for name in benchmarks
        ],
    )


def readable(
    members: Mapping[str, EvaluationFolder],
) -> tuple[Mapping[str, Mapping[str, Any]], Sequence[tuple[str, str]]]:
    """Read all readable figures, and return the errors of the others."""
    good, bad = dict[str, "Mapping[str, Any]"](), list[tuple[str, str]]()
    for prefix, member in members.items():
        try:
            good[prefix] = member.figures
        except CoterieError as error:
            bad.append((member.name, str(error)))
    return good, bad


def _group(name: str, group: Mapping[str, Mapping[str, Any]], links: Links) -> dict[str, Any]:
    evaluations, prefixes = [*group.values()], [*group]
    names = _names(evaluations, prefixes)
    addresses = [links.to("", prefix) for prefix in prefixes]
    scored = [
        (who, fields, where)
        for who, fields, where in zip(names, evaluations, addresses, strict=True)
        if fields["headline"]["value"] is not None
    ]
    rows = [
        {"evaluation": who, **{head: row[head] for head in row if head not in ALREADY}}
        for who, row in zip(names, by_team(evaluations), strict=True)
    ]
    return {
        "name": name,
        "title": evaluations[0]["title"],
        "bars": Bars(
            caption=f"{evaluations[0]['headline']['name']}, with 95 % intervals",
            bars=[bar_of(who, fields["headline"], where) for who, fields, where in scored],
        ),
        "table": table_of("Evaluations", rows, dict(zip(names, addresses, strict=True))),
        "plot": _costs(scored),
        "niches": table_of("Score by niche", by_niche(evaluations)),
        "has_niches": len({niche for fields in evaluations for niche in fields["niches"]}) > 1,
    }


def _names(evaluations: Sequence[Mapping[str, Any]], prefixes: Sequence[str]) -> Sequence[str]:
    """Name evaluations by their teams, and by their folders too if a team has several."""
    teams = [fields["team"] for fields in evaluations]
    if len(set(teams)) == len(teams):
        return teams
    return [f"{team} ({at.rstrip('/')})" for team, at in zip(teams, prefixes, strict=True)]


def _costs(scored: Sequence[tuple[str, Mapping[str, Any], str]]) -> Plot | None:
    """Plot figures against the cost per sample: USD if all prices are known, else tokens."""
    if len(scored) < 2:
        return None
    is_priced = all(
        fields["usage"]["usd"] > 0 and not fields["usage"]["unpriced_calls"]
        for _, fields, _ in scored
    )
    points = [
        PlotPoint(
            x=_each(fields, is_priced=is_priced),
            y=fields["headline"]["value"],
            low=fields["headline"]["interval"][0],
            high=fields["headline"]["interval"][1],
            tip=f"{who}: {figure_text(fields['headline'])}",
            label=fields["team"][:24],
            address=where,
        )
        for who, fields, where in scored
    ]
    best = [*front(points)]
    unit = "USD" if is_priced else "tokens"
    return Plot(
        caption=f"Figure against {unit} for a sample",
        x=f"{unit} for a sample",
        y=scored[0][1]["headline"]["name"],
        y_range=(0.0, 1.0),
        series=[
            Series(name="evaluations", points=sorted(points, key=lambda point: point.x)),
            Series(
                name="Pareto front: nothing cheaper is as good",
                points=best,
                is_line=True,
                has_points=False,
            ),
        ],
    )


def _each(figures: Mapping[str, Any], *, is_priced: bool) -> float:
    usage, samples = figures["usage"], max(1, figures["samples"] + figures["unscored"])
    return (usage["usd"] if is_priced else tokens_of(usage)) / samples


def front(points: Iterable[PlotPoint]) -> Iterator[PlotPoint]:
    """Yield the points that no cheaper or equally expensive point beats, the cheapest first."""
    best = float("-inf")
    for item in sorted(points, key=lambda point: (point.x, -point.y)):
        if item.y > best:
            best = item.y
            yield item
