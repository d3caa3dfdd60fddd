"""The page of an evolution: scores and costs over its tasks, and the value of each operator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ...pool.values.layout import EVOLUTIONS
from ...pool.values.statistics import wilson
from ...runtime.values.usage import Usage
from ...runtime.view import Links, Page, PageTable, TableCell, paged, verdict
from ...runtime.view.plots import Plot, PlotPoint, Series
from ...schema.values.json_text import dumps
from ...schema.values.terminal import counted
from ..command.telling import EvolutionStatus
from ..evolution.folder import Manifest
from ..evolution.lines import lines_in, runs_of, usage_of
from ..evolution.strategy import WholeStatus, strategy_of
from ..report.report import EvolutionReport, share_text
from .overview import spending_table, status_of
from .pool_source import PoolSource
from .templates import TEMPLATES

TASKS = {
    "task": "<",
    "niche": "<",
    "": "<",
    "score": ">",
    "first": ">",
    "by": "<",
    "tried": ">",
    "new": ">",
    "pool": ">",
    "tokens": ">",
    "cost": ">",
}
OPERATORS = {"operator": "<", "made": ">", "dropped": ">", "best of its task": ">", "tokens": ">"}
MOST_POINTS = 400


def evolution_page(source: PoolSource, name: str, links: Links) -> Page:
    """Return the page of an evolution."""
    if (whole := source.whole(name)) is not None:
        return _whole_page(source, name, whole, links)
    folder = source.evolution(name)
    lines = [*lines_in(folder)]
    status, manifest = EvolutionStatus.of(source.folder, name), Manifest.read(folder)
    report = status.report
    return TEMPLATES.page(
        f"Evolution {name}",
        "evolution.html",
        links,
        name=name,
        folder=str(folder),
        status=status_of(source, name, is_done=report.tasks >= len(manifest.tasks)),
        strategy=str(manifest.recipe["strategy"]),
        facts=[*_facts(status, manifest)],
        held_out=str(status.held_out) if status.held_out else "",
        best=status.best,
        best_page=links.to("", f"team/{status.best['team']}") if status.best else "",
        warnings=report.warnings,
        text=str(status),
        scores=_scores(lines, status, name, links),
        costs=_costs(lines),
        sizes=_sizes(report),
        tasks=_tasks(source, name, lines, 1, links),
        operators=_operators(report),
        spending=spending_table("What was spent, by purpose", report.spending),
        components=PageTable(
            caption="What mutations touched, by niche",
            heads={"niche": "<", "components": "<"},
            rows=[
                (niche, ", ".join(f"{word} {n}" for word, n in count.most_common()))
                for niche, count in sorted(report.components.items())
            ],
        ),
        made=_provenance(manifest),
    )


def tasks_page(source: PoolSource, name: str, number: int, links: Links) -> Page:
    """Return a page of tasks of an evolution."""
    lines = [*lines_in(source.evolution(name))]
    return TEMPLATES.page(
        f"Tasks of {name}",
        "tasks.html",
        links,
        name=name,
        back=links.to("", f"{EVOLUTIONS}/{name}"),
        tasks=_tasks(source, name, lines, number, links),
    )


def _whole_page(source: PoolSource, name: str, whole: WholeStatus, links: Links) -> Page:
    folder = source.evolution(name)
    manifest = Manifest.read(folder)
    strategy = strategy_of(manifest.recipe["strategy"])
    return TEMPLATES.page(
        f"Evolution {name}",
        "whole.html",
        links,
        name=name,
        folder=str(folder),
        status=status_of(source, name, is_done=whole.is_over),
        strategy=strategy.name,
        spending=spending_table("What was spent, by purpose", whole.spending),
        part=strategy.page(whole, links, source.pool.teams),
        text=str(whole),
        made=_provenance(manifest),
    )


def _provenance(manifest: Manifest) -> Sequence[tuple[str, str]]:
    return [
        ("Commands", "; ".join(manifest.commands)),
        ("Models", ", ".join(f"{k} = {v['model']}" for k, v in manifest.models.items())),
        ("Recipe", dumps(manifest.recipe, ensure_ascii=False)),
        ("Versions", ", ".join(manifest.coterie)),
    ]


def _facts(status: EvolutionStatus, manifest: Manifest) -> Iterator[tuple[str, str]]:
    report = status.report
    yield "Tasks", f"{report.tasks} of {len(manifest.tasks)}"
    if report.tasks:
        yield "Online score", _share(report.score_sum, report.tasks)
    if report.searched and report.answered:
        yield "First team tried", _share(report.first, report.answered)
        yield "Best candidate", _share(report.right, report.answered)
    yield "Chosen by", status.chosen_by
    if report.searched:
        yield "Candidates", f"{report.candidates}, {report.ran} ran to an answer"
        yield "Configs written", f"{report.generated}, {report.executed} ran to an answer"
    if report.reading:
        yield "Learnt", report.reading
    total = sum(report.spending.values(), Usage())
    yield "Cost", total.cost
    yield "Tokens", f"{total.tokens:,}"
    if report.saved.calls:
        yield "Saved", f"{report.saved.calls:,} calls, {report.saved.tokens:,} tokens"


def _share(total: float, n: int) -> str:
    return f"{share_text(total, n)} n={n}"


def _first(line: Mapping[str, Any]) -> float | None:
    return line["first"] if line.get("candidates") else None


def _scores(
    lines: Sequence[Mapping[str, Any]], status: EvolutionStatus, name: str, links: Links
) -> Plot:
    """Return the plot of running means: of the tasks' answers, and of the first teams tried."""

    def running(value: Callable[[Mapping[str, Any]], float | None], title: str) -> Series:
        total, n, points = 0.0, 0, list[PlotPoint]()
        for number, line in enumerate(lines, start=1):
            if (score := value(line)) is None:
                continue
            total, n = total + score, n + 1
            low, high = wilson(total, n)
            points.append(
                PlotPoint(
                    x=number,
                    y=total / n,
                    low=low,
                    high=high,
                    tip=f"{title}: {share_text(total, n)} until task {number}",
                    address=links.to("", task_address(name, number - 1)),
                )
            )
        step = -(-len(points) // MOST_POINTS) if points else 1
        return Series(name=title, points=points[step - 1 :: step], is_line=True)

    if not any(line.get("candidates") for line in lines):
        all_ = [running(lambda line: line["score"], "each task's answer")]
    else:
        best = f"each task's best candidate, chosen by {status.chosen_by}: no score on unseen tasks"
        all_ = [
            running(lambda line: line["score"], best),
            running(_first, "baseline: the first team tried on each"),
        ]
    return Plot(
        caption="Mean score until each task, with 95 % intervals",
        x="task",
        y="mean score",
        y_range=(0.0, 1.0),
        series=[series for series in all_ if series.points],
    )


def _costs(lines: Sequence[Mapping[str, Any]]) -> Plot:
    purposes: dict[str, list[PlotPoint]] = {}
    for number, line in enumerate(lines, start=1):
        parts = {
            "runs of teams": usage_of(line),
            "operators": Usage(**line["operators"]),
            "judging": Usage(**line["judging"]),
        }
        for purpose, usage in parts.items():
            tip = f"task {number}, {purpose}: {usage.tokens:,} tokens, {usage.cost}"
            points = purposes.setdefault(purpose, [])
            points.append(PlotPoint(x=number, y=usage.tokens, tip=tip))
    used = {name: points for name, points in purposes.items() if any(point.y for point in points)}
    step = max(1, -(-len(lines) // MOST_POINTS))
    return Plot(
        caption="Tokens of each task",
        x="task",
        y="tokens",
        y_range=(0.0, 0.0),
        series=[
            Series(name=name, points=all_[::step], is_line=True) for name, all_ in used.items()
        ],
    )


def _sizes(report: EvolutionReport) -> Plot:
    step = max(1, -(-report.tasks // MOST_POINTS))

    def series(name: str, values: Sequence[int]) -> Series:
        points = [PlotPoint(x=at, y=value) for at, value in [*enumerate(values, start=1)][::step]]
        return Series(name=name, points=points, is_line=True, has_points=False)

    return Plot(
        caption="Teams in the pool after each task",
        x="task",
        y="teams",
        y_range=(0.0, 0.0),
        series=[
            series("members", report.sizes),
            series("born since the beginning", report.growth),
        ],
    )


def task_address(name: str, number: int) -> str:
    """Return the address of a task's page."""
    return f"{EVOLUTIONS}/{name}/task/{number}"


def _tasks(
    source: PoolSource, name: str, lines: Sequence[Mapping[str, Any]], number: int, links: Links
) -> dict[str, Any]:
    numbered = [*enumerate(lines)]
    part = paged(numbered, number, links, lambda page: f"{EVOLUTIONS}/{name}/tasks/{page}")
    return {
        "part": part,
        "table": PageTable(
            caption=counted(len(lines), "task"),
            heads=TASKS,
            rows=[_row(source, name, at, line, links) for at, line in part.shown],
        ),
    }


def _row(
    source: PoolSource, name: str, at: int, line: Mapping[str, Any], links: Links
) -> Sequence[str | TableCell]:
    score, team = line["score"], line.get("team", "")
    total = usage_of(line) + Usage(**line["operators"]) + Usage(**line["judging"])
    is_known = team in source.pool.teams
    return (
        TableCell(line["task"], links.to("", task_address(name, at))),
        line["niche"] or "",
        TableCell(verdict(score), badge=True),
        f"{score:g}",
        f"{line['first']:g}" if line.get("first") is not None else "",
        TableCell(team, links.to("", f"team/{team}") if is_known else ""),
        str(runs_of(line)),
        str(int(line.get("new", 0)) or ""),
        str(line["pool"]),
        f"{total.tokens:,}",
        total.cost,
    )


def _operators(report: EvolutionReport) -> PageTable:
    names = sorted({*report.operators, *report.spent})
    rows: list[Sequence[str]] = []
    for name in names:
        item = report.operators.get(name)
        usage = report.spent_by(name)
        rows.append(
            (
                name,
                str(item.made) if item and report.searched else "",
                str(item.dropped) if item else "",
                str(item.best) if item and report.searched else "",
                f"{usage.tokens:,}" if usage.calls else "",
            )
        )
    return PageTable(caption="What each operator contributed", heads=OPERATORS, rows=rows)
