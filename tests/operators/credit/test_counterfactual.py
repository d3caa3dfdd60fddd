"""What runs without somebody are called, and when a score is none."""

from types import SimpleNamespace
from typing import Any

import pytest

from coterie.operators.credit import counterfactual
from coterie.operators.credit.counterfactual import by_answer, name_of
from coterie.operators.evolution.task_runs import Halted
from coterie.runtime import AgentOutcome, Run
from coterie.schema import InputError, JailError, Task

RUN = Run(status="done", answer="7", answered_by="one", agents={"one": AgentOutcome(status="done")})
HERE: Any = SimpleNamespace(jails=None)


@pytest.mark.parametrize(
    ("silent", "most", "name"),
    [
        ([], None, "with all"),
        (["ann"], None, "without ann"),
        (["ann", ("bob", 2)], None, "without ann and bob in round 2"),
        (["ann", "bob", "cat"], 3, "without ann and bob and cat"),
        (["ann", "bob", "cat", "dog"], 3, "without ann and bob and 2 more"),
    ],
)
def test_a_run_is_named_for_who_is_silenced(silent: Any, most: int | None, name: str) -> None:
    assert name_of(silent, most=most) == name


async def scored(task: Task) -> float:
    return await by_answer(task, HERE)(RUN)


async def test_without_a_reference_there_is_no_score() -> None:
    with pytest.raises(InputError, match="'t' has no answer to score against"):
        await scored(Task(id="t", query="3 + 4?"))


async def test_a_scorer_whose_jail_fails_gives_no_score(monkeypatch: pytest.MonkeyPatch) -> None:
    async def failing(*_: object) -> Run:
        return Run(status="failed", error=str(JailError("it is full")), fault="jail")

    monkeypatch.setattr(counterfactual, "scored", failing)
    with pytest.raises(Halted, match="task t: it is full"):
        await scored(Task(id="t", query="3 + 4?", answer="7"))
