"""Jails to test in: each kind, as this user and as one without root's rights."""

import functools
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from coterie.runtime.jail.code.shell import CommandResult, Shell
from coterie.runtime.jail.detect import detect, try_tier
from coterie.runtime.jail.tiers import Bubblewrap, Landlock, Tier

TIERS: tuple[Tier, ...] = (Bubblewrap(), Landlock())
ROOT = Path(__file__).parents[1]
# What programs of tests start with: the tier that their first argument names.
PRELUDE = """
import sys
from coterie.runtime.jail.tiers import Bubblewrap, Landlock, Unconfined
tiers = {tier.name: tier for tier in (Bubblewrap(), Landlock(), Unconfined())}
tier = tiers[sys.argv[1]]
"""
FAILURE = "from coterie.runtime.jail.detect import try_tier\nprint(try_tier(tier).failure or '')"
USERS = ("this user", "an ordinary user")
needs_jail = pytest.mark.skipif(
    sys.platform != "linux" or detect().tier is None, reason="this machine has no jail for code"
)


def require(tier: Tier, user: str = USERS[0]) -> None:
    """Skip a test where this machine has no such jail for such a user."""
    failure = _failure(tier, user) if tier.confines else ""
    if failure:
        pytest.skip(f"this machine has no such jail for {user}: {failure}")


def command(user: str, program: str, tier: Tier, *arguments: object) -> list[str]:
    """Return the command line that runs a program of Python as a user."""
    start = _ordinary() if user == USERS[1] else []
    words = [sys.executable, "-B", "-c", PRELUDE + program, tier.name, *map(str, arguments)]
    return [*start, *words]


def printed(user: str, program: str, tier: Tier, *arguments: object) -> str:
    """Run a program of Python as a user, and return what it prints."""
    words = command(user, program, tier, *arguments)
    done = subprocess.run(words, cwd="/", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def holding(mark: str) -> list[str]:
    """The processes with a mark in their command line, as whole argument."""
    texts: list[str] = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (process / "cmdline").read_bytes().split(b"\0"):
                texts.append(process.name)
        except OSError:
            continue
    return texts


def stopped(shell: Shell, command: str) -> CommandResult:
    """Run a command without end for as long as it takes, on this machine, to print something."""
    for seconds in (0.5, 2, 8, 32, 120):
        done = shell.run(command, timeout=seconds)
        assert (done.timed_out, done.stopped) == (True, f"it ran longer than {seconds:g} seconds")
        if done.output:
            return done
    raise AssertionError(f"it printed nothing: {command}")


@functools.cache
def _failure(tier: Tier, user: str) -> str:
    if user == USERS[0]:
        return try_tier(tier).failure or ""
    return printed(user, FAILURE, tier).strip()


@functools.cache
def _ordinary() -> list[str]:
    """Return what to put before a command so that a user without any rights runs it."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    script = "\n".join(["set -e", *_openings(), 'exec setpriv --clear-groups "$@"'])
    uid = 60_000 + os.getpid() % 5000  # of this process's own: the kernel counts by user
    start = ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh"]
    start += [f"--reuid={uid}", f"--regid={uid}", "--inh-caps=-all"]
    try:
        done = subprocess.run(
            [*start, sys.executable, "-c", "import coterie.runtime.jail"],
            cwd="/", capture_output=True, text=True, check=False,
        )  # fmt: skip
    except FileNotFoundError:
        pytest.skip("this machine has no unshare, with which tests become another user")
    if done.returncode != 0:
        pytest.skip(f"tests can't become another user here: {done.stderr.strip()}")
    return start


def _openings() -> list[str]:
    """Return commands after which everybody can get to the interpreter and to the project.

    A folder that only root may enter is covered by an empty one with these in it.
    """
    kept = dict.fromkeys(Path(path).resolve() for path in (sys.base_prefix, sys.prefix, ROOT))
    closed = {path: gate for path in kept if (gate := _gate(path)) is not None}
    lines: list[str] = []
    hidden = f"{tempfile.gettempdir()}/stash-{os.getpid()}"
    stash = {path: f"{hidden}-{number}" for number, path in enumerate(closed)}
    for path, place in stash.items():
        lines += [f"mkdir {place}", f"mount --bind {shlex.quote(str(path))} {place}"]
    for gate in dict.fromkeys(closed.values()):
        lines.append(f"mount -t tmpfs -o mode=755 tmpfs {shlex.quote(str(gate))}")
    for path, place in stash.items():
        target = shlex.quote(str(path))
        lines += [f"mkdir -p {target}", f"mount --move {place} {target}", f"rmdir {place}"]
    return lines


def _gate(path: Path) -> Path | None:
    """Return the first folder above a path that others may not enter."""
    above = [*reversed(path.parents), path]
    return next((folder for folder in above if not folder.stat().st_mode & 0o001), None)
