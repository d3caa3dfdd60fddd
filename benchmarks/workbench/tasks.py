"""The 690 tasks: what is asked, of which domains, and the reference's calls."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path

from ...schema.team.task import ScorerChoice, Task
from ..evaluation.benchmark import Benchmark, Source
from .domains import DOMAINS
from .export import export_all_tools, export_named_tools
from .references import FILES, literal_list, reference_calls, reference_rows
from .tables import SOURCE, find_folder, load_tables
from .toolkits import TOOLKITS

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


def _all_tools(source: Source) -> Sequence[Task]:
    return _tasks(source, named_only=False)


def _named_tools(source: Source) -> Sequence[Task]:
    return _tasks(source, named_only=True)


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
    # A domain that no toolkit has the name of brings none: the column's 'crm' is one.
    chosen = [one for one in DOMAINS if not named_only or one in named or one == _ALWAYS]
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
    return "\n".join(f"- {one.signature}: {one.about}" for one in operations)


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
    tasks=_all_tools,
    exports={"workbench": export_all_tools},
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
    tasks=_named_tools,
    exports={"workbench": export_named_tools},
    tools=TOOLKITS,
)
