"""Reading calls out of what a model wrote."""

import pytest

from coterie.benchmarks.workbench.answers import calls_in, written

ONE = 'calendar.delete_event.func(event_id="00000009")'
TWO = 'email.send_email.func(recipient="a@b.c", subject="Hi, you", body="It (is) on.")'


@pytest.mark.parametrize(
    "section",
    [
        f"{ONE}\n{TWO}",
        f"\n\n{ONE}\n\n{TWO}\n\nThat is all.",
        f"- {ONE}\n- {TWO}",
        f"* `{ONE}`\n* `{TWO}`",
        f"1. {ONE}\n2. {TWO}",
        f"1) **{ONE}**\n2) **{TWO}**",
        f"```python\n{ONE}\n{TWO}\n```",
        f"```\n{ONE},\n{TWO},\n```\nDone.",
        f"{ONE};\n{TWO};",
        f"[{ONE},\n {TWO}]",
        f"{[ONE, TWO]!r}",
        f"```json\n[\n  '{ONE}',\n  '{TWO}'\n]\n```",
        f"Here they are:\n> {ONE}\n> {TWO}",
        f'{ONE}\nemail.send_email.func(\n    recipient="a@b.c",\n    subject="Hi, you",\n'
        '    body="It (is) on.",\n)',
    ],
)
def test_ways_to_write_two_calls(section: str) -> None:
    calls = calls_in(f"I looked.\nFUNCTION_CALLS:\n{section}")
    assert calls is not None
    first, second = calls
    assert first == ONE
    assert "".join(second.split()).replace(",)", ")") == "".join(TWO.split())


@pytest.mark.parametrize(
    "label",
    [
        "FUNCTION_CALLS:",
        "function_calls:",
        "**FUNCTION_CALLS:**",
        "`FUNCTION_CALLS`:",
        "Function calls :",
    ],
)
def test_ways_to_write_the_label(label: str) -> None:
    assert calls_in(f"{label} {ONE}") == [ONE]


def test_the_last_label_counts() -> None:
    assert calls_in(f"FUNCTION_CALLS:\n{TWO}\nNo, wait.\nFUNCTION_CALLS:\n{ONE}") == [ONE]


@pytest.mark.parametrize("section", ["", "[]", " []\n", "None", "none needed", "```\n[]\n```"])
def test_a_label_without_calls(section: str) -> None:
    assert calls_in(f"FUNCTION_CALLS:{section}") == []


def test_without_a_label_nothing_is_read() -> None:
    assert calls_in(f"I would call {ONE}") is None
    assert calls_in("") is None


def test_a_text_may_go_over_several_lines() -> None:
    call = 'email.send_email.func(recipient="a@b.c", subject="S", body="Hi,\n\n- one\n- two\n\nBo")'
    assert calls_in(f"FUNCTION_CALLS:\n1. {call}\n2. {ONE}") == [call, ONE]


def test_an_odd_escape_in_a_laid_out_call_is_no_warning() -> None:
    call = 'project_management.search_tasks.func(\n    due_date="\\d",\n)\r'
    assert calls_in(f"FUNCTION_CALLS:\r\n{call}\n") == [
        'project_management.search_tasks.func(     due_date="\\d", )'
    ]


def test_a_broken_call_is_kept_as_it_is() -> None:
    broken = 'email.send_email.func(recipient="a@b.c", body="say "hi" to her")'
    assert calls_in(f"FUNCTION_CALLS:\n{broken}\n{ONE}") == [broken, ONE]


def test_a_call_without_func_is_kept_as_it_is() -> None:
    assert calls_in('FUNCTION_CALLS:\ncalendar.delete_event(event_id="1")') == [
        'calendar.delete_event(event_id="1")'
    ]


def test_very_many_lines_are_read_in_no_time() -> None:
    assert len(calls_in("FUNCTION_CALLS:\n" + f"{ONE}\n" * 5000) or []) == 200
    assert len(calls_in("FUNCTION_CALLS:\n" + 'a.b.func(x="\n' * 500) or []) <= 200
    assert calls_in("FUNCTION_CALLS:\n[" + "]" * 2000) == []


def test_a_call_that_was_done_is_written_as_text_without_escapes() -> None:
    arguments = {"recipient": "a@b.c", "count": 30, "body": 'say "hi"', "none": None}
    assert written("email.send_email", arguments) == (
        'email.send_email.func(recipient="a@b.c", count="30", body="say "hi"", none="None")'
    )


@pytest.mark.parametrize(("padding", "number"), [(0, 1), (2_000, 0)])
def test_a_list_is_looked_for_until_too_much_is_parsed(padding: int, number: int) -> None:
    """Each bracket may be the end, so that all before it is parsed again: that ends somewhere."""
    text = "x" * padding + "]" * 300
    listed = [f'email.send_email.func(body="{text}")']
    assert len(calls_in(f"FUNCTION_CALLS:\n{listed!r}") or ()) == number
