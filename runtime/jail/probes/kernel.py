"""Attacks on the kernel: system calls that honest code does not need."""

from __future__ import annotations

from typing import Any

from .probe import Probe


def _call(name: str, *arguments: Any) -> Probe:
    words = ", ".join(map(repr, (name, *arguments)))
    code = f"call({words}) is not None"
    return Probe(name=f"call_{name}", code=code, alone=False)


KERNEL = (
    _call("mount", 0, 0, 0, 0, 0),  # mount a file system
    _call("umount2", 0, 2),  # unmount what hides the host
    _call("pivot_root", 0, 0),  # change the root of the file system
    _call("chroot", 0),  # change its own root
    _call("open_by_handle_at", -1, 0, 0),  # open a file without its path
    _call("process_vm_readv", 0, 0, 0, 0, 0, 0),  # read the memory of another process
    _call("io_uring_setup", 1, 0),  # use io_uring
    _call("userfaultfd", 0),  # handle page faults itself
    _call("bpf", 0, 0, 0),  # load a program into the kernel
    _call("perf_event_open", 0, 0, -1, -1, 0),  # measure the kernel
    _call("keyctl", 0, -3, 0),  # read the kernel's keyrings
    _call("add_key", 0, 0, 0, 0, 0),  # store a key in the kernel
    _call("init_module", 0, 0, 0),  # load a kernel module
    _call("kexec_load", 0, 0, 0, 0),  # start another kernel
    _call("reboot", 0, 0, 0, 0),  # restart the machine
    _call("swapon", 0, 0),  # swap to a file
    _call("settimeofday", 0, 0),  # set the clock
    _call("sethostname", 0, 1),  # rename the machine
    _call("syslog", 10, 0, 0),  # read the kernel's log
    _call("personality", 0xFFFFFFFF),  # turn off address randomisation
    _call("fsopen", 0, 0),  # make a file system to mount
    _call("open_tree", -100, 0, 1),  # take a copy of a mount
    _call("pidfd_getfd", 0, 0, 0),  # take a descriptor of another process
    _call("request_key", 0, 0, 0, 0),  # have the host look for a key
    _call("io_setup", 8, 0),  # take the requests that the whole machine may have under way
    _call("memfd_create", 0, 0),  # hold memory that no process has
    _call("shmget", 0, 0, 0),  # hold shared memory that no process has
    Probe(
        name="call_everything",
        code="[name for name in calls if call(name, 0, 0, 0, 0, 0, 0) is not None]",
        harmless=False,
        alone=False,
    ),
)
"""Attacks that change the machine, evade the limits, or use kernel parts with known holes."""
