"""What can be had of `differential`, what one department reaches, and what comes by chance."""

from __future__ import annotations

import math
import random
import re
from typing import TYPE_CHECKING

import click

from coterie.benchmarks.comparison.tables import written
from coterie.benchmarks.evaluation.benchmark import Source
from coterie.benchmarks.evaluation.figures import EvaluationFigures
from coterie.benchmarks.evaluation.measures import RANKED
from coterie.benchmarks.evaluation.samples import Sample
from coterie.benchmarks.small.differential import ASK, DIFFERENTIAL, MRR, CaseCondition
from coterie.benchmarks.small.generated.generated import LEVELS
from coterie.runtime.scoring.ranked import HITS, ranked
from coterie.schema.command import Command

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from coterie.schema.team.task import Task

_LINE = re.compile(r"- (\w+): frequent: ([^;]*); occasional: (.*)\.")


def read_brief(brief: str) -> list[CaseCondition]:
    """Read the conditions that a brief tells."""
    return [
        CaseCondition(
            name=name,
            frequent=tuple(frequent.split(", ")),
            occasional=tuple(occasional.split(", ")),
        )
        for name, frequent, occasional in _LINE.findall(brief)
    ]


def likeliest(record: Iterable[str], known: Iterable[CaseCondition]) -> list[str]:
    """Rank conditions by what a record makes of them (Bayes, all of them alike before it).

    Args:
        record: What was found; nothing else was.
        known: The conditions.
    """
    texts, among = set(record), list(known)
    possible = sorted(
        texts.union(*((*condition.frequent, *condition.occasional) for condition in among))
    )

    def unlikely(condition: CaseCondition) -> tuple[float, str]:
        chances = ((condition.chance_of(finding), finding in texts) for finding in possible)
        logs = (math.log(chance if is_there else 1 - chance) for chance, is_there in chances)
        return -sum(logs), condition.name

    return [condition.name for condition in sorted(among, key=unlikely)]


def with_all_briefs(task: Task) -> list[str]:
    """Rank by Bayes with everything that any department is told: nobody can do better."""
    return likeliest(
        _record(task),
        [condition for brief in task.briefs.values() for condition in read_brief(brief)],
    )


def by_department(task: Task) -> list[str]:
    """Rank with what one department alone is told, drawn by the task; the others by chance."""
    chance = random.Random(task.id)  # noqa: S311 - the same every time
    own = read_brief(task.briefs[chance.choice(sorted(task.briefs))])
    first = likeliest(_record(task), own)
    return [*first, *(name for name in by_chance(task) if name not in first)]


def by_chance(task: Task) -> list[str]:
    """Rank all conditions that are known in an order that says nothing."""
    names = task.context.rpartition(": ")[2].rstrip(".").split(", ")
    return random.Random(f"{task.id}/chance").sample(names, len(names))  # noqa: S311


def _record(task: Task) -> list[str]:
    listed = task.query.removeprefix(ASK).rstrip(".")
    return [] if listed == "none" else listed.split(", ")


SOLVERS = {
    "all briefs, Bayes": with_all_briefs,
    "one department": by_department,
    "chance": by_chance,
}


def _row(level: int, name: str, tasks: Sequence[Task]) -> dict[str, str]:
    samples = [_sample(task, SOLVERS[name](task)) for task in tasks]
    report = EvaluationFigures.of(samples, MRR, RANKED).results()
    figures = {
        "MRR": report["headline"],
        **{f"Hit@{k}": report["measures"][f"hit@{k}"] for k in HITS},
    }
    shown = {
        label: "{:.3f} [{:.3f}, {:.3f}]".format(
            figure.get("value", figure.get("mean")), *figure["interval"]
        )
        for label, figure in figures.items()
    }
    return {"level": str(level), "solver": name, "n": str(len(tasks)), **shown}


def _sample(task: Task, ranking: Sequence[str]) -> Sample:
    answer = "\n".join(f"1. {name}" for name in ranking)
    score = ranked(answer, task.answer, task.scorer.options)
    return Sample(
        task=task.id, trial=1, niche=task.niche or "", status="done", answer=answer,
        score=score.value, measures=score.measures,
    )  # fmt: skip


@click.command(cls=Command)
@click.option("--count", type=click.IntRange(min=1), default=1000, show_default=True)
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Which world, and which cases."
)
def main(count: int, seed: int) -> None:
    """Print what a solver reaches that is told everything, one department alone, and chance."""
    rows: list[dict[str, str]] = []
    for level in range(1, LEVELS + 1):
        tasks = DIFFERENTIAL.tasks(Source(seed=seed, level=level, count=count))
        rows += [_row(level, name, tasks) for name in SOLVERS]
    click.echo(written(rows, "markdown"))


if __name__ == "__main__":
    main()
