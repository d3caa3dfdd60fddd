"""Consolidation: an evolution trace becomes an entry of the memory."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from coterie.operators import Dropped, Step, consolidate
from coterie.operators.consolidate import tell_steps
from coterie.pool.experience import Experience, OperatorOutcome, Provenance
from coterie.pool.memory import open_memory
from coterie.runtime.doubles import Reply

from .asking import TASK, Asked, asking

STEPS = (
    Step(
        number=1,
        operator="select",
        team="debate",
        content_hash="a" * 64,
        reward=0.2,
        parents=("debate",),
    ),
    Step(
        number=2,
        operator="mutate",
        team="debate",
        content_hash="b" * 64,
        reward=0.8,
        parents=("debate",),
        sources=(1,),
        component="prompts",
        edits=("prompt of judge: +1 line +Count twice.",),
        reason="it miscounts",
    ),
    Step(
        number=4,
        operator="crossover",
        team="vote",
        content_hash="c" * 64,
        reward=None,
        parents=("vote", "debate"),
        sources=(3, 2),
        edits=("judge: model default -> fast",),
    ),
)


def consolidated(*answers: Any) -> Asked[Experience | Dropped]:
    replies = [Reply.json(one) for one in answers]
    provenance = Provenance(run="run 1", config="evomas.yaml")
    return asking(
        replies, lambda meta: consolidate(meta, "task 1/learnt", TASK, STEPS, provenance=provenance)
    )


def test_the_entry_has_task_team_summary_and_what_was_tried(tmp_path: Path) -> None:
    done = consolidated({"summary": " Prompts helped. "})
    entry = done.came
    assert isinstance(entry, Experience)
    assert (entry.id, entry.kind) == ("task 1/learnt", "evolution")
    assert entry.task == "How many apples?\n\nThere were 7."
    assert (entry.summary, entry.team, entry.reward) == ("Prompts helped.", "b" * 64, 0.8)
    assert entry.operators[1] == OperatorOutcome(
        operator="mutate", component="prompts", team="b" * 64, reward=0.8
    )
    assert entry.provenance == Provenance(run="run 1", config="evomas.yaml")
    memory = open_memory(tmp_path, embedder="hashing")
    assert memory.add(entry)
    assert memory.search("How many apples are there?", 1)[0][0] == entry


def test_the_model_sees_the_trace_and_no_answer() -> None:
    [call] = consolidated({"summary": "s"}).calls
    assert "2. mutate (prompts) of step 1: reward 0.8, +0.6." in call.text
    assert TASK.answer not in call.text


def test_the_trace_in_words() -> None:
    assert tell_steps(STEPS) == [
        "1. select of debate in the pool: reward 0.2. no edits",
        "2. mutate (prompts) of step 1: reward 0.8, +0.6. prompt of judge: +1 line +Count twice.;"
        " because it miscounts",
        "4. crossover of steps 3 and 2: no reward. judge: model default -> fast",
    ]


@pytest.mark.parametrize("bad", [{"summary": "  "}, {"summary": "x" * 3_000}, {"h": "x"}])
def test_an_empty_or_endless_summary_is_dropped(bad: Any) -> None:
    done = consolidated(bad, bad)
    assert isinstance(done.came, Dropped)
    assert len(done.calls) == 2


def test_without_a_model_the_summary_is_the_trace() -> None:
    entry = asyncio.run(consolidate(None, "task 1/learnt", TASK, STEPS))
    assert isinstance(entry, Experience)
    assert entry.summary == "\n".join(tell_steps(STEPS))
    assert entry.provenance == Provenance()


def test_where_nothing_was_rewarded_the_first_team_stands_for_all() -> None:
    failed = [Step(number=0, operator="select", team="debate", content_hash="a" * 64, reward=None)]
    entry = asyncio.run(consolidate(None, "t", TASK, failed))
    assert isinstance(entry, Experience)
    assert (entry.team, entry.reward) == ("a" * 64, None)


def test_an_evolution_without_a_step_teaches_nothing() -> None:
    with pytest.raises(ValueError, match="without a step"):
        asyncio.run(consolidate(None, "t", TASK, []))
