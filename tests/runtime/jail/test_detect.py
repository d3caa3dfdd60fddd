"""Which jail this machine has, where a program that should make one is broken."""

import os
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from coterie.runtime.jail.detect import detect, try_tier
from coterie.runtime.jail.tiers import Bubblewrap, Landlock

from ...jails import holding, require
from ...waiting import wait_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="jails need Linux")

VERSION = '[ "$1" = --version ] && { echo bubblewrap 9.9; exit; }\n'
REPORT = 'while [ "$1" != --info-fd ]; do shift; done\nprintf "%s" >"/proc/self/fd/$2"\n'
SAYS_NOTHING = "asked for --version, it printed nothing within"
NO_PROCESS = "it reported no process, and ended with exit code 0"
REPORTS_NOTHING = "it did not report a process within"
TOO_LONG = "the self-test took more than"
# Only what hangs is given little time: what answers may do so late on a busy machine.
LIMITS = {
    SAYS_NOTHING: ("tiers", "_VERSION_SECONDS"),
    REPORTS_NOTHING: ("process", "_START_SECONDS"),
    TOO_LONG: ("detect", "_SELF_TEST_SECONDS"),
}
# Each with a part of what is said of it.
BROKEN = {
    "hangs": ("exec sleep MARK", SAYS_NOTHING),
    "forks and hangs": ("sleep MARK & sleep MARK", SAYS_NOTHING),
    "prints without end": ("exec yes garbage", "it printed 'garbage'"),
    "prints no line": ("exec cat /dev/zero", "it printed '"),
    "prints nothing": ("exit 0", "it printed ''"),
    "leaves a child": ("sleep MARK & exit 0", "it printed ''"),
    "complains": ("echo no rights >&2; exit 1", "it printed 'no rights'"),
    "hangs at the start": (VERSION + "sleep MARK", REPORTS_NOTHING),
    "does nothing at the start": (VERSION + "exit 0", NO_PROCESS),
    "leaves a child at the start": (VERSION + "sleep MARK & exit 0", NO_PROCESS),
    "complains at the start": (VERSION + "echo no rights >&2; exit 1", "not start: no rights"),
    "reports garbage": (VERSION + REPORT % "[]" + "exit 0", NO_PROCESS),
    "reports a process of the host": (
        VERSION + REPORT % '{\\"child-pid\\": 1}' + "exit 0",
        NO_PROCESS,
    ),
    "reports and hangs": (
        VERSION + REPORT % '{\\"child-pid\\": $$}' + "sleep MARK & sleep MARK",
        TOO_LONG,
    ),
}


@pytest.fixture
def mark() -> str:
    """Seconds to sleep for that no other process sleeps for."""
    return f"{10**9 + secrets.randbelow(10**9)}.25"


@pytest.fixture
def program(request: pytest.FixtureRequest, tmp_path: Path, mark: str) -> Iterator[Path]:
    """A broken `bwrap`, the first on the PATH."""
    program = tmp_path / "bwrap"
    script = BROKEN[request.param][0].replace("MARK", mark)
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        yield program


@pytest.mark.parametrize(
    ("program", "message"),
    [pytest.param(kind, name, id=kind) for kind, (_, name) in BROKEN.items()],
    indirect=["program"],
)
def test_a_broken_bubblewrap_is_named_and_nothing_of_it_stays(
    program: Path, mark: str, monkeypatch: pytest.MonkeyPatch, message: str
) -> None:
    if message in LIMITS:
        module, limit = LIMITS[message]
        # Not by a path: the package has a function of the name `detect`, too.
        monkeypatch.setattr(sys.modules[f"coterie.runtime.jail.{module}"], limit, 0.5)
    failure = try_tier(Bubblewrap()).failure or ""
    assert failure.startswith(f"the program {program} does not work: ")
    assert message in failure
    assert "\n" not in failure
    wait_for(lambda: holding(mark) == [], "something is left")


@pytest.mark.parametrize("program", ["does nothing at the start"], indirect=True)
def test_the_next_tier_takes_the_place_of_a_broken_one(program: Path) -> None:
    require(Landlock())
    detect.cache_clear()
    try:
        report = detect()
    finally:
        detect.cache_clear()
    assert isinstance(report.tier, Landlock)
    assert str(report).startswith("Agents' code runs in a jail: landlock (")
    assert f"What does not work here: bubblewrap: the program {program} does not work: " in str(
        report
    )
