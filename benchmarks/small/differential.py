"""The benchmark `differential`: records of invented conditions, which departments know in part.

`python -m coterie.benchmarks.small.differential` prints what can be had and what comes by chance.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import click

from ...runtime.scoring.ranked import HITS, ranked
from ...schema.command import Command
from ...schema.team.task import ScorerChoice
from ..comparison.tables import written
from ..evaluation.benchmark import Headline, Source, mean_score
from ..evaluation.figures import EvaluationFigures
from ..evaluation.measures import RANKED
from ..evaluation.samples import Sample
from .conditions import CaseWorld, likeliest, read_brief
from .generated.generated import LEVELS, Item, in_worlds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...schema.team.task import Task
    from .generated.generated import Write

__all__ = ["DIFFERENTIAL", "by_chance", "by_department", "with_all_briefs"]

SHOWN = 10
FEW = 4
"""So many findings at most make a short record."""

ASK = "Which condition does this patient have? Findings: "
"""The record stands in the question, so that tasks are alike where records are."""
RULES = (
    "Rank the {count} likeliest conditions, the likeliest first, by name, one on a numbered line."
    " What the record does not list was not found. The conditions that are known here: {names}."
)
MRR = Headline(name="MRR", of=mean_score)


def _in_world(seed: int, level: int) -> Write:
    """Give what draws cases of the world of a seed and a level."""
    world = CaseWorld.of(seed, level)
    names = [condition.name for condition in world.conditions]
    rules = RULES.format(count=min(SHOWN, len(names)), names=", ".join(names))
    briefs = world.briefs()

    def write(chance: random.Random, _level: int) -> Item:
        truth = chance.choice(world.conditions)
        record = [
            finding for finding in world.findings if chance.random() < truth.chance_of(finding)
        ]
        chance.shuffle(record)
        return Item(
            kind="short" if len(record) <= FEW else "long",
            query=f"{ASK}{', '.join(record) or 'none'}.",
            context=rules,
            answer=truth.name,
            scorer=ScorerChoice(name="ranked"),
            briefs=briefs,
        )

    return write


DIFFERENTIAL = in_worlds(
    "differential",
    "Differential diagnosis of invented conditions",
    "A record of findings; the answer is a ranked list of conditions, and its figure the MRR. Every"
    " department, an agent's id, is told by a brief how often its own conditions come with which"
    " findings, so nobody alone knows all. Level 1: 2 departments with 3 conditions each; level 5:"
    " 8 with 12. All cases of a seed and a level are about the same conditions. The niches are"
    f" `short`, records of at most {FEW} findings, and `long`.",
    _in_world,
    headline=MRR,
    measures=RANKED,
)


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
    told = EvaluationFigures.of(samples, MRR, RANKED).results()
    figures = {"MRR": told["headline"], **{f"Hit@{k}": told["measures"][f"hit@{k}"] for k in HITS}}
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
