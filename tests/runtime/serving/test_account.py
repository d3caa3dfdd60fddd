"""What a day's requests cost, whatever ended the server that made them."""

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from coterie.runtime import Journal
from coterie.runtime.serving.account import Account
from coterie.runtime.values.usage import Usage

from ...support.journals import written

A_CALL = Usage(calls=1, usd=0.25)


async def call(journal: Journal, *, path: str, answered: bool) -> None:
    """Make a call that costs `A_CALL`, or have the server killed at it."""
    settle = await journal.open_account(path, A_CALL)
    if answered:
        settle(A_CALL, lost=False)


def test_after_a_month_only_keys_without_an_answer_are_kept(here: Path) -> None:
    runs, days = here / "runs", ["2026-11-26"]
    for run, status in (("done", "done"), ("late", "done"), ("failed", "failed")):
        (runs / run).mkdir(parents=True)
        (runs / run / "result.json").write_text(
            json.dumps({"status": status, "answer": "7"}), "utf-8"
        )

    def account() -> Account:
        return Account(runs=runs, clock=lambda: days[-1])

    async def answered(run: str) -> None:
        with account() as kept:
            record: Any = SimpleNamespace(
                folder=SimpleNamespace(path=runs / run), spent=lambda: A_CALL
            )
            await kept.end(await kept.begin(record, run, "asked"), record)
            await kept.answered(run, run)

    for run in ("done", "failed", "gone"):
        asyncio.run(answered(run))
    days.append("2026-11-27")
    asyncio.run(answered("late"))
    for day, keys in [
        ("2026-12-26", {"done", "late", "failed", "gone"}),
        ("2026-12-27", {"late", "failed"}),
    ]:
        days.append(day)
        with account() as kept:
            names = ("done", "late", "failed", "gone")
            assert {name for name in names if kept.record_of(name)} == keys
            assert (kept.conversation("done") is not None) == ("done" in keys)
            assert kept.conversation("late") == runs / "late"
    sessions = written(runs / ".requests", "session")
    assert {entry.path[:15] for entry in sessions} == {"2026-11-27/late"}


def test_a_day_counts_what_killed_servers_spent_and_each_day_its_own(here: Path) -> None:
    runs, days = here / "runs", ["2026-11-26"]
    (runs / "one").mkdir(parents=True)

    def account() -> Account:
        return Account(runs=runs, clock=lambda: days[-1])

    async def session(*, path: str, answered: bool = True, ended: bool = True) -> float:
        """Work on the record, in a server of its own; return what the day has cost before."""
        with account() as kept, Journal.open(runs / "one") as journal:
            record: Any = SimpleNamespace(
                folder=SimpleNamespace(path=runs / "one"), spent=journal.spent
            )
            began = await kept.begin(record, "key", "asked")
            before = began.day.spent.usd
            await call(journal, path=path, answered=answered)
            if ended:
                await kept.end(began, record)
        return before

    assert asyncio.run(session(path="a", answered=False, ended=False)) == 0
    assert asyncio.run(session(path="b", ended=False)) == 0.25
    assert asyncio.run(session(path="c")) == 0.5
    days.append("2026-11-27")
    assert asyncio.run(session(path="d")) == 0
    assert asyncio.run(session(path="e")) == 0.25
    with account() as kept:
        assert kept.record_of("key") == ("one", "asked")
        assert kept.record_of("other") is None
