"""The seccomp filter of a jail: the system calls that the kernel refuses there.

The filter is a small program for the kernel's packet-filter machine (BPF), assembled here from the
tables below, so that it needs no C library. It allows all calls that it does not name, up to the
newest call that the tables cover. Later calls "do not exist" (`ENOSYS`), and programs fall back as
they do on an older kernel.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterator

from ...schema.values.errors import JailError

_Table = dict[str, tuple[int | None, int | None]]

# Every number is from the kernel's own tables: (x86_64, aarch64). None: the machine lacks the call.
_REFUSED: _Table = {
    # other processes
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    # the file system as a whole
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    # new namespaces
    "unshare": (272, 97),
    "setns": (308, 268),
    # parts of the kernel with a record of holes
    "bpf": (321, 280),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "modify_ldt": (154, None),
    "personality": (135, 92),
    "lookup_dcookie": (212, 18),
    # the machine
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "create_module": (174, None),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "acct": (163, 89),
    "syslog": (103, 116),
    "vhangup": (153, 58),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "nfsservctl": (180, 42),
    "iopl": (172, None),
    "ioperm": (173, None),
    "uselib": (134, None),
    "sysfs": (139, None),
    "_sysctl": (156, None),
}
# Memory that no process has to hold escapes every bound on memory, and the whole machine shares
# what `io_setup` takes. `clone3` hides its flags behind a pointer that a filter can't follow; the C
# library falls back to `clone`. `pidfd_open` finds processes of the host where no namespace hides
# them. `flock` takes an exclusive lock on any file that can be read, those of the host among them;
# programs go on without it where a file system has none.
_ABSENT: _Table = {
    "clone3": (435, 435),
    "pidfd_open": (434, 434),
    "flock": (73, 32),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "io_setup": (206, 0),
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "semctl": (66, 191),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
}
# Calls that reach other processes of the machine if the jail has no namespaces.
_REACHING_OUT: _Table = {
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "sched_setattr": (314, 274),
    "sched_setaffinity": (203, 122),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "inotify_add_watch": (254, 27),
    # The process that it asks about is behind a pointer.
    "capget": (125, 90),
}
# Questions about a process, which without namespaces any process of the machine could be: where the
# argument says which. Only 0, the process that asks, is answered.
_ABOUT_PROCESSES: dict[str, tuple[tuple[int, int], int]] = {
    "getpgid": ((121, 155), 0),
    "getsid": ((124, 156), 0),
    "getpriority": ((140, 141), 1),
    "ioprio_get": ((252, 31), 1),
    "sched_getscheduler": ((145, 120), 0),
    "sched_getparam": ((143, 121), 0),
    "sched_getattr": ((315, 275), 0),
    "sched_rr_get_interval": ((148, 127), 0),
}
# Landlock allows these to every process that may write to the file.
_EXTENDED_ATTRIBUTES: _Table = {
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
}
# Landlock allows these to the file's owner.
_ATTRIBUTES: _Table = {
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "chown": (92, None),
    "lchown": (94, None),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
}
_CLONE = (56, 220)
_SOCKET = (41, 198)
_SOCKETPAIR = (53, 199)
_IOCTL = (16, 29)
_PRLIMIT = (302, 261)
_MMAP = (9, 222)
_FALLOCATE = (285, 47)
_FCNTL = (72, 25)
_SCHED_GETAFFINITY = (204, 123)
_CLOCK_GETTIME = (228, 113)
_NEWEST = 450  # futex_waitv is 449, set_mempolicy_home_node is 450 on both machines

_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column, audit architecture
_NEW_NAMESPACES = 0x7E020000  # every CLONE_NEW* flag of clone(2)
_AF_UNIX = 1
_ITSELF, _INIT = 0, 1  # as prlimit calls the caller, and the first process of the jail
_TYPE_INTO_TERMINAL = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX
# FS_IOC_RESVSP, RESVSP64, ZERO_RANGE: `fallocate` that leaves the size of the file as it is
_ALLOCATE = (0x40305828, 0x4030582A, 0x40305839)
_LEASES = (1024, 1026)  # F_SETLEASE delays others that open a file, F_NOTIFY watches a folder
_SHARED, _ANONYMOUS, _HUGE_PAGES = 0x01, 0x20, 0x40000  # flags of mmap(2), the fourth argument
# Negative clock ids are those of processes; the last ones are of process 0, the caller itself.
_FIRST_CLOCK_OF_PROCESSES, _FIRST_OWN_CLOCK = 0x80000000, 0xFFFFFFF8

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE = 0, 4  # offsets in struct seccomp_data
_ARGUMENT_0, _ARGUMENT_SIZE = 16, 8
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000

_Instruction = tuple[int, int, int, int]  # code, jump if true, jump if false, operand


def assemble(machine: str, *, namespaces: bool = True, owns_files: bool = False) -> bytes:
    """Return the filter program for the kernel's `struct sock_filter[]`.

    Args:
        machine: the value of `platform.machine()`.
        namespaces: whether the jail has its own process ids, mounts and network. If not, calls that
            reach other processes or query them are refused too, including `AF_UNIX` sockets. Pairs
            of connected sockets are always allowed: they lead nowhere. Extended attributes are then
            unavailable.
        owns_files: whether the jail's user owns files of the host that the jail can name. If so,
            changes of a file's mode, owner and times appear to succeed, and have no effect.
    """
    column, architecture = _column(machine)
    answers = [(_REFUSED, errno.EPERM), (_ABSENT, errno.ENOSYS)]
    if not namespaces:
        answers.append((_REACHING_OUT, errno.EPERM))
        answers.append((_EXTENDED_ATTRIBUTES, errno.ENOTSUP))
    if owns_files:
        answers.append((_ATTRIBUTES, 0))
    program = _program(column, architecture, answers, namespaces)
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in program)


def _program(
    column: int, architecture: int, answers: list[tuple[_Table, int]], namespaces: bool
) -> Iterator[_Instruction]:
    yield _LOAD, 0, 0, _ARCHITECTURE
    yield _EQUAL, 1, 0, architecture
    yield _RETURN, 0, 0, _KILL
    yield _LOAD, 0, 0, _NUMBER
    # Also refuses the x32 calls of x86_64, whose numbers start at 2**30.
    yield from _answer_if(_AT_LEAST, _NEWEST + 1, errno.ENOSYS)
    for table, code in answers:
        for number in (numbers[column] for numbers in table.values()):
            if number is not None:
                yield from _answer_if(_EQUAL, number, code)
    yield from _clone(_CLONE[column])
    yield from _only(_SOCKETPAIR[column], 0, (_AF_UNIX,), errno.EAFNOSUPPORT)
    families = (_AF_UNIX,) if namespaces else ()
    yield from _only(_SOCKET[column], 0, families, errno.EAFNOSUPPORT)
    yield from _ioctl(_IOCTL[column])
    yield from _only(
        _PRLIMIT[column], 0, (_ITSELF, _INIT) if namespaces else (_ITSELF,), errno.EPERM
    )
    yield from _mappings(_MMAP[column])
    # The limit on a file's size does not bound what other modes take beyond its end.
    yield from _only(_FALLOCATE[column], 1, (0,), errno.EOPNOTSUPP)
    yield from _but(_FCNTL[column], 1, dict.fromkeys(_LEASES, errno.EPERM))
    if not namespaces:
        for rows, argument in _ABOUT_PROCESSES.values():
            yield from _only(rows[column], argument, (_ITSELF,), errno.EPERM)
        # The C library asks for its threads, too, and copes only if the call does not exist.
        yield from _only(_SCHED_GETAFFINITY[column], 0, (_ITSELF,), errno.ENOSYS)
        yield from _clocks(_CLOCK_GETTIME[column])
    yield _RETURN, 0, 0, _ALLOW


def _answer_if(test: int, operand: int, code: int) -> Iterator[_Instruction]:
    yield test, 0, 1, operand
    yield _RETURN, 0, 0, _ERRNO | code


def _clone(number: int) -> Iterator[_Instruction]:
    yield _EQUAL, 0, 4, number
    yield _LOAD, 0, 0, _ARGUMENT_0
    yield from _answer_if(_ANY_BIT, _NEW_NAMESPACES, errno.EPERM)
    yield _RETURN, 0, 0, _ALLOW


def _ioctl(number: int) -> Iterator[_Instruction]:
    answers: dict[int, int] = dict.fromkeys(_TYPE_INTO_TERMINAL, errno.EPERM)
    answers |= dict.fromkeys(_ALLOCATE, errno.EOPNOTSUPP)
    return _but(number, 1, answers)


def _but(number: int, argument: int, answers: dict[int, int]) -> Iterator[_Instruction]:
    """Allow a call unless an argument has one of these values, each with its result."""
    yield _EQUAL, 0, 2 + 2 * len(answers), number
    yield _LOAD, 0, 0, _ARGUMENT_0 + argument * _ARGUMENT_SIZE
    for value, code in answers.items():
        yield from _answer_if(_EQUAL, value, code)
    yield _RETURN, 0, 0, _ALLOW


def _only(number: int, argument: int, values: tuple[int, ...], code: int) -> Iterator[_Instruction]:
    """Allow a call only if an argument has one of these values."""
    yield _EQUAL, 0, 2 + 2 * len(values), number
    yield _LOAD, 0, 0, _ARGUMENT_0 + argument * _ARGUMENT_SIZE
    for value in values:
        yield _EQUAL, 0, 1, value
        yield _RETURN, 0, 0, _ALLOW
    yield _RETURN, 0, 0, _ERRNO | code


def _mappings(number: int) -> Iterator[_Instruction]:
    """Refuse memory that no process's count of resident pages includes.

    In shared memory without a file, a process can write pages and then unmap them. The kernel keeps
    these for as long as a page of it is mapped anywhere.
    """
    yield _EQUAL, 0, 7, number
    yield _LOAD, 0, 0, _ARGUMENT_0 + 3 * _ARGUMENT_SIZE
    yield from _answer_if(_ANY_BIT, _HUGE_PAGES, errno.ENOMEM)
    yield _ANY_BIT, 0, 2, _ANONYMOUS
    yield from _answer_if(_ANY_BIT, _SHARED, errno.EPERM)
    yield _RETURN, 0, 0, _ALLOW


def _clocks(number: int) -> Iterator[_Instruction]:
    """Allow reading the machine's clocks and the caller's own, but no other process's."""
    yield _EQUAL, 0, 6, number
    yield _LOAD, 0, 0, _ARGUMENT_0
    yield _AT_LEAST, 0, 1, _FIRST_OWN_CLOCK
    yield _RETURN, 0, 0, _ALLOW
    yield from _answer_if(_AT_LEAST, _FIRST_CLOCK_OF_PROCESSES, errno.EPERM)
    yield _RETURN, 0, 0, _ALLOW


def numbers(machine: str) -> dict[str, int]:
    """Return the system calls that every jail refuses, by name, with the machine's numbers."""
    column, _ = _column(machine)
    return {
        name: number
        for name, row in (_REFUSED | _ABSENT).items()
        if (number := row[column]) is not None
    }


def _column(machine: str) -> tuple[int, int]:
    if machine not in _MACHINES:
        raise JailError(
            f"The jail knows the system calls of {' and '.join(_MACHINES)}, not of {machine!r}."
        )
    return _MACHINES[machine]
