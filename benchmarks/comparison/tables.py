"""Tables of evaluations, for papers and pages: Markdown, CSV or LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ...runtime.values.usage import tokens_of
from ...schema.values.terminal import with_interval

Format = Literal["markdown", "csv", "latex"]

_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{character: f"\\{character}" for character in "&%$#_{}"},
    }
)


def by_team(results: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return a table with a row for each evaluation: its figure, its size and its cost."""
    measures = list(dict.fromkeys(name for result in results for name in result["measures"]))
    return [_row(result, measures) for result in results]


def _row(record: Mapping[str, Any], measures: Sequence[str]) -> dict[str, str]:
    headline, usage = record["headline"], record["usage"]
    most = str(record["trials"])
    per_sample = max(1, record["samples"] + record["unscored"])
    tokens = tokens_of(usage)
    return {
        "benchmark": record["benchmark"],
        "team": record["team"],
        "models": ", ".join(f"{alias}={model}" for alias, model in record["models"].items()),
        headline["name"]: figure_text(headline),
        "tasks": f"{record['tasks']} x {most}",
        "pass@k": _number(record["pass@k"].get(most)),
        "ran": _number(record["execution_rate"]["value"]),
        **{name: _measure(record["measures"].get(name)) for name in measures},
        "missing": str(record["missing"]),
        "tokens each": f"{tokens / per_sample:.0f}",
        "cost": usage["cost"],
        **({"note": note} if (note := _note(record)) else {}),
    }


def _measure(measure: Mapping[str, Any] | None) -> str:
    """Format a measure's mean and interval, with the number of samples if not all have it."""
    if measure is None:
        return ""
    n, of = measure["n"], measure.get("of", measure["n"])
    interval = " [{:.3f}, {:.3f}]".format(*measure["interval"]) if "interval" in measure else ""
    return _number(measure["mean"]) + interval + (f" ({n} of {of})" if n < of else "")


def _note(record: Mapping[str, Any]) -> str:
    by_another = "another model answered in part" if record.get("substituted") else ""
    interrupted = "interrupted" if record.get("interrupted") else ""
    return ", ".join(filter(None, (by_another, interrupted)))


def by_agent(results: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return a table with a row for each agent of each evaluation: its model calls' consumption."""
    return [
        {
            "team": name,
            "agent": agent,
            "calls": str(usage["calls"]),
            "tokens": str(tokens_of(usage)),
            "cost": usage["cost"],
        }
        for name, result in zip(_names(results), results, strict=True)
        for agent, usage in result.get("agents", {}).items()
    ]


def by_niche(results: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return a table with a row for each niche and a column for each evaluation."""
    niches = sorted({niche for result in results for niche in result["niches"]})
    names = _names(results)
    return [
        {
            "niche": niche or "all",
            "tasks": str(
                max(result["niches"].get(niche, {}).get("tasks", 0) for result in results)
            ),
            **{
                name: figure_text(result["niches"][niche]) if niche in result["niches"] else ""
                for name, result in zip(names, results, strict=True)
            },
        }
        for niche in niches
    ]


def _names(results: Sequence[Mapping[str, Any]]) -> list[str]:
    """Name the columns; teams of one name get numbers."""
    names: list[str] = []
    for result in results:
        name, number = result["team"], 2
        while name in names:
            name, number = f"{result['team']} {number}", number + 1
        names.append(name)
    return names


def written(rows: Sequence[Mapping[str, str]], form: Format) -> str:
    """Format a table, without columns that no row has."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    if form == "csv":
        text = io.StringIO()
        writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue().rstrip("\n")
    if form == "latex":
        return _latex(columns, rows)
    cells = [columns, *([_cell(row.get(name, "")) for name in columns] for row in rows)]
    widths = [max(len(row[number]) for row in cells) for number in range(len(columns))]
    lines = [
        "| " + " | ".join(f"{c:<{w}}" for c, w in zip(row, widths, strict=True)) + " |"
        for row in cells
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def _latex(columns: Sequence[str], rows: Sequence[Mapping[str, str]]) -> str:
    """Format a table for LaTeX, which needs the package booktabs."""

    def line(cells: Sequence[str]) -> str:
        return "  " + " & ".join(cell.translate(_LATEX) for cell in cells) + r" \\"

    body = [line([row.get(name, "") for name in columns]) for row in rows]
    begin = rf"\begin{{tabular}}{{{'l' * len(columns)}}}"
    return "\n".join(
        [
            begin,
            r"  \toprule",
            line(columns),
            r"  \midrule",
            *body,
            r"  \bottomrule",
            r"\end{tabular}",
        ]
    )


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def figure_text(figure: Mapping[str, Any]) -> str:
    """Format a figure of results.json with its interval; empty without one."""
    if figure["value"] is None:
        return ""
    return with_interval(figure["value"], figure["interval"])


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
