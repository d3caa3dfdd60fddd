"""Runs workloads on a disk that is full or read-only, and again once it is not.

To be run in a mount namespace of its own: `unshare --mount python mounts.py full FOLDER`
(`--every-page`: with any amount of room, page by page). Prints a
line of JSON for each run: the workload, and what it said was wrong.
"""

import json
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from workloads import WORKLOADS, Workload

from coterie.schema.values.errors import StorageError

DISK = 200 * 1024
FREE = 80 * 1024
PAGE = 4096
ALONE = ("files", "ledger", "journal")


def main(kind: str, folder: Path, step: int) -> None:
    for name in ALONE:
        if kind == "full":
            for free in range(0, FREE, step):
                with mounted(folder):
                    tell(name, full(WORKLOADS[name], folder, free))
        else:
            with mounted(folder):
                tell(name, read_only(WORKLOADS[name], folder))


def tell(workload: str, error: str) -> None:
    sys.stdout.write(json.dumps({"workload": workload, "error": error}) + "\n")


def full(workload: Workload, disk: Path, free: int) -> str:
    """Let a workload fill a disk; make room; look at what is left, and go on."""
    folder, ballast = disk / "state", disk / "ballast"
    folder.mkdir()
    texts = workload.prepare(folder)
    fill(ballast)
    with ballast.open("r+b") as stream:
        stream.truncate(max(0, ballast.stat().st_size - free))
    error = failure(workload, folder, texts)
    ballast.unlink()
    workload.check(folder, texts)
    return error


def fill(ballast: Path) -> None:
    with ballast.open("wb", buffering=0) as stream:
        try:
            while stream.write(bytes(PAGE)):
                pass
        except OSError:
            return


def read_only(workload: Workload, disk: Path) -> str:
    """Let a workload find its disk read-only; make that writable; look, and go on."""
    folder = disk / "state"
    folder.mkdir()
    texts = workload.prepare(folder)
    mount("-o", "remount,ro", str(disk))
    error = failure(workload, folder, texts)
    mount("-o", "remount,rw", str(disk))
    workload.check(folder, texts)
    return error


def failure(workload: Workload, folder: Path, messages: list[str]) -> str:
    try:
        workload.run(folder, messages.append)
    except StorageError as error:
        return str(error)
    return ""


@contextmanager
def mounted(folder: Path) -> Generator[None]:
    mount("-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(folder))
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), PAGE if "--every-page" in sys.argv else 4 * PAGE)
