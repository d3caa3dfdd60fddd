"""The mailbox: six tools over the mails."""

from __future__ import annotations

from datetime import date
from operator import itemgetter
from typing import Any

from ..operation import NOW, Workplace, changes, reads
from ..searching import delete, look_up, moment

LONGEST_LIST = 5
_INVALID = "Invalid recipient email address."
_ID = "The mail's id, as searches give it."
_ADDRESS = "The address to send it to."


@reads(
    email_id=_ID,
    field="Which: email_id, inbox/outbox, sender/recipient, subject, sent_datetime or body.",
)
def get_email_information_by_id(at: Workplace, email_id: Any = None, field: Any = None) -> Any:
    """Give one field of a mail."""
    return look_up(at.tables.emails, "Email", email_id, field)


@reads(
    query="Words, or parts of words, in any case. Empty: every mail.",
    date_min="Mails of this day or later, as YYYY-MM-DD.",
    date_max="Mails of this day or earlier, as YYYY-MM-DD.",
)
def search_emails(
    at: Workplace, query: Any = "", date_min: Any = None, date_max: Any = None
) -> Any:
    """Find up to five mails with all words in subject, body or address; newest first."""
    words = query.lower().split()
    tables = [record for record in at.tables.emails.records() if _has_all(record, words)]
    # Times of old mails are text, those of newly sent mails are not: they cannot be compared.
    newest = sorted(tables, key=itemgetter("sent_datetime"), reverse=True)
    if date_min:
        newest = [table for table in newest if _day(date_min) <= _day(table["sent_datetime"])]
    if date_max:
        newest = [table for table in newest if _day(table["sent_datetime"]) <= _day(date_max)]
    return newest[:LONGEST_LIST] or "No emails found."


def _has_all(email: dict[str, Any], words: list[str]) -> bool:
    text = f"{email['subject']} {email['body']} {email['sender/recipient']}".lower()
    return all(word in text for word in words)


def _day(value: Any) -> date:
    when = moment(value)
    if when is None:
        raise ValueError(f"{value!r} is no day")
    return when.date()


@changes(
    recipient=_ADDRESS,
    subject="Its subject.",
    body="Its text.",
)
def send_email(at: Workplace, recipient: Any = None, subject: Any = None, body: Any = None) -> str:
    """Send a mail."""
    if not recipient or not subject or not body:
        return "Recipient, subject, or body not provided."
    if not _is_address(recipient):
        return _INVALID
    emails = at.tables.emails
    new_id = str(int(max(emails.cells("email_id"))) + 1)  # without leading zeros, unlike old ones
    row = (new_id, "outbox", recipient.lower(), subject, NOW, body)
    # The label is free only if nothing was deleted. Otherwise the last mail with it is lost.
    at.change(emails=emails.written(row, label=len(emails)))
    return "Email sent successfully."


def _is_address(recipient: Any) -> bool:
    return "@" in recipient and "." in recipient


@changes(email_id=_ID)
def delete_email(at: Workplace, email_id: Any = None) -> str:
    """Remove a mail."""
    return delete(at, "Email", email_id)


@changes(
    email_id=_ID,
    recipient=_ADDRESS,
)
def forward_email(at: Workplace, email_id: Any = None, recipient: Any = None) -> str:
    """Send a mail on to someone."""
    if not email_id or not recipient:
        return "Email ID or recipient not provided."
    email = _first(at, email_id)
    if email is None:
        return "Email not found."
    if not _is_address(recipient):
        return _INVALID
    send_email.run(at, recipient.lower(), f"FW: {email['subject']}", email["body"])
    return "Email forwarded successfully."


@changes(
    email_id=_ID,
    body="The text of the answer.",
)
def reply_email(at: Workplace, email_id: Any = None, body: Any = None) -> str:
    """Answer a mail, to its sender and under its subject."""
    if not email_id or not body:
        return "Email ID or body not provided."
    email = _first(at, email_id)
    if email is None:
        return "Email not found."
    send_email.run(at, email["sender/recipient"], email["subject"], body)
    return "Email replied successfully."


def _first(at: Workplace, email_id: Any) -> dict[str, Any] | None:
    emails = at.tables.emails
    places = emails.where("email_id", email_id)
    return emails.records(places[:1])[0] if places else None
