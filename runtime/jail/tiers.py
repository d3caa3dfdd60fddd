"""The ways to start a command in a jail, strongest first.

A tier only names the program to start. The self-test of `detect` proves on each machine that the
program confines.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...schema.values.errors import JailError
from .layout import Confinement, directories, interpreter, links, mounts
from .pipes import first_line
from .syscall_filter import assemble

_CREATE_RULESET, _ABI_VERSION = 444, 1  # the kernel's landlock_create_ruleset and its flag
_READ_SEARCH, _OVERRIDE = 2, 1  # the kernel's CAP_DAC_READ_SEARCH and CAP_DAC_OVERRIDE
_VERSION = "bubblewrap "
_VERSION_SECONDS = 5.0
_HERE = Path(__file__).resolve().parent
_DEVICES = tuple(f"/dev/{name}" for name in ("null", "full", "random", "urandom"))
# A process that may write to it gets shared memory that no process has to hold.
_ZERO, _ZERO_WITHOUT_MEMORY = "/dev/zero", "/dev/full"


@dataclass(frozen=True, slots=True)
class TierCommand:
    """How a tier starts one command.

    Attributes:
        folder: where in the jail it starts.
        filter: descriptor with the bytes of `Tier.syscall_filter`.
        report: descriptor to write the first process of the jail to.
        alive: descriptor to read from, which ends when the process that starts the command does;
            None for tiers without mounts.
    """

    folder: Path
    filter: int
    report: int
    alive: int | None = None


@dataclass(frozen=True, slots=True)
class Tier:
    """A way to confine a command.

    Attributes:
        confines: False only for the tier that a user has to request.
        has_mounts: whether the jail has its own root folder and process ids. If so, the started
            program Must write `{"child-pid": N}` to `TierCommand.report`, where N is the process
            whose end ends every process of the jail. Both Must stay in their original process group
            until the program's end is also that of N. If not, the program Must end them all itself
            when it gets SIGTERM, before it ends.
    """

    name: str
    confines: bool = True
    has_mounts: bool = True

    def version(self) -> str:
        """Return this machine's version of the tier's means, for the record of a run.

        Raises:
            JailError: this machine lacks the means.
        """
        raise NotImplementedError

    def syscall_filter(self) -> bytes:
        """Return the seccomp program that the started program reads from `TierCommand.filter`."""
        return assemble(platform.machine())

    def command(
        self, confinement: Confinement, command: Sequence[str], line: TierCommand
    ) -> list[str]:
        """Return the program to start, which runs `command`, confined, until it ends.

        Raises:
            JailError: this machine lacks the means.
        """
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Bubblewrap(Tier):
    """Tier 1: bubblewrap makes the namespaces and mounts, and loads the seccomp filter."""

    name: str = "bubblewrap"

    def version(self) -> str:
        """See `Tier`."""
        text = first_line([_bubblewrap(), "--version"], _VERSION_SECONDS)
        if not text.startswith(_VERSION):
            raise JailError(f"asked for --version, it printed {text!r}")
        return text.removeprefix(_VERSION)

    def command(
        self, confinement: Confinement, command: Sequence[str], line: TierCommand
    ) -> list[str]:
        """See `Tier`."""
        return [
            *_first_to_go(_bubblewrap()),
            *_namespaces(),
            *("--die-with-parent", "--new-session", "--hostname", "jail"),
            *_mount_options(confinement),
            *("--info-fd", str(line.report), "--seccomp", str(line.filter)),
            *_capabilities(confinement),
            "--",
            *_enter(confinement, command, line.folder, alive=line.alive),
        ]


@dataclass(frozen=True, slots=True)
class Landlock(Tier):
    """Tier 2: Landlock confines files, the seccomp filter the rest. It needs no namespaces.

    Code can check names of the host's files, but not read their content. The jail's user keeps
    rights over the host's files that Landlock does not cover, so changes of mode, owner and time
    have no effect anywhere, unless root gave the jail its own user.
    """

    name: str = "landlock"
    has_mounts: bool = False

    def version(self) -> str:
        """See `Tier`."""
        return f"Landlock ABI {_landlock_abi()}"

    def syscall_filter(self) -> bytes:
        """See `Tier`."""
        # No mount hides the sockets of the host's services.
        return assemble(
            platform.machine(), namespaces=False, owns_files=_search_capability() != _READ_SEARCH
        )

    def command(
        self, confinement: Confinement, command: Sequence[str], line: TierCommand
    ) -> list[str]:
        """See `Tier`."""
        options = ["--read", _ZERO]
        options += [word for device in _DEVICES for word in ("--write", device)]
        for mount in mounts(confinement):
            options += ["--write" if mount.writable else "--read", str(mount.source)]
        return [
            *_script("_keeper.py"),
            *options,
            *("--seccomp", str(line.filter)),
            "--",
            *_enter(confinement, command, line.folder, has_mounts=False),
        ]


@dataclass(frozen=True, slots=True)
class Unconfined(Tier):
    """No jail: limits, an empty environment, and an end that leaves no process behind."""

    name: str = "unsafe-local"
    confines: bool = False
    has_mounts: bool = False

    def version(self) -> str:
        """See `Tier`."""
        return platform.platform(terse=True)

    def syscall_filter(self) -> bytes:
        """See `Tier`."""
        return b""

    def command(
        self, confinement: Confinement, command: Sequence[str], line: TierCommand
    ) -> list[str]:
        """See `Tier`."""
        entered = _enter(confinement, command, line.folder, has_mounts=False)
        return [*_script("_keeper.py"), "--", *entered]


def _search_capability() -> int | None:
    """Return the capability that lets a jail's own user pass through root's folders.

    Without mounts, it must pass the folders above its files, which often only root may enter.
    """
    result = re.search(
        r"^CapEff:\s*(\w+)", Path("/proc/self/status").read_text("ascii"), re.MULTILINE
    )
    held = int(result[1], 16) if result else 0
    if os.geteuid() != 0:
        return None
    return next(
        (capability for capability in (_READ_SEARCH, _OVERRIDE) if held >> capability & 1), None
    )


def _script(name: str) -> list[str]:
    return [str(interpreter()), "-I", "-S", str(_HERE / name), str(os.getpid())]


def _enter(
    confinement: Confinement,
    command: Sequence[str],
    folder: Path,
    *,
    has_mounts: bool = True,
    alive: int | None = None,
) -> list[str]:
    """Return the command line that takes the jail's user and limits and becomes `command`."""
    limits = confinement.request.limits
    # The kernel counts a user's processes per user namespace, and the machine is one.
    others = _threads_of_user() if confinement.uid is None and not has_mounts else 0
    settings: dict[str, object] = {
        # As the jail's user: root without its capabilities may not enter that user's folders.
        "folder": folder,
        "AS": limits.memory,
        "CPU": limits.cpu,
        "FSIZE": limits.file_size,
        "NPROC": limits.processes + others,
        "NOFILE": limits.open_files,
        # Not 0: with 0, the kernel would still start the host's program for core dumps.
        "CORE": 1,
    }
    if has_mounts:
        settings["init"] = 1
    if alive is not None:
        settings["alive"] = alive
    if sys.platform != "linux":
        del settings["AS"]  # macOS refuses to limit it
    if confinement.uid is not None:
        settings["uid"] = confinement.uid
        capability = None if has_mounts else _search_capability()
        if capability is not None:
            settings["capability"] = capability
    pairs = [f"{name}={value}" for name, value in settings.items()]
    return [str(interpreter()), "-I", "-S", str(_HERE / "_enter.py"), *pairs, "--", *command]


def _threads_of_user() -> int:
    """Return the current user's number of threads."""
    count = 0
    for process in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):  # it has ended
            if os.stat(f"/proc/{process}").st_uid == os.geteuid():
                count += len(os.listdir(f"/proc/{process}/task"))
    return count


def _bubblewrap() -> str:
    program = shutil.which("bwrap")
    if program is None:
        raise JailError("there is no program named bwrap on the PATH")
    return program


def _first_to_go(program: str) -> list[str]:
    """Return how to start a program that the kernel kills first if memory runs out.

    It does not start once we have ended, since its process group may already have been killed.
    """
    script = (
        '[ "$PPID" = "$0" ] || exit; echo 1000 2>/dev/null >/proc/self/oom_score_adj; exec "$@"'
    )
    return ["/bin/sh", "-c", script, str(os.getpid()), program]


def _landlock_abi() -> int:
    """Return the version of the kernel's Landlock."""
    version: int = ctypes.CDLL(None).syscall(_CREATE_RULESET, None, 0, _ABI_VERSION)
    if version < 1:
        raise JailError("the kernel has no Landlock, or it is turned off")
    return version


def _namespaces() -> list[str]:
    """Return the namespaces to unshare.

    Root needs no user namespace to mount, and works on machines that forbid them; its jail runs as
    a user of its own instead.
    """
    if os.geteuid() != 0:
        return ["--unshare-all"]
    kinds = ("ipc", "pid", "net", "uts", "cgroup-try")
    return [f"--unshare-{kind}" for kind in kinds]


def _capabilities(confinement: Confinement) -> list[str]:
    keep = [] if confinement.uid is None else ["CAP_SETUID", "CAP_SETGID"]
    return ["--cap-drop", "ALL", *(word for name in keep for word in ("--cap-add", name))]


def _mount_options(confinement: Confinement) -> list[str]:
    result = mounts(confinement)
    # /dev/full reads as zeros, too, and can't be mapped.
    words = ["--proc", "/proc", "--dev", "/dev", "--dev-bind", _ZERO_WITHOUT_MEMORY, _ZERO]
    for target, link in links():
        words += ["--symlink", target, str(link)]
    for folder in directories(result):
        words += ["--dir", str(folder)]
    for mount in result:
        kind = "--bind" if mount.writable else "--ro-bind"
        words += [kind, str(mount.source), str(mount.target)]
    # Files left there use memory that no limit counts, so nobody may write there.
    return [*words, "--remount-ro", "/dev", "--remount-ro", "/"]
