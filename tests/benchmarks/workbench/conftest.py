"""A small workplace of our own, laid out as the benchmark's files are."""

import csv
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from coterie.benchmarks.workbench import CallFailed, Tables, Workplace, do_call, load_tables

NOTHING = ""

EVENTS = [
    ("event_id", "event_name", "participant_email", "event_start", "duration"),
    ("00000004", "Budget talk", "ada.low@firm.com", "2023-11-28 09:00:00", "30"),
    ("00000009", "Team lunch", "bo.high@firm.com", "2023-11-30 12:00:00", "60"),
    ("00000002", "Budget review", "bo.high@firm.com", "2023-12-01 09:00:00", "90"),
    ("00000006", "Stand-up", "cy.mid@firm.com", "2023-12-01 11:00:00", "30"),
    ("00000001", "Stand-up", "ada.low@firm.com", "2023-12-04 11:00:00", "30"),
    ("00000003", "Stand-up", "ada.low@firm.com", "2023-12-05 11:00:00", "30"),
    ("00000005", "Stand-up", "ada.low@firm.com", "2023-12-06 11:00:00", "30"),
]
EMAILS = [
    ("email_id", "inbox/outbox", "sender/recipient", "subject", "sent_datetime", "body"),
    ("00000003", "inbox", "ada.low@firm.com", "Budget", "2023-11-01 10:00:00", r"Hi,\n\nSee you."),
    ("00000007", "inbox", "bo.high@firm.com", "Lunch (Thursday)", "2023-11-29 23:59:00", "Noon?"),
    ("00000005", "outbox", "ada.low@firm.com", "Re: Budget", "2023-11-30 08:00:00", "Later."),
]
VISITS = [
    (
        "date_of_visit", "visitor_id", "page_views", "session_duration_seconds", "traffic_source",
        "user_engaged",
    ),
    ("2023-11-02", "0011", "3", "10", "direct", "True"),
    ("2023-11-01", "0042", "1", "5", "referral", "False"),
    ("2023-11-02", "0042", "2", "15", "referral", "False"),
]  # fmt: skip
TASKS = [
    ("task_id", "task_name", "assigned_to_email", "list_name", "due_date", "board"),
    ("00000001", "Paint the door", "ada.low@firm.com", "Backlog", "2023-12-01", "Design"),
    ("00000008", "Oil the hinge", "bo.high@firm.com", "In Progress", "2023-12-02", "Back end"),
    ("00000004", "Ring the bell", "bo.high@firm.com", "Completed", "2023-12-03", "Front end"),
]
CUSTOMERS = [
    (
        "customer_id", "assigned_to_email", "customer_name", "customer_email", "customer_phone",
        "last_contact_date", "product_interest", "status", "follow_up_by", "notes",
    ),
    (
        "00000005", "ada.low@firm.com", "Dee Far", "dee@far.com", NOTHING,
        "2023-11-20", "Software", "Lead", "2023-12-10", "Likes tea.",
    ),
    (
        "00000002", "bo.high@firm.com", "Eli Near", "eli@near.com", "555-1",
        "2023-10-02", "Training", "Won", "2023-12-20", NOTHING,
    ),
]  # fmt: skip
DIRECTORY = [("ada.low@firm.com",), ("bo.high@firm.com",), ("cy.mid@firm.com",)]

HEAD = ("query", "answer", "domains")
QUESTIONS = {
    "analytics": [("Plot it.", "[]", "['analytics']")],
    "calendar": [
        (
            "Cancel the team lunch.",
            """['calendar.delete_event.func(event_id="00000009")']""",
            "['calendar']",
        ),
        ("Cancel nothing.", "[]", "['calendar']"),
    ],
    "customer_relationship_manager": [("Sell.", "[]", "['customer_relationship_manager']")],
    "email": [
        (
            "Tell Ada that it is on.",
            '[\'email.send_email.func(recipient="ada.low@firm.com", subject="It",'
            ' body="It is on.")\']',
            "['email']",
        )
    ],
    "multi_domain": [("Sell and meet.", "[]", "['crm', 'calendar']")],
    "project_management": [("Tidy up.", "[]", "['project_management']")],
}


def write(path: Path, rows: Sequence[Sequence[str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


def write_workplace(folder: Path) -> Path:
    """Write the files of the small workplace."""
    processed = folder / "data" / "processed"
    write(processed / "calendar_events.csv", EVENTS)
    write(processed / "emails.csv", EMAILS)
    write(processed / "analytics_data.csv", VISITS)
    write(processed / "project_tasks.csv", TASKS)
    write(processed / "customer_relationship_manager_data.csv", CUSTOMERS)
    write(folder / "data" / "raw" / "email_addresses.csv", DIRECTORY)
    for name, rows in QUESTIONS.items():
        path = processed / "queries_and_answers" / f"{name}_queries_and_answers.csv"
        write(path, [HEAD, *rows])
    return folder.resolve()


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small workplace's files."""
    return write_workplace(tmp_path_factory.mktemp("workbench"))


@pytest.fixture(scope="session")
def tables(folder: Path) -> Tables:
    """The small workplace."""
    return load_tables(folder)


class Office:
    """A workplace that calls change."""

    def __init__(self, tables: Tables) -> None:
        self.workplace = Workplace(tables)

    @property
    def tables(self) -> Tables:
        return self.workplace.tables

    def do(self, call: str) -> Any:
        """Do a call."""
        return do_call(self.workplace, call)

    def fails(self, call: str) -> str:
        """Do a call that fails; give why."""
        with pytest.raises(CallFailed) as failure:
            self.do(call)
        return str(failure.value)


@pytest.fixture
def office(tables: Tables) -> Office:
    return Office(tables)


@pytest.fixture(scope="session")
def real() -> Path:
    """The benchmark's own files."""
    named = os.environ.get("MAS_BENCHMARK_DATA")
    if not named:
        pytest.skip("MAS_BENCHMARK_DATA names no folder with the files of WorkBench")
    return Path(named)
