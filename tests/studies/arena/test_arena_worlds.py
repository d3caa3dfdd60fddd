"""The worlds of the arena: its file loads, and one idea of operators in so many is right."""

import json
from pathlib import Path
from typing import Any

import pytest

from coterie.benchmarks.arena.declared import load_arena
from coterie.schema.edits import SetPrompt, apply
from coterie.schema.host.catalogue import Catalogue
from coterie.schema.loading.loading import parse_team
from studies.arena.worlds import METHODS, PLUGIN, SIZES, TEAM, WORLDS, Arena
from studies.controls.world import CONVENTION, DESCRIBED, TEAM_FILE
from studies.plugin import register

FORM = {"type": "object", "properties": {"prompt": {"type": "string"}}}


@pytest.mark.usefixtures("own_path")
def test_an_arena_of_a_world_has_all_methods_and_tasks(tmp_path: Path) -> None:
    register(PLUGIN)
    arena = Arena(world="ideas", folder=tmp_path, seeds=2, methods=METHODS)
    loaded = load_arena(arena.write(), Catalogue.of_host(), tmp_path / "teams")
    assert [method.name for method in loaded.methods] == [*METHODS]
    tasks = loaded.streams["ideas"].tasks(seed=1)
    assert (len(tasks.tasks), len(tasks.held_out)) == (SIZES["evolve"], SIZES["test"])


def asked(text: str, form: Any = None) -> dict[str, Any]:
    held = {"response_format": {"json_schema": {"schema": form}}} if form else {}
    return {**held, "messages": [{"role": "user", "content": text}]}


@pytest.mark.parametrize(("world", "right"), [("gain", 1.0), ("ideas", 0.2)])
def test_one_idea_in_so_many_is_right(world: str, right: float) -> None:
    texts = [WORLDS[world](asked(str(n), FORM)).text or "" for n in range(200)]
    assert sum(CONVENTION in text for text in texts) / 200 == pytest.approx(right, abs=0.1)


def test_who_asks_for_a_team_file_gets_the_shown_one_with_the_idea_as_its_prompt() -> None:
    form = {"type": "object", "properties": {TEAM_FILE: {"type": "string"}}}
    text = WORLDS["gain"](asked(f"It is:\n```\n{TEAM}```\nMend it.", form)).text or ""
    catalogue = Catalogue.of_host()
    shown, revised = (
        parse_team(each.encode(), "team.yaml", catalogue)
        for each in (TEAM, json.loads(text)[TEAM_FILE])
    )
    idea = SetPrompt(agent="coder", prompt=CONVENTION)
    assert revised == apply(shown, [idea], catalogue)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("observations", DESCRIBED),
        ("program_description", DESCRIBED),
        ("module_description", DESCRIBED),
        ("proposed_instruction", CONVENTION),
    ],
)
def test_who_asks_for_an_instruction_gets_the_idea_and_who_asks_for_a_description_none(
    key: str, text: str
) -> None:
    form = {"type": "object", "properties": {key: {"type": "string", "minLength": 1}}}
    assert json.loads(WORLDS["gain"](asked("Describe it.", form)).text or "") == {key: text}


def test_an_agent_that_reads_worked_examples_answers_for_its_own_task() -> None:
    shown = {"role": "system", "content": "Q: What is the code of item 1? A: c1."}
    task = {"role": "user", "content": "What is the code of item 2? Learnt on item 3: it has one."}
    assert (WORLDS["ideas"]({"messages": [shown, task]}).text or "")[1:] == "2"


def test_an_agent_that_is_held_to_the_form_of_an_answer_gives_the_same_code_in_it() -> None:
    form = {"type": "object", "properties": {"answer": {"type": "string"}}}
    for number in range(20):
        query = f"What is the code of item {number}?"
        held, free = (WORLDS["ideas"](asked(query, each)).text for each in (form, None))
        assert json.loads(held or "") == {"answer": free}


def test_an_agent_that_is_held_to_labels_gives_one_of_them() -> None:
    labels = {"type": "string", "enum": ["negative", "positive"]}
    form = {"type": "object", "properties": {"answer": labels}}
    text = WORLDS["ideas"](asked("What is the code of item 1?", form)).text
    assert json.loads(text or "") == {"answer": "positive"}
