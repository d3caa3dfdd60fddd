"""The filter's answers, from the program itself: also for machines that this one is not."""

import errno
import struct

import pytest

from coterie.runtime.jail.syscall_filter import assemble, numbers
from coterie.schema import JailError

X86, ARM = ("x86_64", 0xC000003E), ("aarch64", 0xC00000B7)
ALLOWED, KILLED = 0x7FFF0000, 0x80000000


def refused(code: int) -> int:
    return 0x00050000 | code


def answer(program: bytes, architecture: int, number: int, *arguments: int) -> int:
    """Run the program as the kernel's machine does, and return what it answers."""
    words = (*arguments, 0, 0, 0, 0, 0, 0)[:6]
    call = struct.pack("<IIQ6Q", number, architecture, 0, *words)
    instructions = list(struct.iter_unpack("<HBBI", program))
    accumulator, at = 0, 0
    while True:
        code, if_true, if_false, operand = instructions[at]
        at += 1
        match code:
            case 0x20:
                (accumulator,) = struct.unpack_from("<I", call, operand)
            case 0x06:
                return operand
            case 0x15:
                at += if_true if accumulator == operand else if_false
            case 0x35:
                at += if_true if accumulator >= operand else if_false
            case 0x45:
                at += if_true if accumulator & operand else if_false
            case _:
                raise AssertionError(f"no such instruction: {code:#x}")


@pytest.mark.parametrize(("machine", "architecture"), [X86, ARM])
def test_every_call_of_the_tables_is_refused(machine: str, architecture: int) -> None:
    program = assemble(machine)
    answers = {answer(program, architecture, number) for number in numbers(machine).values()}
    assert answers == {refused(errno.EPERM), refused(errno.ENOSYS)}


@pytest.mark.parametrize(
    ("machine", "architecture", "read", "openat", "execve"),
    [(*X86, 0, 257, 59), (*ARM, 63, 56, 221)],
)
def test_honest_calls_pass(
    machine: str, architecture: int, read: int, openat: int, execve: int
) -> None:
    program = assemble(machine)
    for number in (read, openat, execve):
        assert answer(program, architecture, number) == ALLOWED


@pytest.mark.parametrize(
    ("machine", "architecture", "clone"), [(*X86, 56), (*ARM, 220)], ids=["x86_64", "aarch64"]
)
def test_no_fork_makes_a_namespace(machine: str, architecture: int, clone: int) -> None:
    program = assemble(machine)
    thread, sigchld = 0x3D0F00, 17
    assert answer(program, architecture, clone, thread) == ALLOWED
    assert answer(program, architecture, clone, sigchld) == ALLOWED
    for bit in (0x20000, *(0x2000000 << shift for shift in range(6))):
        assert answer(program, architecture, clone, bit | sigchld) == refused(errno.EPERM)


@pytest.mark.parametrize(
    ("machine", "architecture", "socket", "pair"), [(*X86, 41, 53), (*ARM, 198, 199)]
)
def test_sockets_lead_nowhere(machine: str, architecture: int, socket: int, pair: int) -> None:
    inside, beside = assemble(machine), assemble(machine, namespaces=False)
    no_family = refused(errno.EAFNOSUPPORT)
    for family in (2, 10, 16, 17, 40, 2**31):
        assert answer(inside, architecture, socket, family) == no_family
        assert answer(beside, architecture, socket, family) == no_family
    assert answer(inside, architecture, socket, 1) == ALLOWED
    assert answer(beside, architecture, socket, 1) == no_family
    assert answer(beside, architecture, pair, 1) == ALLOWED
    assert answer(inside, architecture, pair, 2) == no_family


@pytest.mark.parametrize(
    ("machine", "architecture", "fallocate", "ioctl"), [(*X86, 285, 16), (*ARM, 47, 29)]
)
def test_a_file_takes_no_room_beyond_its_end(
    machine: str, architecture: int, fallocate: int, ioctl: int
) -> None:
    program = assemble(machine)
    assert answer(program, architecture, fallocate, 3, 0) == ALLOWED
    for bit in range(8):
        unsupported = refused(errno.EOPNOTSUPP)
        assert answer(program, architecture, fallocate, 3, 1 << bit) == unsupported
    for request in (0x40305828, 0x4030582A, 0x40305839):
        assert answer(program, architecture, ioctl, 3, request) == refused(errno.EOPNOTSUPP)


@pytest.mark.parametrize(
    ("machine", "architecture", "mmap"), [(*X86, 9), (*ARM, 222)], ids=["x86_64", "aarch64"]
)
def test_only_memory_that_is_held_is_mapped(machine: str, architecture: int, mmap: int) -> None:
    program = assemble(machine)
    shared, private, validated, anonymous, huge = 0x01, 0x02, 0x03, 0x20, 0x40000
    for flags, expected in (
        (private | anonymous, ALLOWED),
        (private, ALLOWED),
        (shared, ALLOWED),  # of a file
        (shared | anonymous, refused(errno.EPERM)),
        (validated | anonymous, refused(errno.EPERM)),
        (private | anonymous | huge, refused(errno.ENOMEM)),
    ):
        assert answer(program, architecture, mmap, 0, 4096, 3, flags) == expected


@pytest.mark.parametrize(
    ("machine", "architecture", "flock", "fcntl"), [(*X86, 73, 72), (*ARM, 32, 25)]
)
def test_locks_that_need_no_right_to_write_are_refused(
    machine: str, architecture: int, flock: int, fcntl: int
) -> None:
    program = assemble(machine)
    set_lock, set_lease, notify = 6, 1024, 1026
    assert answer(program, architecture, flock, 3, 2) == refused(errno.ENOSYS)
    assert answer(program, architecture, fcntl, 3, set_lock) == ALLOWED
    for command in (set_lease, notify):
        assert answer(program, architecture, fcntl, 3, command) == refused(errno.EPERM)


# Each with the position of the argument that says which process.
ABOUT_PROCESSES = {
    "getpgid": (121, 155, 0),
    "getsid": (124, 156, 0),
    "getpriority": (140, 141, 1),
    "ioprio_get": (252, 31, 1),
    "sched_getscheduler": (145, 120, 0),
    "sched_getparam": (143, 121, 0),
    "sched_getattr": (315, 275, 0),
    "sched_rr_get_interval": (148, 127, 0),
    "sched_getaffinity": (204, 123, 0),
}


@pytest.mark.parametrize("name", ABOUT_PROCESSES)
@pytest.mark.parametrize(("machine", "architecture"), [X86, ARM])
def test_others_cannot_be_asked_about(machine: str, architecture: int, name: str) -> None:
    x86, arm, position = ABOUT_PROCESSES[name]
    number = x86 if machine == X86[0] else arm
    inside, beside = assemble(machine), assemble(machine, namespaces=False)
    itself, another = (0, 0), (*(0,) * position, 1234)
    assert answer(inside, architecture, number, *another) == ALLOWED
    assert answer(beside, architecture, number, *itself) == ALLOWED
    code = errno.ENOSYS if name == "sched_getaffinity" else errno.EPERM
    assert answer(beside, architecture, number, *another) == refused(code)


@pytest.mark.parametrize(
    ("machine", "architecture", "gettime"), [(*X86, 228), (*ARM, 113)], ids=["x86_64", "aarch64"]
)
def test_others_clocks_cannot_be_read(machine: str, architecture: int, gettime: int) -> None:
    inside, beside = assemble(machine), assemble(machine, namespaces=False)
    for kind in (0, 1, 2, 4, 5, 6):  # the times that are counted of a process, and of a thread
        own, others = (~process << 3 & 0xFFFFFFFF | kind for process in (0, 1234))
        assert answer(inside, architecture, gettime, others) == ALLOWED
        assert answer(beside, architecture, gettime, own) == ALLOWED
        assert answer(beside, architecture, gettime, others) == refused(errno.EPERM)
    for clock in (0, 1, 3, 11):
        assert answer(beside, architecture, gettime, clock) == ALLOWED


@pytest.mark.parametrize(
    ("machine", "architecture", "ioctl", "prlimit"), [(*X86, 16, 302), (*ARM, 29, 261)]
)
def test_terminals_and_other_processes_limits_are_out_of_reach(
    machine: str, architecture: int, ioctl: int, prlimit: int
) -> None:
    program = assemble(machine)
    for request, expected in ((0x5401, ALLOWED), (0x5412, refused(errno.EPERM))):
        assert answer(program, architecture, ioctl, 0, request) == expected
    assert answer(program, architecture, prlimit, 0) == ALLOWED
    assert answer(program, architecture, prlimit, 1) == ALLOWED  # the first one of the jail
    assert answer(program, architecture, prlimit, 1234) == refused(errno.EPERM)
    beside = assemble(machine, namespaces=False)
    assert answer(beside, architecture, prlimit, 0) == ALLOWED
    assert answer(beside, architecture, prlimit, 1) == refused(errno.EPERM)


def test_other_architectures_and_later_calls_are_not_there() -> None:
    program = assemble("x86_64")
    assert answer(program, 0x40000003, 20) == KILLED  # 32-bit x86
    assert answer(program, X86[1], 0x40000000 | 59) == refused(errno.ENOSYS)  # x32
    assert answer(program, X86[1], 451) == refused(errno.ENOSYS)


@pytest.mark.parametrize(
    ("machine", "architecture", "watch", "attribute"), [(*X86, 254, 188), (*ARM, 27, 5)]
)
def test_without_mounts_what_no_landlock_holds_is_refused(
    machine: str, architecture: int, watch: int, attribute: int
) -> None:
    inside, beside = assemble(machine), assemble(machine, namespaces=False)
    for call, code in ((watch, errno.EPERM), (attribute, errno.ENOTSUP)):
        assert answer(inside, architecture, call) == ALLOWED
        assert answer(beside, architecture, call) == refused(code)


def test_changes_of_files_that_the_user_owns_have_no_effect() -> None:
    chmod = 90
    assert answer(assemble("x86_64"), X86[1], chmod) == ALLOWED
    assert answer(assemble("x86_64", owns_files=True), X86[1], chmod) == refused(0)


def test_an_unknown_machine_is_refused_by_name() -> None:
    with pytest.raises(JailError, match="'riscv64'"):
        assemble("riscv64")
