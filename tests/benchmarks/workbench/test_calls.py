"""Calls as text: what is done of what Python would evaluate, and what never is."""

import pytest

from coterie.benchmarks.workbench import Tables, Workplace, do_calls

from .conftest import Office

DELETED = "Event deleted successfully."


@pytest.mark.parametrize(
    "call",
    [
        'calendar.delete_event.func(event_id="00000002")',
        "calendar.delete_event.func(event_id='00000002')",
        'calendar.delete_event.func("00000002")',
        'calendar.delete_event.func(**{"event_id": "00000002"})',
        'calendar.delete_event.func(*["00000002"])',
        'calendar.delete_event.func(event_id="0000" + "0002")',
        'calendar.delete_event.func(event_id="0000" "0002")',
        "calendar.delete_event.func(event_id=str('00000002'))",
        "calendar.delete_event.func(event_id=f'00000002')",
        '  calendar.delete_event.func( event_id = "00000002" )  # the review',
        '(calendar.delete_event.func(event_id="00000002"))',
        'calendar.search_events.func("zz") and calendar.delete_event.func("00000002")',
        '"" or calendar.delete_event.func("00000002")',
        '[calendar.delete_event.func("00000002")][0]',
        'calendar.delete_event.func(calendar.search_events.func("review")[0]["event_id"])',
        'calendar.delete_event("00000002")',
        'calendar.delete_event({"event_id": "00000002", "force": True})',
        'calendar.delete_event(tool_input="00000002")',
    ],
)
def test_forms_of_calls_that_are_done(office: Office, call: str) -> None:
    assert office.do(call) == DELETED
    assert "00000002" not in office.tables.events.cells("event_id")


@pytest.mark.parametrize(
    "call",
    [
        'calendar.delete_event(event_id="00000002")',
        'calendar.delete_event("00000002", "x")',
        "calendar.delete_event(2)",
        "calendar.delete_event()",
        'calendar.delete_event.func(event_id="00000002"',
        'calendar.delete_event.func(event_id="a"b")',
        'calendar.delete_event.func(event_id="00000002", force="yes")',
        'calendar.delete_event.func("00000002", event_id="00000002")',
        'calendar.delete_event.func(**{"event_id": "1"}, event_id="00000002")',
        'calendar.delete_event.func(**{1: "00000002"})',
        'calendar.delete_event.func(**"x")',
        "calendar.delete_event.func(*5)",
        'calendar.delete_event.run("00000002")',
        'crm.delete_customer.func("00000002")',
        'directory.find_email_address.func("ada")',
        "calendar.reset_state()",
        "__import__('os').getcwd()",
        "().__class__",
        "[x for x in 'ab']",
        "lambda: 1",
        "(1).__add__(2)",
        "'a' * 10**9",
        "2 ** 99",
        "f'{1}'",
        "-'a'",
        "'a' + 1",
        "str()",
        "event",
        "{[]: 1}",
        "{[]}",
        "{**5}",
        "[1][5]",
        "5[0]",
        "a = 1",
        "",
        "calendar.delete_event.func('00000002'); 1",
        "(" * 5000,
        "'" + "x" * 200_000 + "'",
        "\0",
    ],
)
def test_forms_of_calls_that_fail(office: Office, call: str) -> None:
    office.fails(call)
    assert len(office.tables.events) == 7


def test_values_of_plain_expressions(office: Office) -> None:
    assert office.do("[1, -2.5, +3, (None, True), {'a': {1}}, not 1]") == [
        1,
        -2.5,
        3,
        (None, True),
        {"a": {1}},
        False,
    ]
    assert office.do("{**{'a': 1}, 'b': [*'xy']}") == {"a": 1, "b": ["x", "y"]}
    assert office.do("0 or [] and 1") == []


def test_a_failing_call_stops_no_other(tables: Tables) -> None:
    workplace = Workplace(tables)
    do_calls(workplace, ["nonsense(", 'calendar.delete_event.func("00000002")', "1/0"])
    assert len(workplace.tables.events) == 6


def test_line_ends_in_a_call_count_as_backslash_n(office: Office) -> None:
    office.do('email.send_email.func(recipient="a@b.c", subject="S", body="one\ntwo")')
    assert office.tables.emails.cells("body")[-1] == "one\ntwo"
    office.fails('calendar.delete_event.func(\nevent_id="00000002")')


def test_what_only_looks_is_not_done_for_a_verdict_but_what_is_in_it_is(tables: Tables) -> None:
    workplace = Workplace(tables)
    do_calls(workplace, ["analytics.get_average_session_duration.func()"])
    assert workplace.tables is tables
    do_calls(workplace, ['calendar.search_events.func(calendar.delete_event.func("00000002"))'])
    assert len(workplace.tables.events) == 6


def test_a_nested_call_that_fails_fails_the_whole(tables: Tables) -> None:
    workplace = Workplace(tables)
    do_calls(workplace, ['email.delete_email.func(calendar.search_events.func("("))'])
    assert workplace.tables is tables


def test_an_odd_escape_in_a_text_is_no_warning(office: Office) -> None:
    assert office.do(r'project_management.search_tasks.func(due_date="\d-02$")')


def test_an_expression_that_takes_too_much_fails(office: Office) -> None:
    office.fails('calendar.search_events.func(query="(((a{100}){100}){100}){100}")')
