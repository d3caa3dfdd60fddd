"""What draws are made from in tests: seeds with trials that are half of them right."""

import random
from collections.abc import Sequence
from itertools import islice
from typing import Any

from coterie.benchmarks.streams.tasks import stream
from coterie.operators.core.proposal import Proposal
from coterie.operators.methods.race.ceiling import allowed_by_default
from coterie.operators.methods.race.drawn import KINDS, DrawnFrom
from coterie.operators.methods.race.task_trial import TaskTrial
from coterie.runtime import AgentOutcome, Run, Score
from coterie.runtime.agents.runner import AgentResult
from coterie.schema import Task, Team

from ....asking import catalogue, llm, seed, team

SOLO = team("solo", llm("solver", temperature=0, max_tokens=96))
LIBRARY = [seed(name) for name in ("direct", "majority_vote_3", "translate_and_calculate")]


def tasks(name: str, count: int = 12) -> list[Task]:
    return stream(name, "evolve", count=count)


def trial(of: Team, task: Task, answer: str, *, right: bool, cut_off: bool = False) -> TaskTrial:
    """A run in which every agent wrote the same."""
    mishaps = ("its answer was cut off (length)",) if cut_off else ()
    outcome = AgentOutcome(status="done", result=AgentResult(content=answer), mishaps=mishaps)
    run = Run(status="done", answer=answer, agents=dict.fromkeys(of.agents, outcome))
    return TaskTrial(task=task, run=run, score=Score(value=float(right), reason=""))


def trials(of: Team, on: Sequence[Task]) -> list[TaskTrial]:
    """Every other run is right and says so in a sentence; the others are cut off."""
    return [
        trial(of, task, f"It is {task.answer}.", right=True)
        if number % 2
        else trial(of, task, "Well,", right=False, cut_off=True)
        for number, task in enumerate(on)
    ]


def drawn(
    kind: str, of: Team = SOLO, stream_name: str = "coins", *, most: int = 12, **fields: Any
) -> list[Proposal]:
    """Draw the first proposals of a kind."""
    given: dict[str, Any] = {
        "team": of,
        "trials": trials(of, tasks(stream_name)),
        "catalogue": catalogue(),
        "ceiling": allowed_by_default(of),
        "seeds": LIBRARY,
        "chance": random.Random(7),
        **fields,
    }
    return list(islice(KINDS[kind](DrawnFrom(**given)), most))
