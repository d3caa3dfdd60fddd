"""What model calls consumed: by agent, with latency, and by whom they were answered."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from coterie.benchmarks.evaluation.consumption import consumption, earlier_seconds
from coterie.runtime import Journal
from coterie.runtime.gateway.chat.answer import answer_of
from coterie.runtime.record.journal import recorded
from coterie.runtime.values.usage import Usage
from coterie.schema import InputError


def answer(seconds: float, **more: Any) -> dict[str, Any]:
    usage = {"usage": Usage(calls=1, prompt_tokens=10, usd=0.1).value()}
    fields = {"text": "7", "tool_calls": [], "finish_reason": "stop", "attempts": 1}
    who = {"model": "m-2026-05", "alias": "default"}
    return {**fields, **who, "seconds": seconds, **usage, **more}


def journaled(folder: Path, entries: dict[str, dict[str, Any]], kind: str = "model") -> Path:
    async def put() -> None:
        with Journal.open(folder) as journal:
            for path, value in entries.items():
                await journal.put(path, kind, "asked", value)

    asyncio.run(put())
    return folder


def test_calls_are_summed_up_by_agent_and_by_who_answered(tmp_path: Path) -> None:
    """Ids of tasks may look like paths."""
    report = consumption(
        journaled(
            tmp_path,
            {
                "a/b/trial 1/solver/attempt 1/call 1": answer(1.0),
                "a/b/trial 1/solver/attempt 1/call 2": answer(3.0, fingerprint="b4711"),
                "a/b/trial 2/judge/attempt 1/call 1": answer(
                    9.0, usage=Usage(cached_calls=1).value()
                ),
            },
        )
    )
    assert {name: agent["calls"] for name, agent in report["agents"].items()} == {
        "judge": 0,
        "solver": 2,
    }
    assert (report["agents"]["solver"]["usd"], report["agents"]["solver"]["cost"]) == (
        0.2,
        "$0.2000",
    )
    assert report["calls"] == {"p50": 1.0, "p90": 3.0, "p99": 3.0}
    assert report["answered"] == {"default": {"m-2026-05": 2, "m-2026-05 b4711": 1}}


def test_an_endpoint_may_say_what_it_is() -> None:
    body = {"choices": [{"message": {"content": "7"}}], "model": "m", "system_fingerprint": "b4711"}
    assert answer_of(body, "there").fingerprint == "b4711"
    del body["system_fingerprint"]
    assert answer_of(body, "there").fingerprint == ""


def test_a_journal_is_read_while_others_work_on_it_and_left_as_it_was(tmp_path: Path) -> None:
    journaled(tmp_path, {"t/trial 1/one/call 1": answer(1.0)})
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert [path for path, _ in recorded(tmp_path, "model")] == ["t/trial 1/one/call 1"]
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    with Journal.open(tmp_path):
        assert len(list(recorded(tmp_path, "model"))) == 1
    (tmp_path / "journal.log").write_bytes(b"no journal" * 100)
    with pytest.raises(InputError, match="not a journal"):
        list(recorded(tmp_path, "model"))
    with pytest.raises(InputError, match="there is no such file"):
        list(recorded(tmp_path / "else", "model"))


def test_the_time_of_earlier_processes_counts_each_moment_of_a_trial_once(tmp_path: Path) -> None:
    def attempt(since: float | None, until: float | None = None) -> dict[str, Any]:
        return {
            "usage": {},
            "state": "settled" if until else "open",
            "since": since,
            "until": until,
        }

    folder = journaled(
        tmp_path,
        {
            "a/b/trial 1/x/call 1/attempts": attempt(0.0, 4.0),
            "a/b/trial 1/y/call 1/attempts": attempt(1.0, 3.0),
            "a/b/trial 1/z/call 1/attempts": attempt(6.0, 7.5),
            "a/b/trial 2/x/call 1/attempts": attempt(8.0),
            "a/b/trial 3/x/call 1/attempts": attempt(None),
        },
        kind="attempt",
    )
    assert earlier_seconds(folder, until=10.0) == {"a/b/trial 1/": 5.5, "a/b/trial 2/": 2.0}
