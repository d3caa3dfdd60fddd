"""The cache: each who asks alike gets a sample of their own, and a failed call takes none away."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime.calls.cache import FILE, Cache


def answering(text: str, *, fails: bool = False) -> Any:
    async def work() -> tuple[dict[str, str], bool]:
        await asyncio.sleep(0)
        if fails:
            raise TimeoutError(text)
        return {"text": text}, True

    return work


async def test_a_failed_call_uses_up_no_sample(tmp_path: Path) -> None:
    asked = [answering("one"), answering("lost", fails=True), answering("two")]
    with Cache.open(tmp_path) as cache:
        calls = [cache.once("q", work) for work in asked]
        result = await asyncio.gather(*calls, return_exceptions=True)
        again, _ = await cache.once("q", answering("three"))
    texts = [item[0]["text"] for item in result if not isinstance(item, BaseException)]
    assert [*texts, again["text"]] == ["one", "two", "three"]
    with Cache.open(tmp_path) as cache:
        pairs = [await cache.once("q", answering("new")) for _ in range(4)]
    assert [(value["text"], was_there) for value, was_there in pairs] == [
        ("one", True),
        ("three", True),
        ("two", True),
        ("new", False),
    ]


async def test_a_failure_is_raised_and_the_next_gets_the_sample_that_was_meant(
    tmp_path: Path,
) -> None:
    with Cache.open(tmp_path) as cache:
        with pytest.raises(TimeoutError):
            await cache.once("q", answering("lost", fails=True))
        assert await cache.once("q", answering("one")) == ({"text": "one"}, False)
    with Cache.open(tmp_path) as cache:
        assert await cache.once("q", answering("new")) == ({"text": "one"}, True)


async def test_who_finds_an_answer_does_not_wait_for_a_process_that_writes(tmp_path: Path) -> None:
    with Cache.open(tmp_path) as cache:
        await cache.once("q", answering("one"))
    with (
        Cache.open(tmp_path) as cache,
        closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        waiting = asyncio.ensure_future(cache.once("p", answering("two")))
        await asyncio.sleep(0.2)
        assert await cache.once("q", answering("new")) == ({"text": "one"}, True)
        assert not waiting.done(), "who reads has waited for who writes"
        other.execute("ROLLBACK")
        await waiting
