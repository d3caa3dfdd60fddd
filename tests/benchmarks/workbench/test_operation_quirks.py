"""What the original's tools do that nobody would expect, each under a name of its own."""

import math
from datetime import datetime

import pytest

from coterie.benchmarks.workbench import Tables, verdict

from .conftest import Office

SEND = 'email.send_email.func(recipient="X@y.z", subject="S", body="B")'
CREATE = (
    'calendar.create_event.func(event_name="New", participant_email="Ada.Low@firm.com",'
    ' event_start="2023-12-24 09:00:00", duration="30")'
)
TASK = (
    'project_management.create_task.func(task_name="T", assigned_to_email="{}",'
    ' list_name="{}", due_date="2023-12-01", board="{}")'
)
CUSTOMER = "customer_relationship_manager.{}_customer{}.func({})"


def ids(records: list[dict[str, str]]) -> list[str]:
    return [next(iter(record.values())) for record in records]


# The mailbox.


def test_the_id_of_a_new_mail_has_no_leading_zeros(office: Office) -> None:
    office.do(SEND)
    assert office.tables.emails.records()[-1] == {
        "email_id": "8",
        "inbox/outbox": "outbox",
        "sender/recipient": "x@y.z",
        "subject": "S",
        "sent_datetime": datetime(2023, 11, 30),  # noqa: DTZ001
        "body": "B",
    }


def test_a_mail_sent_after_a_deletion_overwrites_the_last_one(office: Office) -> None:
    office.do('email.delete_email.func(email_id="00000003")')
    office.do(SEND)
    assert office.tables.emails.cells("email_id") == ["00000007", "8"]
    assert office.tables.emails.labels == (1, 2)
    office.do(SEND)
    assert office.tables.emails.cells("email_id") == ["00000007", "9"]


def test_deleting_the_last_mail_before_sending_overwrites_nothing(office: Office) -> None:
    office.do('email.delete_email.func(email_id="00000005")')
    office.do(SEND)
    assert office.tables.emails.cells("email_id") == ["00000003", "00000007", "8"]


def test_a_search_that_finds_old_and_new_mails_fails(office: Office) -> None:
    office.do(SEND)
    assert "TypeError" in office.fails("email.search_emails.func()")
    assert "TypeError" in office.fails('email.search_emails.func(date_max="2023-11-01")')
    assert ids(office.do('email.search_emails.func(query="x@y.z")')) == ["8"]
    assert ids(office.do('email.search_emails.func(query="noon")')) == ["00000007"]


def test_all_words_of_a_mail_search_are_plain_parts_in_any_case(office: Office) -> None:
    assert ids(office.do('email.search_emails.func(query="THURS bo.")')) == ["00000007"]
    assert ids(office.do('email.search_emails.func(query="(")')) == ["00000007"]
    assert office.do('email.search_emails.func(query="lunch budget")') == "No emails found."


def test_mails_are_found_newest_first_and_days_count_whole(office: Office) -> None:
    assert ids(office.do("email.search_emails.func()")) == ["00000005", "00000007", "00000003"]
    result = office.do('email.search_emails.func(date_max="2023-11-29 00:00:00")')
    assert ids(result) == ["00000007", "00000003"]
    assert ids(office.do('email.search_emails.func(date_min="November 30, 2023")')) == ["00000005"]


def test_an_answer_keeps_the_subject_and_a_forward_adds_to_it(office: Office) -> None:
    office.do('email.reply_email.func(email_id="00000003", body="Yes")')
    office.do('email.forward_email.func(email_id="8", recipient="Q@r.s")')
    reply, forward = office.tables.emails.records()[-2:]
    assert (reply["sender/recipient"], reply["subject"]) == ("ada.low@firm.com", "Budget")
    assert (forward["sender/recipient"], forward["subject"]) == ("q@r.s", "FW: Budget")
    assert forward["body"] == "Yes"


def test_an_address_needs_an_at_sign_and_a_dot_anywhere(office: Office) -> None:
    wrong = "Invalid recipient email address."
    assert office.do(SEND.replace("X@y.z", "x@y")) == wrong
    assert office.do(SEND.replace("X@y.z", ".@")) == "Email sent successfully."
    forward = 'email.forward_email.func(email_id="{}", recipient="xy")'
    assert office.do(forward.format("00000003")) == wrong
    assert office.do(forward.format("1")) == "Email not found."


def test_bodies_in_the_file_hold_a_backslash_and_an_n(office: Office) -> None:
    result = office.do('email.get_email_information_by_id.func("00000003", "body")')
    assert result == {"body": "Hi,\\n\\nSee you."}


# The calendar.


def test_a_new_event_is_labelled_zero_and_numbered_after_the_largest_id(office: Office) -> None:
    assert office.do(CREATE) == "00000010"
    assert office.tables.events.labels == (*range(7), 0)
    assert office.tables.events.records()[-1]["participant_email"] == "ada.low@firm.com"


def test_the_id_of_a_deleted_event_is_given_again(office: Office) -> None:
    office.do('calendar.delete_event.func(event_id="00000009")')
    assert office.do(CREATE) == "00000007"


def test_an_unknown_field_of_an_event_adds_a_column(office: Office) -> None:
    office.do('calendar.update_event.func(event_id="00000002", field="room", new_value="7")')
    office.do('calendar.update_event.func(event_id="00000002", field="seats", new_value=5)')
    records = office.tables.events.records()
    assert (records[2]["room"], records[2]["seats"]) == ("7", 5.0)
    assert isinstance(records[2]["seats"], float)
    assert math.isnan(records[0]["seats"])
    office.do(CREATE)
    assert math.isnan(office.tables.events.records()[-1]["room"])


@pytest.mark.parametrize(
    ("value", "elsewhere"),
    [
        ('"Room 5"', "nan"),
        ('"7"', "n"),
        ('["ab"]', "na"),
        ("5", None),
        ("True", None),
        ('{2: "Room 5"}', None),
    ],
)
def test_where_a_text_adds_a_column_the_other_events_have_the_word_nan(
    office: Office, value: str, elsewhere: str | None
) -> None:
    """Cut off at the length of the text, as the pandas has it that the original pins."""
    office.do(f'calendar.update_event.func("00000002", "room", {value})')
    others = {
        row["room"] for row in office.tables.events.records() if row["event_id"] != "00000002"
    }
    if elsewhere is None:
        assert all(map(math.isnan, others))
    else:
        assert others == {elsewhere}


def test_the_word_nan_in_a_new_column_decides_verdicts(tables: Tables) -> None:
    add = 'calendar.update_event.func(event_id="00000002", field="room", new_value="{}")'
    other = 'calendar.update_event.func(event_id="00000009", field="room", new_value="{}")'
    gold = [add.format("Hall"), other.format("nan")]
    assert verdict([add.format("Hall")], gold, "", tables).correct
    assert not verdict([add.format("H"), add.format("Hall")], gold, "", tables).correct


def test_a_column_that_cannot_be_filled_is_added_all_the_same(office: Office) -> None:
    office.fails('calendar.update_event.func("00000002", "room", ["a", "b"])')
    assert {row["room"] for row in office.tables.events.records()} == {"n"}
    office.fails('calendar.update_event.func("00000002", ["room", "event_name"], ["a"])')
    office.do('calendar.update_event.func("00000002", ["floor", "event_name"], "x")')
    assert math.isnan(office.tables.events.records()[0]["floor"])


def test_an_events_values_are_not_checked_and_addresses_are_lowered(office: Office) -> None:
    update = 'calendar.update_event.func("00000002", "{}", {})'
    office.do(update.format("participant_email", '"ME"'))
    office.do(update.format("event_start", '"some day"'))
    office.do(update.format("duration", "45"))
    event = office.tables.events.records()[2]
    assert (event["participant_email"], event["event_start"], event["duration"]) == (
        "me",
        "some day",
        45,
    )
    assert "AttributeError" in office.fails(update.format("participant_email", "5"))


def test_a_list_of_one_is_its_item_and_a_mapping_goes_by_labels(office: Office) -> None:
    update = 'calendar.update_event.func("00000002", "duration", {})'
    office.do(update.format('["5"]'))
    assert office.tables.events.cells("duration")[2] == "5"
    office.do(update.format('{2: "6"}'))
    assert office.tables.events.cells("duration")[2] == "6"
    office.do(update.format('{"a": "6"}'))
    assert math.isnan(office.tables.events.cells("duration")[2])
    office.fails(update.format('["5", "6"]'))


def test_several_fields_of_an_event_are_updated_at_once(office: Office) -> None:
    update = 'calendar.update_event.func("00000002", ["duration", "event_name"], {})'
    office.do(update.format('["5", "Talk"]'))
    event = office.tables.events.records()[2]
    assert (event["duration"], event["event_name"]) == ("5", "Talk")
    office.do(update.format('"both"'))
    event = office.tables.events.records()[2]
    assert (event["duration"], event["event_name"]) == ("both", "both")


def test_events_are_searched_by_expression_and_bounds_are_for_the_start(office: Office) -> None:
    assert ids(office.do('calendar.search_events.func(query="^budget|LUNCH$")')) == [
        "00000004",
        "00000009",
        "00000002",
    ]
    assert ids(office.do('calendar.search_events.func(query="bo.high")')) == [
        "00000009",
        "00000002",
    ]
    result = office.do(
        'calendar.search_events.func(time_min="2023-11-30 12:00:00", time_max="Dec 1, 2023 9am")'
    )
    assert ids(result) == ["00000009", "00000002"]
    assert len(office.do("calendar.search_events.func()")) == 5
    office.fails('calendar.search_events.func(query="(")')
    office.fails('calendar.search_events.func(time_min="soon")')


def test_a_name_that_is_no_text_hides_its_event(office: Office) -> None:
    office.do('calendar.update_event.func("00000009", "event_name", 5)')
    assert ids(office.do('calendar.search_events.func(query="bo.high")')) == ["00000002"]


def test_a_start_that_is_no_time_fails_only_searches_that_meet_it(office: Office) -> None:
    office.do('calendar.update_event.func("00000009", "event_start", "noon-ish")')
    office.fails('calendar.search_events.func(query="lunch", time_min="2023-01-01")')
    assert office.do('calendar.search_events.func(query="budget", time_min="2023-01-01")')


# The project board.


def test_a_new_task_renumbers_all_rows(office: Office) -> None:
    office.do('project_management.delete_task.func(task_id="00000001")')
    assert office.tables.tasks.labels == (1, 2)
    assert office.do(TASK.format("Bo.High@firm.com", "Backlog", "Design")) == "00000009"
    assert office.tables.tasks.labels == (0, 1, 2)
    assert office.tables.tasks.records()[-1]["assigned_to_email"] == "bo.high@firm.com"


def test_only_who_has_a_task_can_be_given_one(office: Office) -> None:
    wrong = "Assignee email not valid. Please choose from the list of team members."
    assert office.do(TASK.format("cy.mid@firm.com", "x", "x")) == wrong
    office.do('project_management.delete_task.func(task_id="00000001")')
    assert office.do(TASK.format("ada.low@firm.com", "Backlog", "Design")) == wrong


def test_lists_and_boards_of_tasks_are_checked_with_their_case(office: Office) -> None:
    assert office.do(TASK.format("bo.high@firm.com", "backlog", "x")) == (
        "List not valid. Please choose from: 'Backlog', 'In Progress', 'In Review', 'Completed'."
    )
    assert office.do(TASK.format("bo.high@firm.com", "Backlog", "design")) == (
        "Board not valid. Please choose from: 'Back end', 'Front end', 'Design'."
    )


def test_the_value_of_a_task_is_checked_before_its_id_and_the_field_last(office: Office) -> None:
    update = 'project_management.update_task.func("{}", "{}", "{}")'
    assert office.do(update.format("1", "board", "x")).startswith("Board not valid.")
    assert office.do(update.format("1", "colour", "x")) == "Task not found."
    assert office.do(update.format("00000001", "colour", "x")) == "Field not valid."
    assert office.do(update.format("00000001", "task_id", "7")) == "Task updated successfully."


def test_tasks_are_found_by_all_expressions_and_without_a_limit(office: Office) -> None:
    search = "project_management.search_tasks.func({})"
    assert len(office.do(search.format('task_name="."'))) == 3
    assert ids(office.do(search.format('task_name="THE", board="end$"'))) == [
        "00000008",
        "00000004",
    ]
    assert office.do(search.format('task_name="zz"')) == []
    assert office.do(search.format('task_name=""')) == "No search parameters provided."
    office.do('project_management.update_task.func("00000001", "task_name", 5)')
    assert "ValueError" in office.fails(search.format('task_name="the"'))


# The customers.


def test_a_new_customers_status_and_product_are_not_checked(office: Office) -> None:
    added = CUSTOMER.format(
        "add", "", '"Flo", "ADA@x.y", "maybe", customer_email="F@x.y", product_interest="hats"'
    )
    assert office.do(added) == "00000006"
    customer = office.tables.customers.records()[-1]
    assert (customer["status"], customer["product_interest"]) == ("maybe", "hats")
    assert (customer["assigned_to_email"], customer["customer_email"]) == ("ada@x.y", "f@x.y")
    assert (customer["notes"], customer["customer_phone"]) == ("", None)


def test_what_a_customer_is_updated_to_is_checked(office: Office) -> None:
    update = CUSTOMER.format("update", "", '"{}", "{}", "{}"')
    assert office.do(update.format("00000005", "status", "won")) == (
        "Status not valid. Please choose from: 'Qualified', 'Won', 'Lost', 'Lead', 'Proposal'"
    )
    assert office.do(update.format("1", "product_interest", "hats")) == (
        "Product interest not valid. Please choose from: 'Software', 'Hardware', 'Services',"
        " 'Consulting', 'Training'"
    )
    assert office.do(update.format("1", "colour", "x")) == "Customer not found."
    assert office.do(update.format("00000005", "colour", "x")) == (
        "Field not valid. Please choose from: 'customer_name', 'assigned_to_email',"
        " 'customer_email', 'customer_phone', 'last_contact_date', 'product_interest', 'status',"
        " 'notes', 'follow_up_by'"
    )
    done = "Customer updated successfully."
    assert office.do(update.format("00000005", "customer_email", "DEE")) == done
    assert office.do(update.format("00000005", "customer_id", "00000077")) == done
    assert office.tables.customers.records()[0]["customer_email"] == "dee"


def test_a_customer_without_an_address_spoils_searches_for_addresses(office: Office) -> None:
    search = CUSTOMER.format("search", "s", "{}")
    assert ids(office.do(search.format('customer_email="far"'))) == ["00000005"]
    office.do(CUSTOMER.format("add", "", '"Flo", "a@b.c", "Lead"'))
    assert "ValueError" in office.fails(search.format('customer_email="far"'))
    # The name is looked for first, and leaves her out.
    assert office.do(search.format('customer_name="dee", customer_email="far"'))


def test_empty_cells_of_customers_come_back_as_nan(office: Office) -> None:
    (result,) = office.do(CUSTOMER.format("search", "s", '"dee"'))
    assert math.isnan(result["customer_phone"])


def test_customers_are_found_by_dates_as_text(office: Office) -> None:
    search = CUSTOMER.format("search", "s", "{}")
    result = office.do(
        search.format('last_contact_date_min="2023-11", follow_up_by_max="2023-12-1"')
    )
    assert result == []
    assert ids(office.do(search.format('follow_up_by_max="2023-12-19"'))) == ["00000005"]
    assert office.do(search.format("")) == (
        "No search parameters provided. Please provide at least one parameter."
    )
    assert "TypeError" in office.fails(search.format("follow_up_by_max=5"))


def test_notes_that_are_none_are_not_notes_left_out(office: Office) -> None:
    office.do(CUSTOMER.format("add", "", '"Flo", "a@b.c", "Lead", notes=None, customer_email=""'))
    customer = office.tables.customers.records()[-1]
    assert (customer["notes"], customer["customer_email"]) == (None, "")


# The website.


def test_what_can_be_plotted_is_not_what_the_message_says(office: Office) -> None:
    plot = 'analytics.create_plot.func("a", "b", "{}", "{}")'
    assert "'direct', 'referral'" in office.do(plot.format("direct", "bar"))
    assert office.do(plot.format("visits_direct", "bar")) == "plots/a_b_visits_direct_bar.png"
    assert office.do(plot.format("total_visits", "Bar")) == (
        "Plot type must be one of 'bar', 'line', 'scatter', or 'histogram'"
    )
    assert office.tables.plots.cells("file_path") == ["plots/a_b_visits_direct_bar.png"]


def test_days_without_visits_are_not_counted(office: Office) -> None:
    assert office.do('analytics.total_visits_count.func("2023-10-01")') == {
        "2023-11-01": 1,
        "2023-11-02": 2,
    }
    assert office.do('analytics.engaged_users_count.func("2023-11-01")') == {
        "2023-11-01": 0,
        "2023-11-02": 1,
    }
    assert office.do('analytics.total_visits_count.func("z")') == {}


def test_a_source_without_visits_counts_as_zero_and_no_source_as_all(office: Office) -> None:
    count = "analytics.traffic_source_count.func({})"
    assert office.do(count.format('traffic_source="direct"')) == {"2023-11-01": 0, "2023-11-02": 1}
    assert office.do(count.format("")) == {"2023-11-01": 1, "2023-11-02": 2}


def test_a_mean_over_all_days_turns_the_visits_seconds_into_numbers(office: Office) -> None:
    seconds = 'analytics.get_visitor_information_by_id.func("0011")[0]["session_duration_seconds"]'
    office.do('analytics.get_average_session_duration.func(time_min="2023-11-01")')
    assert office.do(seconds) == "10"
    assert office.do("analytics.get_average_session_duration.func()") == {
        "2023-11-01": 5.0,
        "2023-11-02": 12.5,
    }
    assert office.do(seconds) == 10.0


def test_a_visitor_is_a_list_and_engagement_a_real_truth(office: Office) -> None:
    (visit,) = office.do('analytics.get_visitor_information_by_id.func("0011")')
    assert visit["user_engaged"] is True
    assert visit["page_views"] == "3"


# The directory.


def test_the_directory_knows_no_full_names(office: Office) -> None:
    find = "company_directory.find_email_address.func({})"
    assert office.do(find.format('"ADA"')) == ["ada.low@firm.com"]
    assert office.do(find.format('"ada low"')) == []
    assert office.do(find.format('"^a|^c"')) == ["ada.low@firm.com", "cy.mid@firm.com"]
    assert office.do(find.format("")) == "Name not provided."
    assert "AttributeError" in office.fails(find.format("None"))


MESSAGES = [
    ("calendar.get_event_information_by_id.func()", "Event ID not provided."),
    ('calendar.get_event_information_by_id.func("1")', "Field not provided."),
    ('calendar.get_event_information_by_id.func("1", "x")', "Event not found."),
    ('calendar.get_event_information_by_id.func("00000002", "x")', "Field not found."),
    ('calendar.search_events.func("zz")', "No events found."),
    ("calendar.create_event.func()", "Event name not provided."),
    ('calendar.create_event.func("a")', "Participant email not provided."),
    ('calendar.create_event.func("a", "b")', "Event start not provided."),
    ('calendar.create_event.func("a", "b", "c")', "Event duration not provided."),
    ("calendar.delete_event.func()", "Event ID not provided."),
    ("calendar.delete_event.func(256)", "Event not found."),
    ('calendar.update_event.func("1", "x")', "Event ID, field, or new value not provided."),
    ('calendar.update_event.func("1", "x", "y")', "Event not found."),
    ("email.get_email_information_by_id.func()", "Email ID not provided."),
    ('email.get_email_information_by_id.func("1", "x")', "Email not found."),
    ("email.send_email.func()", "Recipient, subject, or body not provided."),
    ("email.delete_email.func()", "Email ID not provided."),
    ('email.delete_email.func("1")', "Email not found."),
    ('email.delete_email.func("00000003")', "Email deleted successfully."),
    ('email.forward_email.func("1")', "Email ID or recipient not provided."),
    ('email.reply_email.func("1")', "Email ID or body not provided."),
    ('email.reply_email.func("1", "b")', "Email not found."),
    ("analytics.get_visitor_information_by_id.func()", "Visitor ID not provided."),
    ('analytics.get_visitor_information_by_id.func("1")', "Visitor not found."),
    ("analytics.create_plot.func()", "Start date not provided."),
    ('analytics.create_plot.func("a")', "End date not provided."),
    ("project_management.get_task_information_by_id.func()", "Task ID not provided."),
    ('project_management.create_task.func("a")', "Missing task details."),
    ("project_management.delete_task.func()", "Task ID not provided."),
    ('project_management.delete_task.func("1")', "Task not found."),
    ('project_management.update_task.func("1")', "Task ID, field, or new value not provided."),
    (
        'customer_relationship_manager.update_customer.func("1")',
        "Customer ID, field, or new value not provided.",
    ),
    (
        'customer_relationship_manager.add_customer.func("a", "b")',
        "Please provide all required fields: customer_name, assigned_to_email, status.",
    ),
    ("customer_relationship_manager.delete_customer.func()", "Customer ID not provided."),
    ('customer_relationship_manager.delete_customer.func("1")', "Customer not found."),
    (
        'customer_relationship_manager.delete_customer.func("00000002")',
        "Customer deleted successfully.",
    ),
]


@pytest.mark.parametrize(("call", "message"), MESSAGES, ids=[call for call, _ in MESSAGES])
def test_what_tools_say(office: Office, call: str, message: str) -> None:
    assert office.do(call) == message
