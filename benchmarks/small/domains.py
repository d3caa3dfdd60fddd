"""The benchmark `domains`: four blocks of 100 tasks, each from another benchmark."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...schema.team.task import Task
from ..evaluation.benchmark import Benchmark, Source
from . import gsm8k, humaneval, math500, mbpp
from .mathematics import needing_math

NAME = "domains"
BLOCK = 100
DRAWN_FROM = (gsm8k.GSM8K, math500.MATH500, mbpp.MBPP, humaneval.HUMANEVAL)
FILES = (gsm8k.WHOLE, math500.FILE, mbpp.FILE)


def domain_blocks(source: Source) -> Iterator[tuple[str, Sequence[Task]]]:
    """Yield each domain with its source tasks, in the order of the stream."""
    yield "gsm8k", gsm8k.gsm8k_tasks(source, NAME)
    yield "math", math500.math500_tasks(source, NAME)
    yield "mbpp", mbpp.mbpp_tasks(source, NAME)
    yield "humaneval", humaneval.humaneval_tasks(humaneval.beside(source))


def domains_tasks(source: Source) -> list[Task]:
    """Return the 400 tasks: a fixed selection of 100 per domain, in the order of its file."""
    return [task for niche, tasks in domain_blocks(source) for task in _block(niche, tasks)]


def _block(niche: str, tasks: Sequence[Task]) -> Iterator[Task]:
    chance = random.Random(f"{NAME} {niche}")  # noqa: S311 - the same draw every time
    drawn = sorted(chance.sample(range(len(tasks)), min(BLOCK, len(tasks))))
    return (replace(tasks[number], niche=niche) for number in drawn)


DOMAINS = Benchmark(
    name=NAME,
    title="Blocks of GSM8K, MATH, MBPP and HumanEval, 100 tasks each, as a stream",
    about=(
        "400 tasks: 100 of gsm8k, then 100 of math500, of mbpp and of humaneval, each with the id"
        " and the verdict that it has there, and its domain for a niche. Which 100 is drawn once,"
        " by the domain's name: everybody has the same; --seed does not change it. EvoChamber's"
        " AFlow-Stream is of this form, has HotpotQA and DROP as well and other items, so its"
        " figures are others. --shuffle mixes the blocks."
    ),
    licence="; ".join(f"{benchmark.name}: {benchmark.licence}" for benchmark in DRAWN_FROM),
    citation="; ".join(benchmark.citation for benchmark in DRAWN_FROM),
    source=(
        f"Name the folder that has {', '.join(file.name for file in FILES)} with --data, each as"
        f" `mas-bench list` says of its own benchmark. {humaneval.FILE.name} is taken from there"
        " too, where it is there, else it is fetched."
    ),
    tasks=domains_tasks,
    trials=1,
    prepare=needing_math(NAME),
)
