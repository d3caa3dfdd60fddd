"""What code in a jail may use: folders, variables, and its limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

_MIB = 1 << 20


@dataclass(frozen=True, kw_only=True, slots=True)
class JailLimits:
    """The limits of one jail. Reaching one ends the call or the process, never the host.

    The kernel enforces the limits of a single process immediately. The limits of the whole jail
    (`resident`, `disk`) are measured about five times a second, so a jail can exceed them between
    two measurements; it is then killed.

    Attributes:
        memory: bytes of address space of one process.
        resident: bytes of memory that all processes of the jail hold together.
        cpu: processor seconds of one process over its whole life.
        disk: bytes by which the work folder and the private `/tmp` together may grow.
        processes: processes and threads alive at once.
        wall: seconds that one execution may take.
        output: bytes to keep of one execution's printed output.
        message: bytes of one message between the host and the interpreter in the jail.

    Raises:
        ValueError: a limit is not positive.
    """

    memory: int = 2048 * _MIB
    resident: int = 2048 * _MIB
    cpu: int = 600
    file_size: int = 256 * _MIB
    disk: int = 1024 * _MIB
    processes: int = 128
    open_files: int = 256
    wall: float = 60.0
    output: int = 32 * 1024
    message: int = 4 * _MIB

    def __post_init__(self) -> None:
        for limit in fields(self):
            value: float = getattr(self, limit.name)
            if value <= 0:
                raise ValueError(f"Limits.{limit.name} must be positive, not {value!r}.")


@dataclass(frozen=True, kw_only=True, slots=True)
class JailRequest:
    """The resources of a jail's code besides its work folder.

    Attributes:
        readable: Installed files that it may read, at the same path wherever jails are.
        host_folders: Folders of this machine that it may read at the same path.
        environment: Variables to add to the minimal environment, or to replace there.
        alias: Another path of the work folder, the same in every jail.
        own: More paths of folders that belong to the jail, empty at first.
        returns: Whether the closed jail's work folder must contain the code's changes. If not, a
            jail elsewhere need not bring them here.
    """

    limits: JailLimits = field(default_factory=JailLimits)
    readable: tuple[Path, ...] = ()
    host_folders: tuple[Path, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    alias: Path | None = None
    own: tuple[Path, ...] = ()
    returns: bool = True


PLAIN = JailRequest()
