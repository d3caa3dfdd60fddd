"""Starts a command and ends it with all its descendants, for machines without namespaces.

Run outside of the jail, by the interpreter alone, as

    python -I -S _keeper.py PARENT [option ...] -- command [argument ...]

PARENT is the process that started it. When PARENT ends, when the command ends, and on SIGTERM, it
kills all processes that descend from the command, and only then ends itself. Options:

    --read PATH, --write PATH    files and folders that the command may read, or read and change
    --seccomp FD                 the seccomp program that confines it

With any of them, the kernel's Landlock denies the command all other files.
"""

# pyright: basic, reportUnknownParameterType=false, reportMissingParameterType=false

import ctypes
import os
import signal
import sys

_C = ctypes.CDLL(None, use_errno=True)

_PDEATHSIG, _SECCOMP, _SECCOMP_FILTER, _CHILD_SUBREAPER, _NO_NEW_PRIVILEGES = 1, 22, 2, 36, 38
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION, _PATH_BENEATH = 1, 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_MAKE_CHARACTER_DEVICE, _MAKE_BLOCK_DEVICE = 1 << 6, 1 << 11
_TRUNCATE, _IOCTL_DEVICE = 1 << 14, 1 << 15
_LAST_BEFORE_5, _LAST_SINCE_5 = (1 << 15) - 1, (1 << 16) - 1
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEVICE
_RIGHTS = {
    "--read": _READ,
    "--write": _LAST_SINCE_5 & ~(_MAKE_CHARACTER_DEVICE | _MAKE_BLOCK_DEVICE | _IOCTL_DEVICE),
}
_ALL_TCP = 0b11
_ALL_SCOPES = 0b11  # abstract sockets and signals
_SCOPES_SINCE = 6  # older versions do not block signals to the user's other processes
_OLDEST = 3  # older versions do not block truncating files


class Ruleset(ctypes.Structure):
    """The kernel's `struct landlock_ruleset_attr`."""

    _fields_ = [(name, ctypes.c_uint64) for name in ("files", "network", "scopes")]


class PathRule(ctypes.Structure):
    """The kernel's `struct landlock_path_beneath_attr`."""

    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


class FilterProgram(ctypes.Structure):
    """The kernel's `struct sock_fprog`."""

    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def main(arguments):
    """Start the command, wait for it, and end all its descendants."""
    end = arguments.index("--")
    options, command = arguments[1:end], arguments[end + 1 :]
    waited = {signal.SIGTERM, signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, waited)
    if sys.platform == "linux":
        _adopt(int(arguments[0]))
    first = os.fork()
    if first == 0:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, waited)
        _become(list(zip(options[::2], options[1::2], strict=True)), command)
    code = None
    while code is None:
        ended = signal.sigwait(waited) == signal.SIGTERM
        code = 128 + signal.SIGTERM if ended else _reap(first)
    _kill_descendants(first)
    os._exit(code)


def _adopt(parent):
    """Become the parent of every orphan below us, and end when our own parent does."""
    _check(_C.prctl(_CHILD_SUBREAPER, 1, 0, 0, 0), "subreaper")
    _check(_C.prctl(_PDEATHSIG, signal.SIGTERM, 0, 0, 0), "prctl")
    if os.getppid() != parent:
        sys.exit("the process that asked for the jail has ended")


def _become(pairs, command):
    try:
        os.setsid()
        _go_first()
        if pairs:
            _confine(pairs)
        os.execv(command[0], command)
    except OSError as error:
        os.write(2, f"keeper: {error.strerror}\n".encode())
    finally:
        os._exit(126)


def _go_first():
    """If memory runs out, let the kernel kill the command before its keeper."""
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
            file.write("1000")
    except OSError:
        pass


def _reap(first):
    """Reap all children that ended; return the command's exit code if it is among them."""
    code = None
    while True:
        try:
            ended, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return code
        if ended == 0:
            return code
        if ended == first:
            exited = os.waitstatus_to_exitcode(status)
            code = exited if exited >= 0 else 128 - exited


def _kill_descendants(first):
    """Kill our children, whose own children become ours, until none are left."""
    try:
        os.killpg(first, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    while children := _children():
        for child in children:
            try:
                os.kill(child, signal.SIGKILL)
            except ProcessLookupError:
                pass
        os.wait()
        _reap(first)
    _reap(first)


def _children():
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:  # not Linux: only the process group can be found
        return []


def _confine(pairs):
    program = next(int(value) for name, value in pairs if name == "--seccomp")
    with open(program, "rb") as file:
        instructions = file.read()
    _check(_C.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0), "no_new_privs")
    _restrict_files([(path, _RIGHTS[name]) for name, path in pairs if name in _RIGHTS])
    filter_program = FilterProgram(len(instructions) // 8, instructions)
    _check(_C.prctl(_SECCOMP, _SECCOMP_FILTER, ctypes.byref(filter_program), 0, 0), "seccomp")


def _restrict_files(paths):
    version = _C.syscall(_CREATE_RULESET, None, 0, _VERSION)
    if version < (_OLDEST if os.getuid() == 0 else _SCOPES_SINCE):
        raise OSError(0, f"the kernel's Landlock has version {max(version, 0)}, which is too old")
    file_rights = _LAST_BEFORE_5 if version < 5 else _LAST_SINCE_5
    wanted = Ruleset(
        file_rights, _ALL_TCP if version >= 4 else 0, _ALL_SCOPES if version >= 6 else 0
    )
    size = {3: 8, 4: 16, 5: 16}.get(version, 24)
    ruleset = _C.syscall(_CREATE_RULESET, ctypes.byref(wanted), size, 0)
    _check(min(ruleset, 0), "landlock_create_ruleset")
    for path, rights in paths:
        _allow(ruleset, path, rights & file_rights)
    _check(_C.syscall(_RESTRICT_SELF, ruleset, 0), "landlock_restrict_self")
    os.close(ruleset)


def _allow(ruleset, path, rights):
    handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    if not os.path.isdir(path):
        rights &= _ON_FILES
    rule = PathRule(rights, handle)
    result = _C.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0)
    _check(result, f"landlock_add_rule {path}")
    os.close(handle)


def _check(result, step):
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{step}: {os.strerror(number)}")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except OSError as error:
        sys.exit(f"keeper: {error.strerror}")
