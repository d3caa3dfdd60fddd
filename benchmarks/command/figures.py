"""Figures of an evaluation, for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...runtime.values.terminal import counted
from ..comparison.tables import by_niche, written


def summary(told: Mapping[str, Any]) -> str:
    """Write the figures of results.json."""
    lines = [_headline(told)]
    if told["trials"] > 1:
        passed = {f"pass@{k}": value for k, value in told["pass@k"].items() if value is not None}
        shown = ", ".join(f"{name} {value:.3f}" for name, value in passed.items())
        lines.append(f"avg@{told['trials']} {told['avg@k']:.3f}, {shown}")
    lines += [
        f"{name}: {measure['mean']:.3f}{_interval(measure)}"
        f" ({measure['n']} of {counted(measure['of'], 'sample')})"
        for name, measure in told["measures"].items()
    ]
    ran = told["execution_rate"]
    if ran["value"] is not None:
        low, high = ran["interval"]
        lines.append(f"ran to an answer: {ran['value']:.3f} [{low:.3f}, {high:.3f}] of {ran['n']}")
    usage = told["usage"]
    tokens = usage["prompt_tokens"] + usage["completion_tokens"]
    lines.append(
        f"{counted(usage['calls'], 'call')}, {counted(tokens, 'token')}, {usage['cost']},"
        f" {told['seconds']:.1f} s of runs{_wall(told)}"
    )
    if len(told.get("agents", ())) > 1:
        lines += [f"  {name}: {_spent(used)}" for name, used in told["agents"].items()]
    if latency := told["latency"]:
        lines.append(f"seconds of a trial: {_percentiles(latency)}{_of_calls(told)}")
    lines += warnings_of(told)
    if len(told["niches"]) > 1:
        lines += ["", written(by_niche([told]), "markdown")]
    return "\n".join(lines)


def _interval(figure: Mapping[str, Any]) -> str:
    return " [{:.3f}, {:.3f}]".format(*figure["interval"]) if "interval" in figure else ""


def _spent(usage: Mapping[str, Any]) -> str:
    tokens = usage["prompt_tokens"] + usage["completion_tokens"]
    return f"{counted(usage['calls'], 'call')}, {counted(tokens, 'token')}, {usage['cost']}"


def _percentiles(latency: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {seconds:.3g}" for name, seconds in latency.items())


def _of_calls(told: Mapping[str, Any]) -> str:
    return f"; of a call: {_percentiles(told['calls'])}" if told.get("calls") else ""


def _wall(told: Mapping[str, Any]) -> str:
    return f" in {told['wall_seconds']:.1f} s" if "wall_seconds" in told else ""


def _headline(told: Mapping[str, Any]) -> str:
    headline = told["headline"]
    if headline["value"] is None:
        return "no sample has a score."
    low, high = headline["interval"]
    return (
        f"{headline['name']} {headline['value']:.3f} [{low:.3f}, {high:.3f}] over"
        f" {counted(told['tasks'], 'task')} x {counted(told['trials'], 'trial')}"
    )


def warnings_of(told: Mapping[str, Any]) -> list[str]:
    """Return what stands against the figures of results.json."""
    texts: list[str] = []
    if told["missing"]:
        texts.append(
            f"not complete: {counted(told['missing'], 'sample')} missing,"
            f" {told['unscored']} of them failed because of a provider or this host"
        )
    if told.get("substituted"):
        many = counted(told["substituted"], "sample")
        texts.append(f"in {many} another model answered than the one that the team names")
    return texts
