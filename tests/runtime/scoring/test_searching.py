"""Searching with patterns of others: bounded, in a process that is kept."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from coterie.runtime.scoring import _searching, searching
from coterie.runtime.scoring.searching import (
    SEARCH_MEMORY,
    SEARCH_SECONDS,
    Searches,
    SearchTooLong,
    searches,
)

SLOW = (r"(.*?,){25}P", "(a|aa)+$", "(?:(?:a*)*)*b", "(a(?R)?b)", "(a|b|ab)*" * 20 + "c")
LARGE = ("(((a{100}){100}){100}){100}", "((((a?){99}){99}){99}){99}", "(?R)?a")
MEASURED = """\
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stderr=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"\\n{used.ru_maxrss} {used.ru_utime + used.ru_stime}")
"""
"""From a small process: a child is said to have had what its parent had when it was started."""
TEXT = ",".join(map(str, range(40))) + "a" * 20_000


@pytest.mark.parametrize("pattern", [LARGE[0], pytest.param(SLOW[0], id="slow")])
def test_a_search_of_too_much_is_ended(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "SEARCH_SECONDS", 0.2)
    kept = Searches()
    try:
        with pytest.raises(SearchTooLong, match=r"more than (0\.2 s|256 MB)"):
            kept.find(pattern, TEXT)
        assert kept.find("a{3}", TEXT)
    finally:
        kept.close()


def test_a_search_takes_no_more_than_it_may(nightly: bool) -> None:
    for pattern in (*SLOW, *LARGE) if nightly else LARGE[:1]:
        given = json.dumps([sys.path, SEARCH_SECONDS, SEARCH_MEMORY])
        program = [sys.executable, "-I", "-S", str(Path(_searching.__file__)), given]
        used = subprocess.run(
            [sys.executable, "-I", "-S", "-c", MEASURED, *program],
            input=f"{json.dumps([pattern, TEXT])}\n",
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()[-1]
        kibibytes, seconds = map(float, used.split())
        assert kibibytes * 1024 < SEARCH_MEMORY
        assert seconds < SEARCH_SECONDS + 4


def test_a_pattern_that_is_none_says_why() -> None:
    with pytest.raises(ValueError, match=r"missing \)"):
        searches().find("(", "a")
    with pytest.raises(ValueError, match="nested too deeply"):
        searches().find("(" * 3_000 + ")" * 3_000, "a")


def test_many_searches_have_one_process() -> None:
    assert searches().find("\U0001f600", "a\U0001f600")
    first = searches()._process
    for number in range(1_000):
        assert searches().find(rf"\b{number}\b", f"it is {number}.")
        assert not searches().find("\ud800", "a")
    assert searches()._process is first


def test_a_process_that_was_ended_is_started_anew() -> None:
    kept = Searches()
    assert kept.find("a", "a")
    assert kept._process is not None
    kept._process.kill()
    kept._process.wait()
    with pytest.raises(SearchTooLong):
        kept.find("a", "a")
    assert kept.find("a", "a")
    kept.close()
    kept.close()
