"""Competition mathematics with answers in LaTeX: `math500`, and its hard problems as a stream."""

from __future__ import annotations

from dataclasses import replace

from ...schema.team.task import ScorerChoice, Task
from ..evaluation.benchmark import Benchmark, Source
from .mathematics import needing_math
from .named import NamedFile, NamedItem

FILE = NamedFile(
    name="math500.jsonl",
    published="the 500 problems of Lightman et al. are published",
    fields={"problem": str, "answer": str, "subject": str, "level": int},
)
REQUEST = "Solve the problem. Put the final answer, and nothing else, into \\boxed{} at the end."
HARD = 4
"""The minimum level of a problem in the stream `hard-math`, as in EvoChamber §4.1."""


def math500_tasks(source: Source, benchmark: str = "math500") -> list[Task]:
    """Return a task for each line of the file, in its order."""
    return [_task(line) for line in FILE.read(benchmark, source)]


def hard_math_tasks(source: Source) -> list[Task]:
    """Return the problems of levels 4 and 5, in the order of the file. All have one niche."""
    return [replace(task, niche="math_hard") for task, _ in _hard(source, "hard-math")]


def hard_math_by_subject_tasks(source: Source) -> list[Task]:
    """Return the same problems, with the subject as the niche."""
    hard = _hard(source, "hard-math-by-subject")
    return [replace(task, niche=_plain(line.case["subject"])) for task, line in hard]


def _hard(source: Source, benchmark: str) -> list[tuple[Task, NamedItem]]:
    lines = FILE.read(benchmark, source)
    return [(_task(line), line) for line in lines if line.case["level"] >= HARD]


def _task(item: NamedItem) -> Task:
    case = item.case
    return Task(
        id=f"math500-{item.number:03}",
        query=f"{case['problem']}\n\n{REQUEST}",
        niche=f"{_plain(case['subject'])}_{case['level']}",
        answer=case["answer"],
        scorer=ScorerChoice(name="math"),
    )


def _plain(subject: str) -> str:
    """Return a subject as a niche: `counting_probability` for `Counting & Probability`."""
    words = "".join(char if char.isalnum() else " " for char in subject.casefold())
    return "_".join(words.split())


LICENCE = "MIT, Copyright (c) 2021 Dan Hendrycks"
CITATION = (
    "Hendrycks et al., Measuring Mathematical Problem Solving With the MATH Dataset,"
    " arXiv:2103.03874 (2021); the selection: Lightman et al., arXiv:2305.20050 (2023)"
)

MATH500 = Benchmark(
    name="math500",
    title="MATH, 500 problems of the test split (2021)",
    about=(
        "Competition mathematics. An answer is right if what it boxes, else its last expression,"
        " means the same as the published answer by math-verify, which reads it in a jail. A niche"
        " is a subject and a level, such as `algebra_5`: --instances cannot choose by it, --limit"
        " keeps the shares. Other verdicts than math-verify's give other figures."
    ),
    licence=LICENCE,
    citation=CITATION,
    source=FILE.how_to_get,
    tasks=math500_tasks,
    prepare=needing_math("math500"),
)

HARD_MATH = Benchmark(
    name="hard-math",
    title="MATH, the 262 problems of levels 4 and 5 of math500, as a stream (2021)",
    about=(
        "The hard problems of math500 in the order of the file, with its verdicts and ids. These"
        " are as many of MATH as EvoChamber's Hard Math Stream has; the 120 of AIME that follow"
        " there are not here. As there, the niche is the data set: all tasks are of `math_hard`."
        " hard-math-by-subject has seven niches instead."
    ),
    licence=LICENCE,
    citation=CITATION,
    source=FILE.how_to_get,
    tasks=hard_math_tasks,
    trials=1,
    prepare=needing_math("hard-math"),
)

HARD_MATH_BY_SUBJECT = Benchmark(
    name="hard-math-by-subject",
    title="The stream hard-math with subjects for niches (2021)",
    about=(
        "The tasks of hard-math in the same order, with the niche that EvoChamber's stream does"
        " not have: the subject of a problem, one of seven, such as `number_theory`."
    ),
    licence=LICENCE,
    citation=CITATION,
    source=FILE.how_to_get,
    tasks=hard_math_by_subject_tasks,
    trials=1,
    prepare=needing_math("hard-math-by-subject"),
)
