"""Fields of a task in a prompt: what is filled in, and what stays as it stands."""

from coterie.schema import Task
from coterie.schema.team.task import filled, missing_fields

TASK = Task(
    id="t",
    query="Why?",
    answer="secret",
    fields={"tier": "{{ task.query }}", "tags": ["a", 1], "größe": None},
)


def test_only_fields_of_the_task_are_filled_in_and_only_once() -> None:
    prompt = "{{ task.query }} {{task.tier}} {{- task.tags -}} {{ task.größe }} {x} {{1}}"
    assert filled(prompt, TASK) == 'Why? {{ task.query }} ["a", 1] null {x} {{1}}'
    assert missing_fields(prompt, TASK) == []


def test_the_reference_answer_is_no_field() -> None:
    prompt = "{{ task.answer }} {{ task.tiers }} {{ task.scorer.name }}"
    assert filled(prompt, TASK) == prompt
    assert missing_fields(prompt, TASK) == ["answer", "tiers"]
