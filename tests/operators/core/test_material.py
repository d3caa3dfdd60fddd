"""What a model is shown: everything that others wrote is fenced, and nothing is too long."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.operators import Bounds, Chance, Parent
from coterie.operators.core.bounds import SMALL
from coterie.operators.core.material import (
    clip,
    fenced,
    memories_text,
    models_text,
    parent_text,
    task_text,
)
from coterie.pool.ledger.learnt import Learnt
from coterie.runtime.messages.messages import fence
from coterie.schema import Model, SolvedTask, Task
from coterie.schema.values.terminal import speakable

from ..asking import PAIR, TASK, catalogue, ceiling_of, parent, seed


@given(st.text())
def test_no_text_can_close_its_own_fence(text: str) -> None:
    shown = speakable(text).strip()
    fenced_text = fenced("task", text)
    if not shown:
        assert fenced_text == ""
        return
    end = f"</task {fence(shown)}>"
    assert fenced_text.endswith(f"\n{end}")
    assert end not in shown


def test_a_name_stays_within_its_quotes() -> None:
    assert fenced("team", "x", 'a"\nb').splitlines()[0].endswith('"a\' b">')


@given(st.text(), st.integers(0, 60))
def test_a_clipped_text_is_no_longer_than_it_may_be(text: str, most: int) -> None:
    clipped = clip(text, most)
    assert len(clipped) <= most or clipped == text
    if len(text) <= most:
        assert clipped == text


def test_a_clipped_text_keeps_its_end() -> None:
    assert clip("begin " + "x" * 500 + " the answer is 7", 40).endswith("the answer is 7")


def test_a_task_is_shown_without_its_answer() -> None:
    shown = task_text(replace(TASK, answer="hunter2", files={"b.csv": "", "a.csv": ""}), Bounds())
    assert "How many apples?" in shown
    assert "There were 7." in shown
    assert "Files: a.csv, b.csv" in shown
    assert "hunter2" not in shown


def test_a_task_is_shown_cut_where_it_is_long() -> None:
    long = Task(id="t", query="q" * 10_000)
    assert len(task_text(long, SMALL)) < SMALL.task_characters + 50


def test_a_team_is_shown_as_its_file_with_the_texts_of_its_prompts() -> None:
    shown = parent_text(parent(seed("majority_vote"), reward=0.25), catalogue(), Bounds())
    assert '"majority_vote">\nname: majority_vote\n' in shown
    assert "# solve_step_by_step.md\nYou are one of several workers" in shown
    assert "Reward: 0.25" in shown
    assert "lineage" not in shown


def test_a_large_team_is_outlined_and_those_that_are_alike_share_a_line() -> None:
    shown = parent_text(parent(seed("majority_vote")), catalogue(), Bounds(team_characters=900))
    line = next(line for line in shown.splitlines() if line.startswith("worker_1..6: "))
    assert "worker; model default; tools list_files, read_file, search_text; prompt 'You" in line
    assert line.endswith("reports to aggregator")
    functions = parent_text(parent(seed("majority_vote_3")), catalogue(), SMALL)
    assert "majority: vote; function majority; reports to nobody" in functions
    tools = parent_text(parent(seed("translate_and_calculate")), catalogue(), SMALL)
    assert len(tools) < 2 * SMALL.team_characters


def test_an_agents_tools_are_in_the_outline() -> None:
    solver = replace(PAIR.agents["worker"], tools=("read_file",), role="", prompt="")
    team = replace(PAIR, agents={**PAIR.agents, "worker": solver}, description="x" * 500)
    shown = parent_text(Parent(team=team), catalogue(), SMALL)
    assert "worker: model default; tools read_file; reports to judge" in shown


def test_memories_are_shown_with_their_tasks_and_not_all() -> None:
    entries = [
        Learnt(id=str(n), kind="evolution", task=f"task {n}", text=f"learnt {n}\nand more")
        for n in range(9)
    ]
    shown = memories_text(entries, Bounds(memories=2))
    assert "- On 'task 0': learnt 0 and more" in shown
    assert "task 1" in shown
    assert "task 2" not in shown
    assert memories_text([], Bounds()) == ""


def solved(count: int) -> Any:
    tasks = (SolvedTask(q=f"question {n} {'q' * 500}", notes="n" * 900) for n in range(count))
    return replace(PAIR, successful_tasks=tuple(tasks))


def test_the_last_tasks_that_a_team_solved_are_shown_shortened() -> None:
    shown = parent_text(parent(solved(9)), catalogue(), Bounds())
    assert "successful_tasks:" in shown
    assert [n for n in range(9) if f"question {n} " in shown] == [6, 7, 8]
    assert len(shown) < len(parent_text(parent(), catalogue(), Bounds())) + 3 * 500


def test_where_there_is_no_room_they_are_left_out_before_the_team_is_outlined() -> None:
    whole = parent_text(parent(), catalogue(), Bounds())
    shown = parent_text(parent(solved(9)), catalogue(), Bounds(team_characters=len(whole)))
    assert shown == whole


@pytest.mark.parametrize(
    ("fields", "texts"),
    [
        ({}, ()),
        ({"reward": 0.25}, ("Reward: 0.25",)),
        ({"digest": "run: done"}, ("run: done",)),
        ({"reward": 0.25, "digest": "run: done"}, ("Reward: 0.25", "run: done")),
    ],
)
def test_of_a_run_as_much_is_shown_as_is_told(fields: Any, texts: Sequence[str]) -> None:
    of = parent(**fields)
    shown = parent_text(of, catalogue(), Bounds())
    assert ("<team_run " in shown) is bool(texts) is of.was_run
    assert [word for word in ("Reward: 0.25", "run: done") if word in shown] == list(texts)


def noted(**models: str) -> Any:
    known = {name: Model(alias=name, model="m", notes=model) for name, model in models.items()}
    return Chance(catalogue=catalogue(**known), ceiling=ceiling_of(PAIR), bounds=SMALL)


def test_notes_of_models_are_shown_for_those_that_may_be_chosen() -> None:
    meta = noted(default="Thorough.", fast="Quick\nand cheap.", other="Not allowed.")
    shown = models_text(meta)
    assert "- default: Thorough.\n- fast: Quick and cheap." in shown
    assert "other" not in shown
    assert "Thorough" not in models_text(meta, {"fast"})


def test_where_nobody_noted_anything_nothing_is_shown() -> None:
    assert models_text(noted(default="", fast="")) == ""


def test_notes_are_bounded() -> None:
    long = {f"m{number}": "x" * 2_000 for number in range(50)}
    meta = noted(**long)
    shown = models_text(meta, long.keys())
    assert len(shown) < SMALL.task_characters + 60
