"""The last step into a jail: take the jail's user and limits, then become the command.

Run inside the jail, by the interpreter alone, as

    python -I -S _enter.py folder=PATH [uid=N [capability=N]] [init=N alive=FD] [CPU=N] ... --
    command [...]

To start fast, it imports only modules that the interpreter has already loaded, and `resource`.
"""

import os
import resource
import sys

_MOST_DESCRIPTORS = 1 << 16
_KEEP_CAPABILITIES, _AMBIENT, _AMBIENT_RAISE, _CAPABILITY_VERSION = 8, 47, 2, 0x20080522


def main(arguments: list[str]) -> None:
    """Apply the options before `--`, then execute the command after it."""
    end = arguments.index("--")
    settings = dict(setting.split("=", 1) for setting in arguments[:end])
    uid, folder = settings.pop("uid", None), settings.pop("folder")
    capability, init = settings.pop("capability", None), settings.pop("init", None)
    alive = settings.pop("alive", None)
    if init is not None and alive is not None:
        _outlive_nobody(int(init), int(alive))
    for name, text in settings.items():
        _limit(getattr(resource, f"RLIMIT_{name}"), int(text), None if init is None else int(init))
    if uid is not None:
        _become(int(uid), None if capability is None else int(capability))
    os.chdir(folder)
    os.umask(0o022)
    os.closerange(3, _MOST_DESCRIPTORS)  # our parent may have left some open
    command = arguments[end + 1 :]
    os.execvp(command[0], command)


def _outlive_nobody(init: int, alive: int) -> None:
    """Continue only while the host lives, and end the whole jail when the host ends.

    The jail's first process asks the kernel for that late, and loads the filter right after it.
    """
    while not _has_filter(init):
        os.sched_yield()
    # Opened again: non-blocking mode is shared by all copies of a descriptor.
    again = os.open(f"/proc/self/fd/{alive}", os.O_RDONLY | os.O_NONBLOCK)
    try:
        os.read(again, 1)
    except BlockingIOError:  # the host is still alive
        return
    sys.exit("the process that asked for the jail has ended")


def _has_filter(process: int) -> bool:
    with open(f"/proc/{process}/status", "rb") as file:
        return b"\nSeccomp:\t2\n" in file.read()


def _limit(kind: int, wanted: int, init: int | None) -> None:
    hard = resource.getrlimit(kind)[1]
    bound = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(kind, (bound, bound))
    if init is None:
        return
    # Code of the same user could take over the jail's first process.
    try:
        resource.prlimit(init, kind, (bound, bound))
    except PermissionError:  # it is another user's, and out of reach
        pass


def _become(uid: int, capability: int | None) -> None:
    """Become a user, and optionally keep one of root's capabilities."""
    if capability is None:
        _switch(uid)
        return
    import ctypes  # not always: it would double the time to start

    kernel = ctypes.CDLL(None, use_errno=True)
    kernel.prctl(_KEEP_CAPABILITIES, 1, 0, 0, 0)
    _switch(uid)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    # Effective, permitted and inheritable, for the first 32 capabilities and the others.
    words = (ctypes.c_uint32 * 6)(*[1 << capability] * 3, 0, 0, 0)
    if (
        kernel.capset(header, words) != 0
        or kernel.prctl(_AMBIENT, _AMBIENT_RAISE, capability, 0, 0) != 0
    ):
        raise OSError(ctypes.get_errno(), "the jail's user can't be given a capability")


def _switch(uid: int) -> None:
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


if __name__ == "__main__":
    main(sys.argv[1:])
