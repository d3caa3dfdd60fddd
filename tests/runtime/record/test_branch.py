"""A branch of a journal takes what is alike from another run, and shares the rest with others."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from coterie.runtime.record.branch import Branch, Locks
from coterie.runtime.record.journal import FILE, Journal, NotRecorded
from coterie.runtime.values.usage import Usage

from ...support.journals import SPENT, answered, ended


@contextmanager
def opened(folder: Path) -> Generator[tuple[Journal, Journal]]:
    """The journal of a run, and one beside it."""
    (folder / "run").mkdir(exist_ok=True)
    (folder / "own").mkdir(exist_ok=True)
    with Journal.open(folder / "run") as base, Journal.open(folder / "own") as own:
        yield base, own


async def test_what_is_alike_is_taken_and_nothing_is_written_there(tmp_path: Path) -> None:
    with opened(tmp_path) as (base, _):
        await base.put("a/attempt 1/call 1", "model", "q", answered("theirs"))
    before = (tmp_path / "run" / FILE).read_bytes()
    with opened(tmp_path) as (base, own):
        branch = Branch.of(own, base, "b", locks=Locks())
        assert branch.get("a/attempt 1/call 1", "other") is None
        assert branch.get("a/attempt 1/call 2", "q") is None
        taken = branch.get("a/attempt 1/call 1", "q")
        assert taken is not None
        assert taken["text"] == "theirs"
        await branch.put("a/attempt 1/call 2", "model", "q", answered("own"))
        kept = branch.get("a/attempt 1/call 2", "q")
        assert kept is not None
        assert kept["text"] == "own"
        assert not branch.divergences
        assert (branch.recorded_answers, branch.needed.calls, branch.spent().calls) == (2, 2, 2)
        assert [item.calls for item in branch.paid.values()] == [1]
        assert own.spent().calls == 1
        branch.close()
        assert own.get("a/attempt 1/call 2", "q") == kept
    assert (tmp_path / "run" / FILE).read_bytes() == before


async def test_tools_and_code_are_done_again_by_each_branch(tmp_path: Path) -> None:
    """The same call may find another workspace."""
    with opened(tmp_path) as (base, own):
        await base.put("a/attempt 1/tool f 1", "tool", "q", {"output": "theirs"})
        item, other = (Branch.of(own, base, name, locks=Locks()) for name in ("one", "other"))
        assert item.get("a/attempt 1/tool f 1", "q") is None
        await item.put("a/attempt 1/tool f 1", "tool", "q", {"output": "own"})
        assert item.get("a/attempt 1/tool f 1", "q") == {"output": "own"}
        assert other.get("a/attempt 1/tool f 1", "q") is None


async def test_what_came_from_the_other_run_is_counted_however_an_agent_is_found(
    tmp_path: Path,
) -> None:
    """One of an agent's two calls is the other run's: also for who finds the agent as a whole."""
    two_calls = ended(Usage(calls=2))
    with opened(tmp_path) as (base, own):
        await base.put("a/attempt 1/call 1", "model", "q1", answered("theirs"))
        await base.put("b", "agent", "q", ended(Usage(calls=3)))
        item = Branch.of(own, base, "one", locks=Locks())
        assert item.get("a/attempt 1/call 1", "q1")
        await item.put("a/attempt 1/call 2", "model", "q2", answered("own"))
        await item.put("a", "agent", "q", two_calls)
        assert item.get("b", "q")
        assert (item.needed.calls, len(item.paid)) == (5, 1)
    with opened(tmp_path) as (base, own):
        other = Branch.of(own, base, "other", locks=Locks())
        assert other.get("a", "q")
        assert (other.spent().calls, other.spent("a/").calls) == (2, 2)
        assert other.get("b", "q")
        assert (other.needed.calls, other.paid) == (5, item.paid)


async def test_a_run_may_branch_within_its_own_journal(tmp_path: Path) -> None:
    with opened(tmp_path) as (_, own):
        await own.put("a/attempt 1/call 1", "model", "q1", answered("first"))
        await own.put("b", "agent", "q", ended(SPENT))
        await own.put("a/attempt 1/tool f 1", "tool", "q", {"output": "first"})
        branch = Branch.of(own, own, "without b", locks=Locks())
        assert branch.get("a/attempt 1/call 1", "q1") == answered("first")
        assert branch.get("b", "q")
        assert branch.get("a/attempt 1/tool f 1", "q") is None
        await branch.put("a/attempt 1/call 2", "model", "q2", answered("second"))
        assert (branch.needed.calls, len(branch.paid)) == (3, 1)
        other = Branch.of(own, own, "without c", locks=Locks())
        assert other.get("a/attempt 1/call 2", "q2")
        assert other.paid == branch.paid


@pytest.mark.parametrize("fails", [False, True])
async def test_branches_at_work_at_once_pay_for_a_question_once(
    tmp_path: Path, fails: bool
) -> None:
    """Where the one that asks fails, the next one asks."""
    asked: list[str] = []

    async def ask(branch: Branch) -> str:
        async with branch.alone("a/call 1", "q"):
            if (result := branch.get("a/call 1", "q")) is not None:
                return str(result["text"])
            asked.append(branch.name)
            await asyncio.sleep(0)
            if fails and len(asked) == 1:
                raise ConnectionError
            await branch.put("a/call 1", "model", "q", answered(branch.name))
            return branch.name

    with opened(tmp_path) as (base, own):
        locks = Locks()
        branches = [Branch.of(own, base, name, locks=locks) for name in ("one", "two", "three")]
        outcome = await asyncio.gather(*map(ask, branches), return_exceptions=True)
    if fails:
        assert isinstance(outcome[0], ConnectionError)
        assert (asked, outcome[1:]) == (["one", "two"], ["two", "two"])
    else:
        assert (asked, outcome) == (["one"], ["one"] * 3)


async def test_who_may_not_ask_says_what_is_missing(tmp_path: Path) -> None:
    with opened(tmp_path) as (base, own):
        branch = Branch.of(own, base, "all", locks=Locks(), is_live=False)
        with pytest.raises(NotRecorded, match="nothing under 'a/call 1'"):
            branch.must_be_live("a/call 1")
        assert branch.missing == ["a/call 1"]
        await branch.put("a/call 1", "model", "q", answered("own"))
        assert branch.get("a/call 1", "q") is None


async def test_what_failed_is_spent_and_is_no_answer(tmp_path: Path) -> None:
    with opened(tmp_path) as (base, own):
        branch = Branch.of(own, base, "b", locks=Locks())

        async def asked(path: str) -> None:
            settle = await branch.open_account(path, SPENT)
            settle(SPENT, lost=False)

        call = "a/attempt 1/call 1"
        for _ in range(3):
            await asked(call)
        branch.note_failed(call, SPENT)
        branch.note_failed(call, SPENT)
        await branch.put(call, "model", "q", answered("own"))
        await branch.put("a/attempt 0/recall 1", "recall", "q", {"found": []})
        assert (branch.spent("a/").calls, branch.needed.calls) == (3, 1)
        assert own.spent().calls == 3
        assert branch.get("a/attempt 0/recall 1", "q") == {"found": []}


async def test_agents_may_try_as_often_as_in_the_other_run(tmp_path: Path) -> None:
    with opened(tmp_path) as (base, own):
        await base.renew()
        assert (base.renewals, own.renewals) == (2, 1)
        assert Branch.of(own, base, "b", locks=Locks()).renewals == 2
