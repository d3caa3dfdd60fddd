"""Attacks on the kernel: system calls that honest code does not need."""

from __future__ import annotations

from typing import Any

from .probe import Probe

__all__ = ["KERNEL"]


def _call(name: str, attempt: str, *arguments: Any) -> Probe:
    words = ", ".join(map(repr, (name, *arguments)))
    code = f"call({words}) is not None"
    return Probe(name=f"call_{name}", attempt=attempt, code=code, alone=False)


KERNEL = (
    _call("mount", "mount a file system", 0, 0, 0, 0, 0),
    _call("umount2", "unmount what hides the host", 0, 2),
    _call("pivot_root", "change the root of the file system", 0, 0),
    _call("chroot", "change its own root", 0),
    _call("open_by_handle_at", "open a file without its path", -1, 0, 0),
    _call("process_vm_readv", "read the memory of another process", 0, 0, 0, 0, 0, 0),
    _call("io_uring_setup", "use io_uring", 1, 0),
    _call("userfaultfd", "handle page faults itself", 0),
    _call("bpf", "load a program into the kernel", 0, 0, 0),
    _call("perf_event_open", "measure the kernel", 0, 0, -1, -1, 0),
    _call("keyctl", "read the kernel's keyrings", 0, -3, 0),
    _call("add_key", "store a key in the kernel", 0, 0, 0, 0, 0),
    _call("init_module", "load a kernel module", 0, 0, 0),
    _call("kexec_load", "start another kernel", 0, 0, 0, 0),
    _call("reboot", "restart the machine", 0, 0, 0, 0),
    _call("swapon", "swap to a file", 0, 0),
    _call("settimeofday", "set the clock", 0, 0),
    _call("sethostname", "rename the machine", 0, 1),
    _call("syslog", "read the kernel's log", 10, 0, 0),
    _call("personality", "turn off address randomisation", 0xFFFFFFFF),
    _call("fsopen", "make a file system to mount", 0, 0),
    _call("open_tree", "take a copy of a mount", -100, 0, 1),
    _call("pidfd_getfd", "take a descriptor of another process", 0, 0, 0),
    _call("request_key", "have the host look for a key", 0, 0, 0, 0),
    _call("io_setup", "take the requests that the whole machine may have under way", 8, 0),
    _call("memfd_create", "hold memory that no process has", 0, 0),
    _call("shmget", "hold shared memory that no process has", 0, 0, 0),
    Probe(
        name="call_everything",
        attempt="make every system call that a jail refuses",
        code="[name for name in calls if call(name, 0, 0, 0, 0, 0, 0) is not None]",
        harmless=False,
        alone=False,
    ),
)
"""They change the machine, take what no limit counts, or use parts with a record of holes."""
