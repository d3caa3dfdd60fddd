"""What an operator sees: failures of one niche, a success, and what each agent's output scores."""

import random
from collections.abc import Sequence

from coterie.operators.methods.race.showing import credits_text, shown, with_credits
from coterie.operators.methods.race.task_trial import TaskTrial
from coterie.runtime import AgentOutcome, Run, Score
from coterie.runtime.agents.runner import AgentResult
from coterie.runtime.jail import Jails
from coterie.schema import Task


def trial(number: int, score: float, niche: str = "", **wrote: str) -> TaskTrial:
    """A run in which the last agent's output was the answer."""
    agents = {
        name: AgentOutcome(status="done", result=AgentResult(content=text))
        for name, text in wrote.items()
    }
    task = Task(id=f"t{number}", query="?", answer="7", niche=niche or None)
    answer = [*wrote.values()][-1] if wrote else "8"
    run = Run(status="done", answer=answer, agents=agents)
    return TaskTrial(task=task, run=run, score=Score(value=score, reason=""))


def numbers(trials: Sequence[TaskTrial]) -> list[str]:
    return [each.task.id for each in trials]


def test_failures_are_of_one_niche_and_each_niche_has_its_turn() -> None:
    trials = [trial(n, 0.0, "even" if n % 2 == 0 else "odd") for n in range(6)]
    trials += [trial(6, 1.0, "even"), trial(7, 1.0, "odd")]
    seen = {tuple(numbers(shown(trials, random.Random(n)))) for n in range(20)}
    assert seen == {("t0", "t2", "t4", "t6"), ("t1", "t3", "t5", "t7")}


def test_without_niches_it_is_the_worst_and_a_success() -> None:
    trials = [trial(n, n / 8) for n in range(9)]
    assert numbers(shown(trials, random.Random(0))) == ["t0", "t1", "t2", "t3", "t8"]
    assert numbers(shown(trials[8:], random.Random(0))) == ["t8"]


async def test_an_agent_that_was_right_has_the_credit_where_the_team_was_not() -> None:
    lost = await with_credits(trial(0, 0.0, writer="7", editor="8"), Jails())
    assert lost.credits == {"writer": 1.0, "editor": 0.0}
    assert credits_text(lost.credits).endswith("writer 1, editor 0")
    alone = await with_credits(trial(0, 0.0, solver="8"), Jails())
    assert credits_text(alone.credits) == ""
