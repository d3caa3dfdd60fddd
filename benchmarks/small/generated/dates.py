"""The benchmark `dates`: days before and after a date, days between two, weekdays."""

from __future__ import annotations

import random
from datetime import date, timedelta

from .generated import NUMBER, GeneratedQuestion, generated, last_of

DAYS = (3, 30, 300, 3000, 30_000)
"""The maximum number of days in an item, by level."""

FIRST, LAST = date(1900, 1, 1), date(2099, 12, 31)
WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_ASK_DATE = "End with the date as YYYY-MM-DD."


def _after(day: date, days: int) -> GeneratedQuestion:
    query = f"Which date is {_in_words(days)} after {day}? {_ASK_DATE}"
    return _dated("after", query, day + timedelta(days))


def _before(day: date, days: int) -> GeneratedQuestion:
    query = f"Which date is {_in_words(days)} before {day + timedelta(days)}? {_ASK_DATE}"
    return _dated("before", query, day)


def _between(day: date, days: int) -> GeneratedQuestion:
    query = f"How many days after {day} is {day + timedelta(days)}? End with the number."
    return GeneratedQuestion(kind="between", query=query, answer=str(days), scorer=NUMBER)


def _weekday(day: date, days: int) -> GeneratedQuestion:
    answer = WEEKDAYS[(day + timedelta(days)).weekday()]
    query = (
        f"{day} is a {WEEKDAYS[day.weekday()]}. Which weekday is {day + timedelta(days)}?"
        " End with the weekday."
    )
    return GeneratedQuestion(kind="weekday", query=query, answer=answer, scorer=last_of(WEEKDAYS))


def _dated(kind: str, query: str, answer: date) -> GeneratedQuestion:
    text = answer.isoformat()
    return GeneratedQuestion(kind=kind, query=query, answer=text, scorer=last_of("dates"))


def _in_words(days: int) -> str:
    return f"{days} days" if days > 1 else "1 day"


def _write(chance: random.Random, level: int) -> GeneratedQuestion:
    days = chance.randint(1, DAYS[level - 1])
    room = (LAST - FIRST).days - days
    day = FIRST + timedelta(chance.randint(0, room))
    return chance.choice((_after, _before, _between, _weekday))(day, days)


DATES = generated(
    "dates",
    "Dates",
    "Dates some days before or after another, days between two dates, and weekdays: up to 3, 30,"
    " 300, 3,000 or 30,000 days apart. The last date, number or weekday of the answer counts. A"
    " niche is the kind of question.",
    _write,
)
