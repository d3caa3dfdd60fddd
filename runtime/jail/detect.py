"""Find the jail that this machine supports, proven by a self-test."""

from __future__ import annotations

import functools
import os
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from ...schema.values.errors import JailError
from .jail import Jail
from .layout import interpreter
from .pipes import read_in_time
from .scratch import ScratchFolder
from .tiers import Bubblewrap, Landlock, Tier

_TIERS: tuple[Tier, ...] = (Bubblewrap(), Landlock())
_SELF_TEST_SECONDS = 10.0
_LONGEST_ANSWER = 10_000  # bytes
_HELD = "the jail held"
_WAYS_OUT = (
    "Install bubblewrap (Debian, Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap), "
    "allow user namespaces, or pass --unsafe-local to run what agents write with all your rights."
)
# Each attempt must fail; a successful one is printed. The first lines show that honest code works.
_SELF_TEST = f"""
import _socket, ctypes, os, sys
secret, host, work = sys.argv[1:]
with open(os.path.join(work, "written"), "x") as file:
    file.write("by the jail")
C = ctypes.CDLL(None)
def read(): open(secret).read()
def write(): open(secret, "r+").write("x")
def connect(): _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
def signal(): os.kill(int(host), 0)
def namespace():
    if C.unshare(0x10000000) != 0: raise OSError
def trace():
    if C.ptrace(0, 0, 0, 0) != 0: raise OSError
held = True
for attempt in (read, write, connect, signal, namespace, trace):
    try:
        attempt()
    except OSError:
        continue
    held = False
    print(attempt.__name__, "is possible")
if held: print({_HELD!r})
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class TierAttempt:
    """The test of one tier on this machine.

    Attributes:
        failure: why the tier does not work here; None if it does.
    """

    tier: str
    failure: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class JailReport:
    """The jails that the machine supports.

    Attributes:
        tier: the strongest working tier; None if none works.
        attempts: the tiers tried, up to that one.
    """

    tier: Tier | None
    version: str = ""
    attempts: tuple[TierAttempt, ...]

    def __str__(self) -> str:
        if self.tier is not None:
            failed = "; ".join(
                f"{attempt.tier}: {attempt.failure}"
                for attempt in self.attempts
                if attempt.failure is not None
            )
            passed_over = f" What does not work here: {failed}." if failed else ""
            return f"Agents' code runs in a jail: {self.tier.name} ({self.version}).{passed_over}"
        failures = [f"  {attempt.tier}: {attempt.failure}" for attempt in self.attempts]
        return "\n".join(
            ["There is no jail for agents' code on this machine.", *failures, _WAYS_OUT]
        )


@functools.cache
def detect() -> JailReport:
    """Return the strongest tier that passes its self-test here. Later calls are cached."""
    attempts: list[TierAttempt] = []
    for tier in _TIERS:
        attempt = try_tier(tier)
        attempts.append(attempt)
        if attempt.failure is None:
            return JailReport(tier=tier, version=tier.version(), attempts=tuple(attempts))
    return JailReport(tier=None, attempts=tuple(attempts))


def try_tier(tier: Tier) -> TierAttempt:
    """Run code that tries to escape from a jail of this tier."""
    if sys.platform != "linux":
        return TierAttempt(tier=tier.name, failure="it needs Linux")
    try:
        tier.version()
        with ScratchFolder("check", passable=True) as folder:
            secret, work = folder.path / "secret", folder.path / "work"
            secret.write_text("secret", "ascii")
            secret.chmod(0o666)  # only the jail may deny its user this file
            work.mkdir()
            with Jail(work, tier=tier) as jail:
                printed = _self_test(jail, secret)
    except JailError as error:
        return _failed(tier, str(error))
    held = printed.strip() == _HELD
    return (
        TierAttempt(tier=tier.name, failure=None) if held else _failed(tier, printed.strip()[-500:])
    )


def _failed(tier: Tier, why: str) -> TierAttempt:
    program = shutil.which("bwrap") if isinstance(tier, Bubblewrap) else None
    broken = f"the program {program} does not work: " if program is not None else ""
    return TierAttempt(tier=tier.name, failure=f"{broken}{why}")


def _self_test(jail: Jail, secret: Path) -> str:
    values = (str(secret), str(os.getpid()), str(jail.work))
    process = jail.start([str(interpreter()), "-I", "-S", "-c", _SELF_TEST, *values])
    try:
        if process.wait(_SELF_TEST_SECONDS) is None:
            return f"the self-test took more than {_SELF_TEST_SECONDS:g} seconds"
        # A process that broke out, or was never in, may hold the pipe.
        deadline = time.monotonic() + _SELF_TEST_SECONDS
        pieces = read_in_time(process.stdout.fileno(), deadline, limit=_LONGEST_ANSWER)
        return b"".join(pieces).decode("utf-8", "replace") or "the self-test printed nothing"
    finally:
        process.close()
