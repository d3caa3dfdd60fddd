"""Everything that an evolution tried on a task: each candidate, its origin and its answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...runtime.agents.outcomes import Run
from ...runtime.record.journal import FILE as JOURNAL
from ...runtime.record.journal import Journal
from ...runtime.values.operator_answers import answer_warnings, useless_answers
from ...runtime.values.usage import Usage
from ...schema.values.codec import from_value
from ...schema.values.terminal import counted, speakable
from ..evolution.lines import answers_of, candidates_of, lines_in, score_text

LONGEST_ANSWER = 600
"""The most characters of an answer for people; JSON has the whole answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """The attempts on a task.

    Attributes:
        runs: The runs of each candidate, from the journal; empty if that is missing.
        others: The runs of an episode without candidates, by name.
    """

    line: Mapping[str, Any]
    runs: Sequence[Sequence[Run]]
    others: Mapping[str, Run]

    @classmethod
    def of(cls, folder: Path, number: int) -> Shown:
        """Read the attempts on a task.

        Args:
            number: The number of a finished task, from 0.
        """
        line, task = [*lines_in(folder)][number], f"task {number:06d}"
        numbers = (candidate["number"] for candidate in candidates_of(line))
        names = line.get("runs", ())
        others = _runs(folder, [f"{task}/{name}/outcome" for name in names])
        return cls(
            line=line,
            runs=_runs(folder, [f"{task}/candidate {number}/" for number in numbers]),
            others={name: run for name, runs in zip(names, others, strict=True) for run in runs},
        )

    def value(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        if not (candidates := candidates_of(self.line)):
            return {
                **self.line,
                "runs": {what: told_of_run(run) for what, run in self.others.items()},
            }
        pairs = zip(candidates, self.runs, strict=True)
        shown = [
            {**candidate, "runs": [told_of_run(run) for run in runs]} for candidate, runs in pairs
        ]
        return {**self.line, "candidates": shown}

    def __str__(self) -> str:
        """Return it as text for people."""
        line = self.line
        niche = f" (niche {line['niche']})" if line["niche"] else ""
        lines = [
            f"task {line['task']}{niche}: {score_text(line)}, scored by the {line['scored_by']}",
        ]
        for place, (fields, runs) in enumerate(zip(candidates_of(line), self.runs, strict=True)):
            lines += ["", *_candidate(fields, runs, is_best=place == line["best"])]
        for what, run in self.others.items():
            lines += ["", what, *_answers([run])]
        if not candidates_of(line):
            lines += ["", *(f"{name}: {number:g}" for name, number in line["told"].items())]
        for fields in line["dropped"]:
            lines += ["", f"dropped  {fields['operator']}: {fields['reason']}"]
            lines += [f"  {problem}" for problem in fields["problems"]]
        lines += ["", *useless_answers(answers_of(line))]
        lines += [f"warning: {warning}" for warning in answer_warnings(answers_of(line))]
        return speakable("\n".join(lines).rstrip())


def _runs(folder: Path, paths: Sequence[str]) -> list[list[Run]]:
    """Return the runs below each path, as far as the journal has them."""
    if not (folder / JOURNAL).exists():
        return [[] for _ in paths]
    with Journal.open(folder, replaying=True) as journal:
        values = [journal.values("run", under=path) for path in paths]
    return [[from_value(Run, value) for value in of_path] for of_path in values]


def _candidate(
    candidate: Mapping[str, Any], runs: Sequence[Run], *, is_best: bool
) -> Iterator[str]:
    name = candidate["team"] or "not kept"
    made_of = [f"candidate {number}" for number in candidate["sources"]] or candidate["parents"]
    how = (
        f"{candidate['operator']} {candidate['component']}"
        if candidate["component"]
        else candidate["operator"]
    )
    best = ", the best" if is_best else ""
    usage, saved = Usage(**candidate["usage"]), Usage(**candidate.get("saved", {}))
    less = (
        f", {counted(saved.calls, 'call')} and {saved.tokens} of them saved" if saved.calls else ""
    )
    yield (
        f"candidate {candidate['number']}  {how} of {' and '.join(made_of)}: {name}{best}; score"
        f" {candidate['score']:g}, reward {candidate['reward']:g}, {counted(usage.calls, 'call')},"
        f" {usage.tokens} tokens{less}"
    )
    if candidate["reason"]:
        yield f"  why: {candidate['reason']}"
    yield from (f"  edit: {edit}" for edit in candidate["edits"])
    if not runs:
        yield "  answers are not shown: their journal is not here"
    yield from _answers(runs)


def _answers(runs: Sequence[Run]) -> Iterator[str]:
    for run in runs:
        fields = told_of_run(run)
        yield (
            f"  answer: {_short(fields['answer'])}" if fields["answer"] else f"  {fields['error']}"
        )
        for agent, mishaps in fields["mishaps"].items():
            yield from (f"  fault of {agent}: {mishap}" for mishap in mishaps)


def told_of_run(run: Run) -> dict[str, Any]:
    """Return the result of a run, as a JSON object."""
    return {
        "answer": run.answer,
        "status": run.status,
        "error": run.error,
        "agents": {
            name: agent.result.content if agent.result else None
            for name, agent in run.agents.items()
        },
        "mishaps": {
            name: list(agent.mishaps) for name, agent in run.agents.items() if agent.mishaps
        },
    }


def _short(text: str) -> str:
    whole = " ".join(text.split())
    if len(whole) <= LONGEST_ANSWER:
        return whole
    return f"{whole[:LONGEST_ANSWER]}… ({len(whole)} characters)"
