"""What went wrong on an agent's way is kept: each thing once, without secrets, with an end."""

from typing import Any

import pytest

from coterie.runtime.values.warnings import LONGEST, MOST, Warnings


def noted(*events: tuple[str, dict[str, Any]]) -> tuple[str, ...]:
    mishaps = Warnings(lambda text: text.replace("hunter2", "[…]"))
    for event, fields in events:
        mishaps.note(event, fields)
    return mishaps.as_texts()


@pytest.mark.parametrize(
    ("event", "fields", "message"),
    [
        ("tool_call", {"tool": "add", "error": "no number"}, "tool add failed: no number"),
        ("step_failed", {"error": "no name x"}, "a step failed: no name x"),
        ("agent_retried", {"attempt": 1, "error": "it\nstopped"}, "tried again after: it stopped"),
        ("repair", {"problems": ["no field", "a tail"]}, "had to be repaired: no field; a tail"),
        ("trimmed", {"left_out": 5}, "its conversation was too long for its model"),
        ("cut_off", {"finish_reason": "length"}, "its answer was cut off (length)"),
    ],
)
def test_every_kind_is_told(event: str, fields: dict[str, Any], message: str) -> None:
    [text] = noted((event, fields))
    assert text.endswith(message)


@pytest.mark.parametrize("event", ["model_call", "model_retried", "agent_started", "tool_call"])
def test_what_went_well_and_what_a_provider_did_is_not(event: str) -> None:
    assert noted((event, {"tool": "read_file", "result": "fine"})) == ()


def test_the_most_frequent_come_first_and_each_once() -> None:
    failed = ("tool_call", {"tool": "add", "error": "no number"})
    assert noted(("trimmed", {}), failed, failed) == (
        "tool add failed: no number (2 times)",
        "its conversation was too long for its model",
    )


def test_a_step_that_failed_for_its_tool_or_its_form_is_told_once() -> None:
    tool = ("tool_call", {"tool": "add", "error": "no number"})
    step = ("step_failed", {"error": "Error executing tool 'add': no number"})
    form = ("repair", {"problems": ["no field", "a tail"]})
    check = ("step_failed", {"error": "Check failed: the answer does not fit: no field; a tail"})
    assert len(noted(tool, step, form, check)) == 2
    assert len(noted(tool, ("step_failed", {"error": "no name x"}))) == 2


def test_there_is_an_end_to_them() -> None:
    texts = noted(*(("agent_retried", {"error": f"{n} {'x' * 9_000}"}) for n in range(10 * MOST)))
    assert len(texts) == MOST
    assert max(map(len, texts)) <= LONGEST


def test_a_secret_is_not_kept_not_even_a_part_of_it() -> None:
    error = "x" * (LONGEST - 40) + "hunter2hunter2hunter2hunter2"
    [text] = noted(("tool_call", {"tool": "shell", "error": error}))
    assert "hunter" not in text
