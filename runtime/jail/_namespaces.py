"""Starts a command in new namespaces: what bubblewrap does, where there is no bubblewrap.

Run outside of the jail, by the interpreter alone, as

    python -I -S _namespaces.py PARENT [option ...] -- command [argument ...]

PARENT is the process that started it: it ends, and all of the jail, when that process does. The
options are those of bubblewrap that `tiers` uses, with bubblewrap's meaning.
"""

# pyright: basic, reportUnknownParameterType=false, reportMissingParameterType=false

import ctypes
import os
import select
import signal
import sys

_C = ctypes.CDLL(None, use_errno=True)

_NEWNS, _NEWCGROUP, _NEWUTS, _NEWIPC = 0x20000, 0x2000000, 0x4000000, 0x8000000
_NEWUSER, _NEWPID, _NEWNET = 0x10000000, 0x20000000, 0x40000000
_NOSUID, _NODEV, _NOEXEC, _BIND, _RECURSIVE, _PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18
_DETACH = 2
_PDEATHSIG, _SECCOMP, _SECCOMP_FILTER, _NO_NEW_PRIVILEGES = 1, 22, 2, 38
_MOUNT_SETATTR, _PIVOT_ROOT = 442, {"x86_64": 155, "aarch64": 41}
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_ATTRIBUTE_READ_ONLY, _ATTRIBUTE_NOSUID, _ATTRIBUTE_NODEV = 1, 2, 4

_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_DEVICE_LINKS = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
    "ptmx": "pts/ptmx",
}
_OLD, _NEW = "/old", "/new"  # the host's root and the jail's, while the mounts are made


class MountAttributes(ctypes.Structure):
    """The kernel's `struct mount_attr`."""

    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "userns")]


class FilterProgram(ctypes.Structure):
    """The kernel's `struct sock_fprog`."""

    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def main(arguments):
    """Make the namespaces, start the command as their second process, and pass its end on."""
    end = arguments.index("--")
    options, command = arguments[1:end], arguments[end + 1 :]
    report, program = _descriptor(options, "--info-fd"), _descriptor(options, "--seccomp")
    _die_with(int(arguments[0]))
    _go_first()
    _unshare()
    alive, held = os.pipe()
    init = os.fork()
    if init == 0:
        os.close(held)
        _init(options, alive, report, program, command)
    # From here on our root may change under us with that of the child: nothing can be imported.
    os.write(report, b'{"child-pid": %d}' % init)
    os.close(report)
    os.close(program)
    _end_as(os.waitpid(init, 0)[1])


def _init(options, alive, report, program, command):
    """Be the first process of the namespaces: when it ends, the kernel ends all others."""
    _die_with(None)
    if select.select([alive], [], [], 0)[0]:
        os._exit(1)  # the parent ended before it could take us along
    os.close(alive)
    os.close(report)
    os.setsid()
    _check(_C.sethostname(b"jail", 4), "sethostname")
    _mount_all(options)
    with open(program, "rb") as file:
        _filter(file.read())
    first = os.fork()
    if first == 0:
        os.execv(command[0], command)
    while True:
        ended, status = os.wait()
        if ended == first:
            _end_as(status)


def _descriptor(options, name):
    descriptor = int(options[options.index(name) + 1])
    os.set_inheritable(descriptor, False)
    return descriptor


def _die_with(parent):
    _check(_C.prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "prctl")
    if parent is not None and os.getppid() != parent:
        sys.exit("the process that asked for the jail has ended")


def _go_first():
    """Let the kernel end us, and so all of the jail, first where memory runs out."""
    try:
        _write("/proc/self/oom_score_adj", "1000")
    except OSError:
        pass


def _unshare():
    user, group = os.getuid(), os.getgid()
    kinds = _NEWNS | _NEWCGROUP | _NEWUTS | _NEWIPC | _NEWPID | _NEWNET
    _check(_C.unshare(kinds | (_NEWUSER if user else 0)), "unshare")
    if user:
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{user} {user} 1")
        _write("/proc/self/gid_map", f"{group} {group} 1")


def _mount_all(options):
    """Build the jail's root in memory beside the host's, then leave the host's."""
    _mount(None, "/", None, _RECURSIVE | _PRIVATE)
    base = "/tmp"  # noqa: S108 - hidden by what is mounted there, in this namespace only
    _mount("tmpfs", base, "tmpfs", _NOSUID | _NODEV, "mode=0755")
    os.mkdir(base + _OLD)
    os.mkdir(base + _NEW)
    _mount(base + _NEW, base + _NEW, None, _BIND)
    _pivot_root(base, base + _OLD)
    os.chdir("/")
    words = iter(options)
    for word in words:
        make = _MAKERS.get(word)
        if make is None:
            next(words, None)  # the value of an option that is not about mounts
        else:
            make(*(next(words) for _ in range(make.__code__.co_argcount)))
    os.chdir(_NEW)
    _pivot_root(".", ".")
    _check(_C.umount2(b".", _DETACH), "umount2")
    os.chdir("/")


def _make_directory(target):
    os.makedirs(_NEW + target, exist_ok=True)


def _make_link(points_to, target):
    os.symlink(points_to, _NEW + target)


def _make_proc(target):
    _make_directory(target)
    _mount("proc", _NEW + target, "proc", _NOSUID | _NODEV | _NOEXEC)


def _make_devices(target):
    _make_directory(target)
    _mount("tmpfs", _NEW + target, "tmpfs", _NOSUID, "mode=0755")
    for name in _DEVICES:
        _make_device(f"/dev/{name}", f"{target}/{name}")
    for name, points_to in _DEVICE_LINKS.items():
        os.symlink(points_to, f"{_NEW}{target}/{name}")
    _make_directory(target + "/shm")
    _make_directory(target + "/pts")
    options = "newinstance,ptmxmode=0666,mode=0620"
    _mount("devpts", f"{_NEW}{target}/pts", "devpts", _NOSUID | _NOEXEC, options)


def _make_writable(source, target):
    _bind(source, target, _ATTRIBUTE_NOSUID | _ATTRIBUTE_NODEV)


def _make_read_only(source, target):
    _bind(source, target, _ATTRIBUTE_NOSUID | _ATTRIBUTE_NODEV | _ATTRIBUTE_READ_ONLY)


def _make_device(source, target):
    _place_file(_NEW + target)
    _mount(_OLD + source, _NEW + target, None, _BIND)


def _make_unwritable(target):
    _set_attributes(_NEW + target, _ATTRIBUTE_READ_ONLY, recursive=False)


_MAKERS = {
    "--dir": _make_directory,
    "--symlink": _make_link,
    "--proc": _make_proc,
    "--dev": _make_devices,
    "--dev-bind": _make_device,
    "--bind": _make_writable,
    "--ro-bind": _make_read_only,
    "--remount-ro": _make_unwritable,
}


def _bind(source, target, attributes):
    if os.path.isdir(_OLD + source):
        _make_directory(target)
    else:
        _place_file(_NEW + target)
    _mount(_OLD + source, _NEW + target, None, _BIND | _RECURSIVE)
    _set_attributes(_NEW + target, attributes, recursive=True)


def _place_file(path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_RDONLY, 0o644))


def _set_attributes(path, attributes, *, recursive):
    wanted = MountAttributes(set=attributes)
    flags = _AT_RECURSIVE if recursive else 0
    size = ctypes.sizeof(wanted)
    done = _C.syscall(
        _MOUNT_SETATTR, _AT_FDCWD, os.fsencode(path), flags, ctypes.byref(wanted), size
    )
    _check(done, f"mount_setattr {path}")


def _mount(source, target, kind, flags, options=None):
    names = [None if name is None else os.fsencode(name) for name in (source, target, kind)]
    _check(
        _C.mount(*names, ctypes.c_ulong(flags), options and options.encode()),
        f"mount {source} on {target}",
    )


def _pivot_root(new, old):
    number = _PIVOT_ROOT[os.uname().machine]
    _check(_C.syscall(number, os.fsencode(new), os.fsencode(old)), "pivot_root")


def _filter(instructions):
    program = FilterProgram(len(instructions) // 8, instructions)
    _check(_C.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0), "no_new_privs")
    _check(_C.prctl(_SECCOMP, _SECCOMP_FILTER, ctypes.byref(program), 0, 0), "seccomp")


def _check(done, what):
    if done != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def _write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def _end_as(status):
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except OSError as error:
        sys.exit(f"namespaces: {error.strerror}")
