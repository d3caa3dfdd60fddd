"""The 690 tasks: their queries, their domains, and the reference's calls."""

from __future__ import annotations

import ast
import csv
import functools
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ...schema.team.task import ScorerChoice, Task
from ...schema.values.errors import InputError
from ...schema.values.files import make_folder, write_atomically
from ...schema.values.values import is_list, is_texts
from ..evaluation.benchmark import Benchmark, Source
from ..evaluation.exporting import Answers
from ..evaluation.samples import Sample
from .answers import calls_in
from .domains import DOMAINS
from .tables import SOURCE, find_folder, load_tables
from .toolkits import TOOLKITS

COLUMNS = ("query", "function_calls", "full_response", "error")
_READ_BY_NAME = {
    "intermediate_steps": r"intermediate\x5fsteps",
    "array(": r"array\x28",
    "AgentAction(": r"AgentAction\x28",
}
NO_ANSWER = "The run ended without an answer."
FILES = {
    "analytics": "analytics",
    "calendar": "calendar",
    "crm": "customer_relationship_manager",
    "email": "email",
    "multi_domain": "multi_domain",
    "project_management": "project_management",
}
"""The niches in order, each with its part of the file name."""


def _export(answers: Answers, tools: str) -> str:
    """Write TARGET/DOMAIN/NAME_all.csv, or …_domains.csv, like the original's data/results."""
    if answers.target.is_file():
        raise InputError(f"{answers.target}: expected a folder, got a file.")
    folder = find_folder(answers.source.data)
    samples = {sample.task: sample for sample in answers.samples}
    texts: list[str] = []
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
            texts.append(f"{path}: {len(rows)} of {len(queries)} tasks{part}")
    return "\n".join(texts)


def calls_of(sample: Sample, log: str) -> list[str]:
    """Return the calls that a sample was judged by: those of its answer, else its tool calls."""
    listed = calls_in(sample.answer or "")
    if listed is not None or not log:
        return listed or []
    lines = json.loads(log)
    return [str(item) for item in lines] if is_list(lines) else []


def _row(query: str, sample: Sample, answers: Answers) -> Mapping[str, str]:
    error = "" if sample.answer is not None else sample.error or NO_ANSWER
    return {
        "query": query,
        "function_calls": repr(calls_of(sample, answers.log(sample))),
        "full_response": _response(query, sample.answer or ""),
        "error": error,
    }


def _response(query: str, answer: str) -> str:
    """Return an answer in the form of the original's agent, so that its evaluator can print it.

    The evaluator finds the answer's end, arrays and actions by their names; within texts these are
    escaped.
    """
    text = f"{{'input': {query!r}, 'output': {answer!r}"
    for name, escaped in _READ_BY_NAME.items():
        text = text.replace(name, escaped)
    return f"{text}, 'intermediate_steps': []}}"


def _text(rows: Sequence[Mapping[str, str]]) -> str:
    stream = io.StringIO()
    writer: csv.DictWriter[str] = csv.DictWriter(
        stream, COLUMNS, quoting=csv.QUOTE_ALL, lineterminator="\n"
    )
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


_ALWAYS = "company_directory"

_PROMPT = """\
You look after the calendar, the mail, the website, the project board and the customer records of \
an office worker. It is now Thursday, 2023-11-30, 00:00:00; read every date in the request from \
there. A meeting may start at 9:00 at the earliest and must be over by 18:00.

Request: {query}

These are the tools for it, with what each argument is when it is left out:
{tools}

If you can use the tools yourself, do what is asked with them. In any case, end your answer with a \
line FUNCTION_CALLS: and below it all calls that do what is asked, one on a line, in order, every \
argument named and in double quotes, for example
FUNCTION_CALLS:
calendar.delete_event.func(event_id="00000042")
If nothing has to be changed, write FUNCTION_CALLS: []
"""


def _tasks(source: Source, *, named_only: bool) -> Sequence[Task]:
    folder = find_folder(source.data)
    load_tables(folder)
    return [
        _task(niche, number, row, folder, named_only=named_only)
        for niche in FILES
        for number, row in enumerate(reference_rows(folder, niche))
    ]


def _task(niche: str, number: int, row: dict[str, str], folder: Path, *, named_only: bool) -> Task:
    named = literal_list(row["domains"], niche)
    # A domain without a toolkit of its name, such as the column's 'crm', adds none.
    chosen = [
        domain for domain in DOMAINS if not named_only or domain in named or domain == _ALWAYS
    ]
    return Task(
        id=f"{niche}-{number}",
        query=_PROMPT.format(query=row["query"], tools=_described(tuple(chosen))),
        niche=niche,
        answer=reference_calls(row, niche),
        scorer=ScorerChoice(name="workbench", options={"folder": str(folder), "toolkits": chosen}),
    )


@functools.cache
def _described(domains: tuple[str, ...]) -> str:
    operations = [operation for domain in domains for operation in DOMAINS[domain]]
    return "\n".join(f"- {operation.signature}: {operation.about}" for operation in operations)


def reference_rows(folder: Path, niche: str) -> Sequence[dict[str, str]]:
    """Read the file of a niche: `query`, `answer` and `domains` of each of its tasks.

    Raises:
        InputError: It cannot be read, or has an unexpected form.
    """
    name = f"{FILES[niche]}_queries_and_answers.csv"
    path = folder / "data" / "processed" / "queries_and_answers" / name
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(_checked(csv.DictReader(file), path))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path} cannot be read: {error}. To get it, {SOURCE}.") from None
    return rows


def _checked(rows: csv.DictReader[str], path: Path) -> Iterator[dict[str, str]]:
    for row in rows:
        if missing := {"query", "answer", "domains"} - {k for k, text in row.items() if text}:
            raise InputError(f"{path}: a row has no {', '.join(sorted(missing))}. {SOURCE}.")
        yield row


def reference_calls(row: dict[str, str], niche: str) -> list[str]:
    """Return the reference's calls of a row of `reference_rows`."""
    return literal_list(row["answer"], niche)


def literal_list(text: str, niche: str) -> list[str]:
    """Parse a list of texts in Python's notation.

    Raises:
        InputError: It is none.
    """
    try:
        result = ast.literal_eval(text)
    except (SyntaxError, ValueError) as error:
        raise InputError(f"the tasks of {niche}: {text[:80]!r} is not a list: {error}.") from None
    if not is_texts(result):
        raise InputError(f"the tasks of {niche}: {text[:80]!r} is not a list of texts.")
    return result


_CITATION = (
    "Styles et al., WorkBench: a Benchmark Dataset for Agents in a Realistic Workplace Setting,"
    " 2024, arXiv:2405.00823"
)

WORKBENCH = Benchmark(
    name="workbench",
    title="WorkBench, all tools",
    about=(
        "690 requests of an office worker. Right is what leaves five tables in the state that the"
        " reference leaves them in; changes that lead elsewhere are counted as side effects."
    ),
    licence="MIT, (c) 2024 Mindsdb",
    citation=_CITATION,
    source=SOURCE,
    tasks=functools.partial(_tasks, named_only=False),
    exports={"workbench": functools.partial(_export, tools="all")},
    tools=TOOLKITS,
)

WORKBENCH_DOMAINS = Benchmark(
    name="workbench-domains",
    title="WorkBench, tools of the named domains",
    about=(
        "The requests of workbench, each with the tools of the domains that its file names and the"
        " directory. As in the original, 50 requests over several domains are without the customer"
        " tools that 32 of them need: the file calls them by another name."
    ),
    licence=WORKBENCH.licence,
    citation=_CITATION,
    source=SOURCE,
    tasks=functools.partial(_tasks, named_only=True),
    exports={"workbench": functools.partial(_export, tools="domains")},
    tools=TOOLKITS,
)
