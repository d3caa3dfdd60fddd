"""The jail: a work folder, the resources of its code, and all processes that run in it."""

from __future__ import annotations

import os
import secrets
import subprocess
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from ...schema.values.errors import JailError
from .jails import DiskShare
from .layout import Confinement, interpreter, mounts
from .process import JailedProcess, JailKilled, ProcessGroup, spawn
from .request import PLAIN, JailRequest
from .scratch import ScratchFolder
from .tiers import Tier
from .watch import JailWatch
from .workspace import break_hard_links, disarm, give, read_file

_WATCH_SECONDS = 0.2
_START_SECONDS = 10.0  # the longest time until a start has succeeded or failed
NOTHING: Mapping[Path, Path] = MappingProxyType({})
# As the jail sees them: folders of its own.
_TEMPORARY = Path("/tmp")  # noqa: S108
_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108
# Unassigned ids: above containers' ranges, below those that old programs read as negative.
_FIRST_UID, _UIDS = 0x70000000, 1 << 28


class Jail:
    """A place to run untrusted code.

    Its processes see the work folder (which they may change), the system's programs, the
    interpreter, the paths named `readable` and a private `/tmp`. They have no network, see no
    process of the host, and get only a few environment variables of their own. If root starts them,
    they run as a user that exists nowhere else. Every method may be called from any thread.

    The work folder should be a copy made for this jail, and only one jail at a time may use it.
    Hard links in it are replaced by copies, and under root it belongs to the jail's user until the
    jail is closed. Its path in the jail is the same as outside, unless `at` sets another.

    What a jail leaves in the work folder is as untrusted as its code. Read it with
    `workspace.read_file`. Run programs on it only in the jail; that includes git, whose
    configuration names programs.

    Args:
        share: the disk that this jail shares with others; None if only `JailLimits.disk` counts.
        at: the work folder's path in the jail; None for its path outside.
        placed: more folders that the code may read: each path in the jail, and its path outside.

    Raises:
        JailError: the work folder is unusable, or the tier lacks the mounts that the jail needs.
    """

    def __init__(
        self,
        work: Path,
        request: JailRequest = PLAIN,
        *,
        tier: Tier,
        share: DiskShare | None = None,
        at: Path | None = None,
        placed: Mapping[Path, Path] = NOTHING,
    ) -> None:
        if not work.is_dir():
            raise JailError(f"The work folder {str(work)!r} is not a folder.")
        if (at or placed or request.alias or request.own) and not tier.has_mounts:
            raise JailError(
                f"This machine's jail, {tier.name}, cannot mount folders, which this agent needs."
                " Install bubblewrap, and allow it user namespaces."
            )
        self.work = work.resolve()
        self.tier = tier
        self.limits = request.limits
        self._lock = threading.Lock()
        self._processes: set[JailedProcess] = set()
        self._ended: str | None = None
        self._owner = self.work.stat()
        self._scratch = ScratchFolder("jail")
        temporary = _TEMPORARY if tier.has_mounts else self._scratch.path / "tmp"
        self._confinement = Confinement(
            work=self.work,
            request=request,
            private=self._scratch.path,
            environment={**_environment(temporary), **request.environment},
            uid=_unused_uid() if os.geteuid() == 0 and tier.confines else None,
            at=at,
            placed=placed,
        )
        try:
            # The watch begins after this: the host's own files are no growth of the jail.
            _prepare(self._confinement)
            self._watch = JailWatch(self._confinement, share)
            self._group = ProcessGroup() if tier.has_mounts else None
        except BaseException:
            self._scratch.close()
            raise
        # The kernel ends the processes with the thread that started them, so one thread, which
        # lives as long as the jail, starts them all.
        self._starter = ThreadPoolExecutor(1, thread_name_prefix="jail-starter")
        self._closing = threading.Event()
        self._watcher = threading.Thread(target=self._keep_watch, name="jail-watch", daemon=True)
        self._watcher.start()

    @property
    def place(self) -> Path:
        """The work folder's path in the jail."""
        return self._confinement.at or self.work

    def start(
        self,
        command: Sequence[str],
        *,
        folder: Path | None = None,
        stdin: int = subprocess.DEVNULL,
        stderr: int = subprocess.STDOUT,
    ) -> JailedProcess:
        """Start a command in the jail; see `AnyJail`."""
        with self._lock:
            self.check()
            # Under the lock, so that `kill` finds each start that passed the check.
            starting = self._starter.submit(
                self._spawn, command, folder=folder or self.place, stdin=stdin, stderr=stderr
            )
        process = starting.result()
        try:
            self.check()
        except JailKilled:
            process.close()
            raise
        return process

    def check(self) -> None:
        """Raise if the jail is no longer usable; see `AnyJail`."""
        if self._ended is not None:
            raise JailKilled(f"The jail has ended: {self._ended}.")

    def refresh(self) -> None:
        """Do nothing: the code works on the work folder itself."""

    def read_file(self, name: str, *, limit: int) -> bytes:
        """Return the content of a file of the work folder; see `AnyJail`."""
        return read_file(self.work, name, limit=limit)

    def kill(self, reason: str = "the host killed it") -> None:
        """End every process of the jail for good. Calls that wait for one raise `JailKilled`."""
        with self._lock:
            self._ended = self._ended or reason
            under_way = [] if self._closing.is_set() else [self._starter.submit(int)]
        # After this, every start in progress is registered.
        wait(under_way, _START_SECONDS)
        self._kill_processes(reason)

    def close(self) -> None:
        """End every process, give the work folder back to its owner, remove the private one."""
        self.kill("the jail was closed")
        with self._lock:
            if self._closing.is_set():
                return
            self._closing.set()
        # The watch must not measure or end anything while the folder's owner changes below.
        self._watcher.join()
        self._starter.shutdown()
        if self._group is not None:
            self._group.close()
        try:
            if self._confinement.uid is None:
                disarm(self.work)
            else:
                give(self.work, uid=self._owner.st_uid, gid=self._owner.st_gid)
        finally:
            self._scratch.close()
        self._watch.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _spawn(self, command: Sequence[str], **how: Any) -> JailedProcess:
        process = spawn(self.tier, self._confinement, command, group=self._group, **how)
        with self._lock:
            self._processes = {item for item in self._processes if item.running} | {process}
        return process

    def _kill_processes(self, reason: str) -> None:
        with self._lock:
            processes = tuple(self._processes)
        for process in processes:
            process.kill(reason)

    def _keep_watch(self) -> None:
        while not self._closing.wait(_WATCH_SECONDS):
            with self._lock:
                roots = [process.root for process in self._processes if process.running]
            if not roots:
                continue
            try:
                excess = self._watch.excess(roots)
            except OSError as error:
                excess = f"it can't be measured any more ({error})"
            if excess is not None:
                self._kill_processes(excess)


def _environment(temporary: Path) -> dict[str, str]:
    return {
        "PATH": f"{interpreter().parent}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(temporary),
        "TMPDIR": str(temporary),
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",  # caches have no place in a patch
        "CARGO_INCREMENTAL": "0",  # rustc refuses to build in steps where there is no `flock`
        "EMAIL": "agent@localhost",  # git needs them for commits
        "GIT_CONFIG_NOSYSTEM": "1",  # in some jails git cannot see that /etc has no settings
        "GIT_AUTHOR_NAME": "agent",
        "GIT_COMMITTER_NAME": "agent",
    }


def _unused_uid() -> int:
    """Return a random user id that this process may take; jails hardly ever share one."""
    ranges = Path("/proc/self/uid_map").read_text(encoding="ascii").split()
    end = max(
        int(first) + int(count) for first, count in zip(ranges[::3], ranges[2::3], strict=False)
    )
    first = min(_FIRST_UID, end // 2)
    return first + secrets.randbelow(min(_UIDS, end - first))


def _prepare(confinement: Confinement) -> None:
    """Create the private folder, and let the jail's user write to its folders."""
    private, uid = confinement.private, confinement.uid
    folders = [private / "tmp", private / "shm", *confinement.own.values()]
    for folder in folders:
        folder.mkdir()
    user = os.geteuid() if uid is None else uid
    group = os.getegid() if uid is None else uid
    (private / "passwd").write_text(f"agent:x:{user}:{group}:agent:/tmp:/bin/sh\n", "ascii")
    (private / "group").write_text(f"agent:x:{group}:\n", "ascii")
    _make_places(confinement)
    break_hard_links(confinement.work)
    if uid is not None:
        private.chmod(0o711)  # nobody else can look into the folders inside
        give(confinement.work, *folders, uid=uid, gid=uid)


def _make_places(confinement: Confinement) -> None:
    """Create mount points inside the jail's own folders.

    Bubblewrap would create mount points that only root may enter.
    """
    private = confinement.private
    folders = {_TEMPORARY: private / "tmp", _SHARED_MEMORY: private / "shm", **confinement.own}
    for mount in mounts(confinement):
        for inside, folder in folders.items():
            if mount.target != inside and mount.target.is_relative_to(inside):
                place = folder / mount.target.relative_to(inside)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.mkdir(exist_ok=True) if mount.source.is_dir() else place.touch()
