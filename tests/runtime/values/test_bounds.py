"""The bounds on what others wrote: declared once, and told as they are."""

import asyncio
import re
import threading
from pathlib import Path

import pytest

from coterie.runtime.values import bounds
from coterie.runtime.values.bounds import AT_ONCE, apart
from coterie.schema.command import LONGEST_MESSAGE
from coterie.schema.values.problems import MOST_PROBLEMS

PAGE = Path(__file__).parents[3] / "docs" / "research" / "security-tests.md"
ROW = re.compile(r"^\| .*?\(`([A-Z_]+)`\) \| ([\d,]+)( MiB)?", re.MULTILINE)


def test_the_page_tells_every_bound_as_it_is() -> None:
    table = {
        name: int(number.replace(",", "")) << (20 if mib else 0)
        for name, number, mib in ROW.findall(PAGE.read_text("utf-8"))
    }
    declared = {name: getattr(bounds, name) for name in bounds.__all__ if name.isupper()}
    assert table == {
        **declared,
        "MOST_PROBLEMS": MOST_PROBLEMS,
        "LONGEST_MESSAGE": LONGEST_MESSAGE,
    }


@pytest.mark.parametrize(("size", "is_apart"), [(AT_ONCE, False), (AT_ONCE + 1, True)])
def test_long_work_is_done_beside_the_loop(size: int, is_apart: bool) -> None:
    thread = asyncio.run(apart(size, threading.current_thread))
    assert (thread is not threading.current_thread()) == is_apart
