"""The verdict: by state, with and without case, errors apart from side effects."""

import math

from coterie.benchmarks.workbench import Tables, verdict

DELETE = 'calendar.delete_event.func(event_id="{}")'
SEND = 'email.send_email.func(recipient="a@b.c", subject="{}", body="B")'
UPDATE = 'calendar.update_event.func(event_id="00000002", field="{}", new_value={})'
MOVE = 'project_management.update_task.func(task_id="00000001", field="list_name", new_value="{}")'
PLOT = 'analytics.create_plot.func("a", "b", "total_visits", "{}")'
TASK = (
    'project_management.create_task.func("T", "bo.high@firm.com", "Backlog", "2023-12-01",'
    ' "Design")'
)


class Judge:
    def __init__(self, tables: Tables) -> None:
        self.tables = tables

    def __call__(self, predicted: list[str], gold: list[str], error: str = "") -> tuple[bool, ...]:
        result = verdict(predicted, gold, error, self.tables)
        return result.correct, result.side_effects


def test_the_state_decides_not_the_calls(tables: Tables) -> None:
    judge = Judge(tables)
    right, untouched, wrong = (True, False), (False, False), (False, True)
    string, other = DELETE.format("00000002"), DELETE.format("00000009")
    assert judge([string], [string]) == right
    assert judge([other, "calendar.search_events.func()", string], [string, other]) == right
    assert judge([string, string, DELETE.format("1")], [string]) == right
    assert judge([], [string]) == untouched
    assert judge([other], [string]) == wrong
    assert judge([other], []) == wrong
    assert judge([], []) == right


def test_an_error_makes_it_incorrect_and_hides_no_side_effect(tables: Tables) -> None:
    judge = Judge(tables)
    string, other = DELETE.format("00000002"), DELETE.format("00000009")
    assert judge([string], [string], "Agent stopped") == (False, False)
    assert judge([string], [other], "Agent stopped") == (False, True)
    assert judge([], [other], " ") == (False, False)
    assert verdict([string], [string], math.nan, tables).correct
    assert verdict([string], [string], None, tables).correct


def test_case_counts_in_three_columns_and_in_side_effects(tables: Tables) -> None:
    judge = Judge(tables)
    assert judge([SEND.format("HI")], [SEND.format("hi")]) == (True, False)
    assert judge([UPDATE.format("event_name", '"BUDGET REVIEW"')], []) == (True, False)
    assert judge([UPDATE.format("event_name", '"BUDGET REVIEW"')], [SEND.format("x")]) == (
        False,
        True,
    )
    assert judge([MOVE.format("Completed")], [MOVE.format("In Review")]) == (False, True)


def test_the_case_of_a_status_counts(tables: Tables) -> None:
    add = 'customer_relationship_manager.add_customer.func("Flo", "a@b.c", "{}")'
    assert Judge(tables)([add.format("Lead")], [add.format("lead")]) == (False, True)


def test_what_is_no_text_counts_as_missing(tables: Tables) -> None:
    judge = Judge(tables)
    assert judge([UPDATE.format("duration", 30)], [UPDATE.format("duration", 60)])[0]
    assert not judge([UPDATE.format("duration", 30)], [UPDATE.format("duration", '"30"')])[0]
    phone = 'customer_relationship_manager.update_customer.func("00000005", "customer_phone", {})'
    assert judge([phone.format(5)], []) == (True, False)
    assert judge([phone.format('"5"')], []) == (False, True)


def test_missing_customer_fields_that_are_written_differently(tables: Tables) -> None:
    judge = Judge(tables)
    add = 'customer_relationship_manager.add_customer.func("Flo", "a@b.c", "Lead"{})'
    assert judge([add.format(", customer_email=None")], [add.format("")])[0]
    assert not judge([add.format(', customer_email=""')], [add.format("")])[0]
    assert not judge([add.format(", notes=None")], [add.format("")])[0]


def test_order_counts_where_rows_are_added(tables: Tables) -> None:
    judge = Judge(tables)
    assert not judge(
        [PLOT.format("bar"), PLOT.format("line")], [PLOT.format("line"), PLOT.format("bar")]
    )[0]
    assert not judge([SEND.format("x"), SEND.format("y")], [SEND.format("y"), SEND.format("x")])[0]
    string, other = UPDATE.format("duration", '"5"'), UPDATE.format("event_name", '"x"')
    assert judge([string, other, SEND.format("x")], [SEND.format("x"), other, string])[0]


def test_order_counts_through_labels_where_rows_are_the_same(tables: Tables) -> None:
    delete = 'project_management.delete_task.func(task_id="00000001")'
    assert not Judge(tables)([TASK, delete], [delete, TASK])[0]


def test_creating_and_deleting_again_changes_nothing(tables: Tables) -> None:
    judge = Judge(tables)
    assert judge([SEND.format("x"), 'email.delete_email.func("8")'], []) == (True, False)


def test_a_column_that_was_added_is_a_difference(tables: Tables) -> None:
    assert Judge(tables)([UPDATE.format("room", '"7"')], []) == (False, True)


def test_exact_match_is_by_sorted_text_of_calls_that_change(tables: Tables) -> None:
    def exact(predicted: list[str], gold: list[str]) -> bool:
        return verdict(predicted, gold, "any", tables).exact_match

    string, other = SEND.format("x"), DELETE.format("00000009")
    assert exact(
        [
            other,
            "calendar.search_events.func()",
            string.upper().replace("EMAIL.SEND_EMAIL", "email.send_email"),
        ],
        [string, other],
    )
    assert not exact([string, string], [string])
    assert not exact([DELETE.format("00000009").replace('"', "'")], [other])
    assert exact(["nonsense"], [])
