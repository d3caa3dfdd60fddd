"""What code in a jail may use, as one frozen value."""

from __future__ import annotations

from dataclasses import dataclass, fields

_MIB = 1 << 20


@dataclass(frozen=True, kw_only=True, slots=True)
class JailLimits:
    """The bounds of one jail. Reaching one ends the call or the process, never the host.

    The kernel enforces the bounds of a single process at the moment they are reached. The bounds of
    the whole jail (`resident`, `disk`) are measured about five times a second, so a jail can pass
    them for as long as one measurement takes; it is killed then.

    Attributes:
        memory: bytes of address space of one process.
        resident: bytes of memory that all processes of the jail hold together.
        cpu: processor seconds of one process over its whole life.
        disk: bytes by which the work folder and the private `/tmp` together may grow.
        processes: processes and threads alive at once.
        wall: seconds that one execution may take.
        output: bytes of printed output that are kept of one execution.
        message: bytes of one message between the host and the interpreter in the jail.

    Raises:
        ValueError: a bound is not positive.
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
        for field in fields(self):
            value: float = getattr(self, field.name)
            if value <= 0:
                raise ValueError(f"Limits.{field.name} must be positive, not {value!r}.")
