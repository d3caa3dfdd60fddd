"""Measures a jail from outside, against limits that the kernel enforces per process only.

Memory is what all processes of the jail hold together, in memory or swapped out; the filter of
system calls refuses the kinds of memory that no process holds. Disk is the growth of the work
folder and the private folder, including files that were deleted but are still open. Both are
measured several times a second, so fast code can exceed a limit between two measurements.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from .jails import DiskShare
from .layout import Confinement
from .workspace import BLOCK, Size, measure

_SHARE_OF_TIME = 0.05  # of one processor, that walking the folders may take
_LONGEST = 2.0  # seconds between two walks, at least as often as the share allows
# Code can have its memory swapped out.
_RESIDENT = re.compile(r"^(?:VmRSS|VmSwap):\s+(\d+) kB", re.MULTILINE)
_PROPORTIONAL = re.compile(r"^(?:Pss|SwapPss):\s+(\d+) kB", re.MULTILINE)
_DELETED_MAP = re.compile(r" (?P<device>\S+) (?P<inode>[1-9]\d*) +\S.* \(deleted\)$", re.MULTILINE)


class JailWatch:
    """Compares a jail with its limits.

    Args:
        confinement: the jail's folders and limits. The folders' current content does not count.
    """

    def __init__(self, confinement: Confinement, share: DiskShare | None = None) -> None:
        self._limits = confinement.request.limits
        self._share = share
        self._folders = (confinement.work, confinement.private)
        self._start = self._walk()
        self._free_at_start = self._free_at_walk = self._free()

    def excess(self, roots: Iterable[int]) -> str | None:
        """Return the limit that the jail exceeds; None if it keeps them all.

        Args:
            roots: process ids; each stands for itself and its descendants.
        """
        processes = list(_trees(roots))
        return self._memory_excess(processes) or self._disk_excess(processes)

    def close(self) -> None:
        """Record the disk usage that an ended jail leaves on the shared disk."""
        if self._share is not None:
            self._share.exceeded(self, self._measured().bytes - self._start.bytes)

    def _memory_excess(self, processes: list[int]) -> str | None:
        limit = self._limits.resident
        # The exact count is slow; the quick one counts shared pages several times.
        if sum(map(_resident, processes)) > limit and sum(map(_proportional, processes)) > limit:
            return f"its processes held more than {limit} bytes of memory together"
        return None

    def _disk_excess(self, processes: list[int]) -> str | None:
        limit = self._limits.disk
        if self._walk_is_due():
            self._size = self._walk()
        grown = self._size.bytes - self._start.bytes
        lost = self._free_at_start - self._free()
        if lost > limit:
            grown += _deleted(processes, largest=self._limits.file_size)
        if grown > limit or (lost > limit and not self._size.whole):
            return f"its files grew by more than {limit} bytes"
        # A jail that writes nothing is not killed for the others.
        if self._share is not None and self._share.exceeded(self, grown) and grown > 0:
            return f"the files of all jails grew by more than {self._share.limit} bytes"
        return None

    def _walk_is_due(self) -> bool:
        room = self._limits.disk - (self._size.bytes - self._start.bytes)
        return time.monotonic() >= self._next_walk or self._free_at_walk - self._free() > room / 4

    def _walk(self) -> Size:
        begun = time.monotonic()
        self._free_at_walk = self._free()
        self._size = self._measured()
        now = time.monotonic()
        self._next_walk = now + max(_LONGEST, (now - begun) / _SHARE_OF_TIME)
        return self._size

    def _measured(self) -> Size:
        return sum(map(measure, self._folders), Size(0, whole=True))

    def _free(self) -> int:
        """Return the disks' free bytes, plus 4,096 for each free inode."""
        disks = {folder.stat().st_dev: os.statvfs(folder) for folder in self._folders}
        return sum(disk.f_bfree * disk.f_frsize + disk.f_ffree * 4096 for disk in disks.values())


def _trees(roots: Iterable[int]) -> Iterator[int]:
    pending = list(roots)
    while pending:
        process = pending.pop()
        yield process
        for thread in _names(f"/proc/{process}/task"):
            text = _read(f"/proc/{process}/task/{thread}/children")
            pending.extend(map(int, text.split()))


def _resident(process: int) -> int:
    return _kilobytes(_RESIDENT, f"/proc/{process}/status") or 0


def _proportional(process: int) -> int:
    exact = _kilobytes(_PROPORTIONAL, f"/proc/{process}/smaps_rollup")
    return _resident(process) if exact is None else exact


def _kilobytes(line: re.Pattern[str], path: str) -> int | None:
    """Return the sum of some lines of a file in bytes; None without such lines."""
    sizes = line.findall(_read(path))
    return 1024 * sum(map(int, sizes)) if sizes else None


def _deleted(processes: list[int], *, largest: int) -> int:
    """Return the bytes of deleted files that the processes keep alive.

    The size of a file that is only mapped is invisible: it counts as the largest possible.
    """
    opened: dict[int, int] = {}
    mapped: set[int] = set()
    for process in processes:
        for handle in _names(f"/proc/{process}/fd"):
            with contextlib.suppress(OSError):
                status = Path(f"/proc/{process}/fd/{handle}").stat()
                if stat.S_ISREG(status.st_mode) and status.st_nlink == 0:
                    opened[status.st_ino] = status.st_blocks * BLOCK
        for result in _DELETED_MAP.finditer(_read(f"/proc/{process}/maps")):
            mapped.add(int(result["inode"]))
    return sum(opened.values()) + largest * len(mapped - set(opened))


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:  # the process has ended
        return []


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:  # the process has ended
        return ""
