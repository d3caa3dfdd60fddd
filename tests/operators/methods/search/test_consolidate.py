"""Consolidation: an evolution trace becomes an entry of the memory."""

from dataclasses import replace
from typing import Any

import pytest

from coterie.operators import Bounds, EvolutionStep, RejectedProposal, consolidate, edit_words
from coterie.operators.methods.search.consolidate import tell_steps
from coterie.pool.ledger.learnt import LONGEST_TASK, Learnt, OperatorOutcome
from coterie.runtime.doubles import Reply

from ...asking import PAIR, TASK, Asked, asking, llm, team

STEPS = (
    EvolutionStep(
        number=1,
        operator="select",
        team="debate",
        content_hash="a" * 64,
        reward=0.2,
        parents=("debate",),
    ),
    EvolutionStep(
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
    EvolutionStep(
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


def consolidated(*answers: Any) -> Asked[Learnt | RejectedProposal]:
    replies = [Reply.json(answer) for answer in answers]
    return asking(
        replies, lambda meta: consolidate(meta, "task 1/learnt", TASK, STEPS, run="run 1")
    )


async def test_an_endless_task_is_kept_as_far_as_it_is_compared() -> None:
    long = replace(TASK, context="x" * 50_000)
    entry = await consolidate(None, "t", long, STEPS)
    assert isinstance(entry, Learnt)
    assert len(entry.task) == LONGEST_TASK


def test_the_entry_has_task_team_summary_and_what_was_tried() -> None:
    done = consolidated({"summary": " Prompts helped. "})
    entry = done.result
    assert isinstance(entry, Learnt)
    assert (entry.kind, entry.run) == ("evolution", "run 1")
    assert entry.task == "How many apples?\n\nThere were 7."
    assert (entry.text, entry.team, entry.reward) == ("Prompts helped.", "b" * 64, 0.8)
    assert entry.operators[1] == OperatorOutcome(
        operator="mutate", component="prompts", team="b" * 64, reward=0.8
    )


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


def step(number: int, reward: float | None, *sources: int, **fields: Any) -> EvolutionStep:
    record: dict[str, Any] = {"operator": "mutate", "team": "solo", "content_hash": "a" * 64}
    return EvolutionStep(number=number, reward=reward, sources=sources, **{**record, **fields})


def test_a_gain_is_over_the_steps_that_a_team_was_made_of_though_all_have_one_name() -> None:
    """In an evolution, a child bears its parent's name until the pool keeps it."""
    first = step(0, 0.0, operator="instantiate", parents=("solo",))
    report = tell_steps([first, step(1, 1.0, 0), step(3, 0.5, 1), step(4, 0.75, 0, 3)])
    gains = [line.partition("reward ")[2].partition(". ")[0] for line in report]
    assert gains == ["0", "1, +1", "0.5, -0.5", "0.75, +0.25"]
    assert report[3].startswith("4. mutate of steps 0 and 3: ")


def test_what_was_made_of_a_team_that_was_not_run_as_it_stands_has_no_gain() -> None:
    [line] = tell_steps([step(0, 0.5, operator="instantiate", parents=("solo",))])
    assert line == "0. instantiate of solo in the pool: reward 0.5. no edits"
    [_, over_nothing] = tell_steps([step(0, None), step(1, 0.5, 0)])
    assert "reward 0.5. no edits" in over_nothing


def test_many_and_long_edits_leave_room_for_every_step() -> None:
    steps = [step(n, 0.5, edits=("x" * 5_000,), reason="why") for n in range(1, 9)]
    [call] = asking(
        Reply.json({"summary": "s"}),
        lambda meta: consolidate(meta, "t", TASK, steps),
        bounds=Bounds(team_characters=400),
    ).calls
    assert all(f"{n}. mutate" in call.text for n in range(1, 9))
    assert "because why" in call.text
    assert len(call.text) < 5_000


def test_edits_are_told_in_words_that_one_can_learn_from() -> None:
    wordy = llm("judge", role="judge", model_id="fast", prompt="Add up.\nThen count\ntwice.")
    after = team("other", llm("worker", role="worker"), wordy)
    plain = replace(wordy, prompt="Add up.\nx\ny.")
    before = replace(after, agents={**after.agents, "judge": plain})
    report = edit_words(before, after)
    assert report == ("prompt of judge: -2 lines, +2 lines -x -y. +Then count +twice.",)
    assert edit_words(PAIR, PAIR) == ()
    many = [llm(f"a{n}", prompt=f"{n} {'x' * 900}") for n in range(30)]
    report = edit_words(PAIR, team("many", *many))
    assert len(report) <= 13
    assert max(map(len, report)) <= 300


@pytest.mark.parametrize("bad", [{"summary": "  "}, {"summary": "x" * 3_000}, {"h": "x"}])
def test_an_empty_or_endless_summary_is_dropped(bad: Any) -> None:
    done = consolidated(bad, bad)
    assert isinstance(done.result, RejectedProposal)
    assert len(done.calls) == 2


async def test_without_a_model_the_summary_is_the_trace() -> None:
    entry = await consolidate(None, "task 1/learnt", TASK, STEPS)
    assert isinstance(entry, Learnt)
    assert entry.text == "\n".join(tell_steps(STEPS))
    assert entry.run is None


async def test_where_nothing_was_rewarded_the_first_team_stands_for_all() -> None:
    failed = [
        EvolutionStep(
            number=0, operator="select", team="debate", content_hash="a" * 64, reward=None
        )
    ]
    entry = await consolidate(None, "t", TASK, failed)
    assert isinstance(entry, Learnt)
    assert (entry.team, entry.reward) == ("a" * 64, None)


async def test_an_evolution_without_a_step_teaches_nothing() -> None:
    with pytest.raises(ValueError, match="without a step"):
        await consolidate(None, "t", TASK, [])
