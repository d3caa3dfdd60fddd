"""The limits of code in a jail, as one frozen value."""

from __future__ import annotations

from dataclasses import dataclass, fields

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
        for field in fields(self):
            value: float = getattr(self, field.name)
            if value <= 0:
                raise ValueError(f"Limits.{field.name} must be positive, not {value!r}.")
