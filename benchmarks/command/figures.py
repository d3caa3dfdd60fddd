"""Figures of an evaluation, for readers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...runtime.values.usage import Usage, tokens_of
from ...schema.values.terminal import counted
from ..comparison.tables import by_niche, figure_text, written


def summary(figures: Mapping[str, Any]) -> str:
    """Format the figures of results.json."""
    lines = [_headline(figures)]
    if figures["trials"] > 1:
        passed = {f"pass@{k}": value for k, value in figures["pass@k"].items() if value is not None}
        shown = ", ".join(f"{name} {value:.3f}" for name, value in passed.items())
        lines.append(f"avg@{figures['trials']} {figures['avg@k']:.3f}, {shown}")
    lines += [
        f"{name}: {measure['mean']:.3f}{_interval(measure)}"
        f" ({measure['n']} of {counted(measure['of'], 'sample')})"
        for name, measure in figures["measures"].items()
    ]
    ran = figures["execution_rate"]
    if ran["value"] is not None:
        lines.append(f"ran to an answer: {figure_text(ran)} of {ran['n']}")
    lines.append(f"{_spent(figures['usage'])}, {figures['seconds']:.1f} s of runs{_wall(figures)}")
    if len(figures.get("agents", ())) > 1:
        lines += [f"  {name}: {_spent(used)}" for name, used in figures["agents"].items()]
    if latency := figures["latency"]:
        lines.append(f"seconds of a trial: {_percentiles(latency)}{_of_calls(figures)}")
    lines += warnings_of(figures)
    if len(figures["niches"]) > 1:
        lines += ["", written(by_niche([figures]), "markdown")]
    return "\n".join(lines)


def _interval(figure: Mapping[str, Any]) -> str:
    return " [{:.3f}, {:.3f}]".format(*figure["interval"]) if "interval" in figure else ""


def _spent(usage: Mapping[str, Any]) -> str:
    tokens = counted(tokens_of(usage), "token")
    return f"{counted(usage['calls'], 'call')}, {tokens}, {usage['cost']}"


def _percentiles(latency: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {seconds:.3g}" for name, seconds in latency.items())


def _of_calls(figures: Mapping[str, Any]) -> str:
    return f"; of a call: {_percentiles(figures['calls'])}" if figures.get("calls") else ""


def _wall(figures: Mapping[str, Any]) -> str:
    return f" in {figures['wall_seconds']:.1f} s" if "wall_seconds" in figures else ""


def _headline(figures: Mapping[str, Any]) -> str:
    headline = figures["headline"]
    if headline["value"] is None:
        return "no sample has a score."
    return (
        f"{headline['name']} {figure_text(headline)} over"
        f" {counted(figures['tasks'], 'task')} x {counted(figures['trials'], 'trial')}"
    )


def _beside(figures: Mapping[str, Any]) -> list[str]:
    """Return what was paid for beside the samples: trials without a result, broken-off calls."""
    usage = {name: count for name, count in figures["usage"].items() if name != "cost"}
    more = Usage(**figures.get("paid", {})) - Usage(**usage)
    calls = f"{counted(more.calls, 'call')} without a result"
    return [f"beside these: {calls}, {more.cost}"] if more.calls else []


def warnings_of(figures: Mapping[str, Any]) -> list[str]:
    """Return caveats of the figures of results.json."""
    texts = _beside(figures)
    if figures["missing"]:
        texts.append(
            f"incomplete: {counted(figures['missing'], 'sample')} missing,"
            f" {figures['unscored']} of them failed because of a provider or this host"
        )
    if figures.get("substituted"):
        many = counted(figures["substituted"], "sample")
        texts.append(f"in {many}, a model answered that the team does not name")
    return texts
