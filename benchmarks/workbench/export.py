"""Answers to WorkBench as its own runs record them: a CSV file for each file of tasks."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

from ...schema.values.errors import InputError
from ...schema.values.files import make_folder, write_atomically
from ...schema.values.values import is_list
from .answers import calls_in
from .references import FILES, reference_rows
from .tables import find_folder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..evaluation.exporting import Answers
    from ..evaluation.samples import Sample

COLUMNS = ("query", "function_calls", "full_response", "error")
_READ_BY_NAME = {
    "intermediate_steps": r"intermediate\x5fsteps",
    "array(": r"array\x28",
    "AgentAction(": r"AgentAction\x28",
}
NO_ANSWER = "The run ended without an answer."


def export_all_tools(answers: Answers) -> str:
    """Write runs with all tools; see `_export`."""
    return _export(answers, "all")


def export_named_tools(answers: Answers) -> str:
    """Write runs with the tools of the named domains; see `_export`."""
    return _export(answers, "domains")


def _export(answers: Answers, tools: str) -> str:
    """Write TARGET/DOMAIN/NAME_all.csv, or …_domains.csv, laid out as the original's data/results."""
    if answers.target.is_file():
        raise InputError(f"{answers.target}: a folder is written, and this is a file.")
    folder = find_folder(answers.source.data)
    samples = {sample.task: sample for sample in answers.samples}
    told: list[str] = []
    for niche, domain in FILES.items():
        queries = [row["query"] for row in reference_rows(folder, niche)]
        named = {f"{niche}-{number}": query for number, query in enumerate(queries)}
        rows = [
            _row(query, samples[name], answers) for name, query in named.items() if name in samples
        ]
        if rows:
            make_folder(answers.target)
            make_folder(answers.target / domain)
            path = answers.target / domain / f"{answers.name}_{tools}.csv"
            write_atomically(path, _text(rows))
            part = "" if len(rows) == len(queries) else ", which the original evaluator refuses"
            told.append(f"{path}: {len(rows)} of {len(queries)} tasks{part}")
    return "\n".join(told)


def calls_of(sample: Sample, log: str) -> list[str]:
    """Give the calls that a sample was judged by: those of its answer, else those of its tools."""
    listed = calls_in(sample.answer or "")
    if listed is not None or not log:
        return listed or []
    kept = json.loads(log)
    return [str(one) for one in kept] if is_list(kept) else []


def _row(query: str, sample: Sample, answers: Answers) -> Mapping[str, str]:
    error = "" if sample.answer is not None else sample.error or NO_ANSWER
    return {
        "query": query,
        "function_calls": repr(calls_of(sample, answers.log(sample))),
        "full_response": _response(query, sample.answer or ""),
        "error": error,
    }


def _response(query: str, answer: str) -> str:
    """Write an answer as the original's agent gives it, so that its evaluator can print it.

    That finds the end of the answer, arrays and actions by their names; within texts they are
    written with an escape.
    """
    said = f"{{'input': {query!r}, 'output': {answer!r}"
    for name, escaped in _READ_BY_NAME.items():
        said = said.replace(name, escaped)
    return f"{said}, 'intermediate_steps': []}}"


def _text(rows: Sequence[Mapping[str, str]]) -> str:
    stream = io.StringIO()
    writer: csv.DictWriter[str] = csv.DictWriter(
        stream, COLUMNS, quoting=csv.QUOTE_ALL, lineterminator="\n"
    )
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()
