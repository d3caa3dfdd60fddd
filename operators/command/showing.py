"""All that an evolution tried on a task: each candidate, what it was made of and what it said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...runtime.agents.outcomes import Run
from ...runtime.record.journal import FILE as JOURNAL
from ...runtime.record.journal import Journal
from ...runtime.values.operator_answers import answer_warnings, useless_answers
from ...runtime.values.terminal import counted, speakable
from ...runtime.values.usage import Usage
from ...schema.values.codec import from_value
from ..evolution.lines import answers_of, candidates_of, lines_in, score_text

LONGEST_ANSWER = 600
"""Characters of an answer that people are shown; JSON has all of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """What was tried on a task.

    Attributes:
        runs: The runs of each candidate, as the journal has them; none where it is not here.
        others: The runs of an episode that had no candidates, by what they were.
    """

    line: Mapping[str, Any]
    runs: Sequence[Sequence[Run]]
    others: Mapping[str, Run]

    @classmethod
    def of(cls, folder: Path, number: int) -> Shown:
        """Read what was tried on a task.

        Args:
            number: The task's, from 0; it is done.
        """
        line = [*lines_in(folder)][number]
        return cls(
            line=line,
            runs=list(_runs(folder, number, line)),
            others=dict(_others(folder, number, line.get("runs", ()))),
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
        """Write it for people."""
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


def _others(folder: Path, number: int, names: Sequence[str]) -> Iterator[tuple[str, Run]]:
    """Yield the runs of an episode by their names, as far as the journal has them."""
    if not names or not (folder / JOURNAL).exists():
        return
    with Journal.open(folder, replaying=True) as journal:
        for what in names:
            under = f"task {number:06d}/{what}/outcome"
            yield from (
                (what, from_value(Run, value)) for value in journal.values("run", under=under)
            )


def _runs(folder: Path, number: int, line: Mapping[str, Any]) -> Iterator[list[Run]]:
    if not (folder / JOURNAL).exists():
        yield from ([] for _ in candidates_of(line))
        return
    with Journal.open(folder, replaying=True) as journal:
        for candidate in candidates_of(line):
            under = f"task {number:06d}/candidate {candidate['number']}/"
            yield [from_value(Run, value) for value in journal.values("run", under=under)]


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
