"""The attacks of the battery: what a hostile cell of Python tries in a jail.

Each is a cell whose last value is what it gained, anything false if that is nothing; a cell that
fails gained nothing either. Where only the host can tell, `check` does; and after each attack the
host looks whether anything of its own was harmed. The variables that cells find are those of
`Scene.variables`, and `call(name, *arguments)`, which makes a system call and returns None if the
kernel refuses it.
"""

from __future__ import annotations

import contextlib
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ...schema.errors import JailError
from .workspace import read_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .limits import Limits
    from .worker import Execution

__all__ = ["PROBES", "Probe", "Surroundings"]


class Surroundings(Protocol):
    """What of an attack its check may look at."""

    work: Path
    limits: Limits
    token: str

    def survivors(self) -> list[str]:
        """Return the processes on the host that carry the mark of this attack."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Probe:
    """One attack.

    Attributes:
        name: what reports call it.
        attempt: what it tries, as a phrase.
        code: the cell.
        check: returns what the attack gained, read from the host after the cell; an empty text if
            nothing. None: the value of the cell is the gain.
        timeout: seconds that the cell gets.
        harmless: whether it may run where no jail holds it.
    """

    name: str
    attempt: str
    code: str
    check: Callable[[Surroundings, Execution], str] | None = None
    timeout: float = 5.0
    harmless: bool = True


def _host_reads_link(scene: Surroundings, _: Execution) -> str:
    gained: list[str] = []
    for name in ("link", "folder/secret", "hard", "pipe", "../secret"):
        with contextlib.suppress(JailError):
            gained.append(read_file(scene.work, name, limit=1000).decode("utf-8", "replace"))
    return "the host read its own secret" if scene.token in "".join(gained) else ""


def _survived(scene: Surroundings, _: Execution) -> str:
    return ", ".join(scene.survivors())


def _flooded(scene: Surroundings, execution: Execution) -> str:
    size = len(execution.logs.encode())
    return "" if size < scene.limits.output + 1000 else f"{size} bytes of output were kept"


def _went_on(_: Surroundings, execution: Execution) -> str:
    return "" if execution.error else "the cell ended as if nothing had happened"


def _call(name: str, attempt: str, *arguments: Any) -> Probe:
    words = ", ".join(map(repr, (name, *arguments)))
    return Probe(name=f"call_{name}", attempt=attempt, code=f"call({words}) is not None")


_FILES = (
    Probe(
        name="read_passwords",
        attempt="read the host's password hashes",
        code="open('/etc/shadow').read()",
    ),
    Probe(name="read_secret", attempt="read a file of the host", code="open(secret).read()"),
    Probe(
        name="read_home",
        attempt="read a file in the user's home folder",
        code="home_file and open(home_file, 'rb').read(1)",
    ),
    Probe(
        name="read_through_link",
        attempt="read a file of the host through a symbolic link in the work folder",
        code="os.symlink(secret, 'link'); open('link').read()",
    ),
    Probe(
        name="read_through_descriptor",
        attempt="find a file of the host among the open ones",
        code="""
found = []
for handle in range(256):
    try:
        where = os.readlink(f'/proc/self/fd/{handle}')
    except OSError:
        continue
    if where.startswith('/') and not where.startswith(('/dev/null', '/proc', work)):
        found.append(where)
found
""",
    ),
    Probe(
        name="leave_links_for_host",
        attempt="make the host read its own secret through links in the work folder",
        code="""
os.symlink(secret, 'link')
os.symlink(os.path.dirname(secret), 'folder')
os.mkfifo('pipe')
os.link(secret, 'hard')
""",
        check=_host_reads_link,
    ),
    Probe(
        name="write_outside",
        attempt="make a file outside of the work folder",
        code="open(outside + '/new', 'w').write('x')",
    ),
    Probe(
        name="overwrite_secret",
        attempt="change a file that everybody may write",
        code="open(secret, 'r+').write('mine'); os.truncate(secret, 0)",
    ),
    Probe(
        name="change_mode",
        attempt="change the mode of a file of the host",
        code="os.chmod(secret, 0o600)",
    ),
    Probe(
        name="write_system",
        attempt="change the system's programs or the interpreter's library",
        code="""
opened = []
for path in (os.__file__, sys.executable, '/usr/bin/env', '/bin/sh', '/etc/passwd'):
    try:
        open(path, 'r+b').close()
    except OSError:
        continue
    opened.append(path)
opened
""",
    ),
    Probe(
        name="write_kernel_settings",
        attempt="open the kernel's settings for writing",
        code="""
opened = []
for path in ('/proc/sys/kernel/core_pattern', '/proc/sysrq-trigger', '/sys/kernel/uevent_helper'):
    try:
        open(path, 'r+').close()
    except OSError:
        continue
    opened.append(path)
opened
""",
    ),
    Probe(
        name="read_memory_device",
        attempt="read the machine's memory",
        code="""
gained = []
for path in ('/dev/mem', '/dev/kmem', '/dev/port', '/proc/kcore'):
    try:
        gained.append(open(path, 'rb').read(1))
    except OSError:
        pass
gained
""",
    ),
    Probe(
        name="make_device",
        attempt="make a device file for the disk and read it",
        code="""
os.mknod('disk', 0o60600, root_device)
open('disk', 'rb').read(1)
""",
    ),
)

_SECRETS = (
    Probe(
        name="read_environment",
        attempt="find a key of the host in the environment",
        code="[name for name, value in os.environ.items() if value.startswith(prefix)]",
    ),
    Probe(
        name="read_every_environment",
        attempt="find a key of the host in the environment of any process",
        code="""
found = []
for process in {*filter(str.isdigit, os.listdir('/proc')), str(host), str(victim)}:
    try:
        if prefix.encode() in open(f'/proc/{process}/environ', 'rb').read():
            found.append(process)
    except OSError:
        pass
found
""",
    ),
    Probe(
        name="format_to_globals",
        attempt="reach the environment through the attributes of a tool, by str.format",
        code="prefix in '{0.__globals__[os].environ}'.format(tool)",
    ),
    Probe(
        name="frame_to_host",
        attempt="climb the frames under a generator to the host's variables",
        code="""
generator = (sys._getframe() for _ in [1])
frame, seen = next(generator), []
while frame is not None:
    seen.append(repr(frame.f_locals) + repr(list(frame.f_globals)))
    frame = frame.f_back
host_marker in ''.join(seen)
""",
    ),
    Probe(
        name="call_ungranted_tool",
        attempt="call a tool of the host that was not granted, by a forged message",
        code="""
import json
forged = json.dumps({'op': 'call', 'name': 'forbidden', 'args': [], 'kwargs': {}}) + '\\n'
for handle in range(3, 64):
    try:
        os.write(handle, forged.encode())
    except OSError:
        pass
""",
    ),
    Probe(
        name="forge_messages",
        attempt="break the host with messages that are no messages",
        code="""
for text in (b'[' * 100000, b'{}', b'\\xff\\xfe', b'1e999', b'"\\\\ud800"', b'x' * (1 << 24)):
    for handle in range(3, 64):
        try:
            os.write(handle, text + b'\\n')
        except OSError:
            pass
""",
        check=_went_on,
    ),
)

_PROCESSES = (
    Probe(
        name="see_processes",
        attempt="see a process of the host",
        code="mark in open(f'/proc/{victim}/cmdline').read()",
    ),
    Probe(
        name="kill_process",
        attempt="kill a process of the host",
        code="os.kill(victim, 9)",
    ),
    Probe(
        name="kill_everything",
        attempt="kill every process that it may",
        code="os.kill(-1, 9)",
        harmless=False,
    ),
    Probe(
        name="limit_process",
        attempt="take the processor time of a process of the host",
        code="import resource; resource.prlimit(victim, resource.RLIMIT_CPU, (0, 0)) or True",
    ),
    Probe(
        name="trace_process",
        attempt="trace its parent or a process of the host",
        code="[p for p in (victim, os.getppid()) if call('ptrace', 0x4206, p, 0, 0) is not None]",
    ),
    Probe(
        name="become_root",
        attempt="become root",
        code="""
for become in (lambda: os.setuid(0), lambda: os.setresuid(0, 0, 0), lambda: os.setgid(0)):
    try:
        become()
    except OSError:
        pass
os.geteuid() == 0 or os.getegid() == 0
""",
    ),
    Probe(
        name="new_user_namespace",
        attempt="become root of a namespace of its own",
        code="C.unshare(0x10000000) == 0",
    ),
    Probe(
        name="enter_namespace",
        attempt="enter the namespaces of another process",
        code="""
gained = []
for process in (1, os.getppid(), victim):
    try:
        handle = os.open(f'/proc/{process}/ns/net', os.O_RDONLY)
    except OSError:
        continue
    if call('setns', handle, 0) is not None:
        gained.append(process)
gained
""",
    ),
    Probe(
        name="call_of_other_machine",
        attempt="make system calls by the numbers of another architecture",
        code="""
import mmap
code = mmap.mmap(-1, 4096, prot=7)
code.write(b'\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3')  # 32-bit getpid
address = ctypes.addressof(ctypes.c_char.from_buffer(code))
machine == 'x86_64' and ctypes.CFUNCTYPE(ctypes.c_int)(address)() > 0
""",
    ),
    Probe(
        name="survive_timeout",
        attempt="leave a process behind when its time is over",
        code="""
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in range(1, 65):
                try:
                    signal.signal(number, signal.SIG_IGN)
                except (OSError, ValueError):
                    pass
            os.execvp('sleep', ['sleep', mark])
        os._exit(0)
time.sleep(60)
""",
        check=_survived,
        timeout=0.5,
    ),
    Probe(
        name="survive_exit",
        attempt="leave a process behind when its interpreter ends",
        code="""
if os.fork() == 0:
    os.setsid()
    os.execvp('sleep', ['sleep', mark])
os._exit(0)
""",
        check=_survived,
    ),
    Probe(
        name="never_end",
        attempt="never end, in code that no signal handler of Python interrupts",
        code="signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65)); sum(range(10**13))",
        check=_went_on,
        timeout=0.5,
    ),
    Probe(
        name="exit_host",
        attempt="end the host with an exception that is not an Exception",
        code="raise SystemExit(3)",
        check=_went_on,
    ),
)

_NETWORK = (
    Probe(
        name="connect_tcp",
        attempt="connect to a service of the host",
        code="socket.create_connection(('127.0.0.1', port), 1)",
    ),
    Probe(
        name="connect_tcp6",
        attempt="open a socket of IPv6",
        code="socket.socket(socket.AF_INET6, socket.SOCK_STREAM).fileno()",
    ),
    Probe(
        name="send_udp",
        attempt="send a datagram to the host",
        code="socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', port))",
    ),
    Probe(
        name="connect_abstract",
        attempt="connect to an abstract socket of the host",
        code="socket.socket(socket.AF_UNIX).connect('\\0' + mark)",
    ),
    Probe(
        name="connect_path",
        attempt="connect to a socket of the host that is a file",
        code="socket.socket(socket.AF_UNIX).connect(outside + '/socket')",
    ),
    *(
        Probe(
            name=f"open_{family}",
            attempt=f"open a socket of the family {family}",
            code=f"socket.socket({number}, {kind}, 0).fileno()",
        )
        for family, number, kind in (("netlink", 16, 3), ("packet", 17, 3), ("vsock", 40, 1))
    ),
    Probe(
        name="open_raw",
        attempt="open a raw socket",
        code="socket.socket(socket.AF_INET, socket.SOCK_RAW, 1).fileno()",
    ),
    Probe(
        name="type_into_terminal",
        attempt="type a command into the terminal of whoever started us",
        code="C.ioctl(0, 0x5412, b'x') == 0 or ctypes.get_errno() != 1",
    ),
)

_RESOURCES = (
    Probe(
        name="take_memory",
        attempt="take more memory than one process may",
        code="bytearray(memory + (64 << 20)) and True",
    ),
    Probe(
        name="take_memory_together",
        attempt="take more memory in several processes than all may",
        code="""
for _ in range(4):
    if os.fork() == 0:
        taken = bytearray(memory // 2)
        taken[::4096] = b'x' * len(taken[::4096])
        time.sleep(30)
time.sleep(3)
""",
        check=_went_on,
    ),
    Probe(
        name="fork_bomb",
        attempt="start more processes than it may",
        code="""
started = 0
try:
    while started <= processes:
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)
        started += 1
except OSError:
    pass
started > processes
""",
    ),
    Probe(
        name="thread_bomb",
        attempt="start more threads than it may have processes",
        code="""
import threading
threading.stack_size(1 << 16)
try:
    for _ in range(processes + 1):
        threading.Thread(target=time.sleep, args=(30,), daemon=True).start()
    gained = True
except RuntimeError:
    gained = False
gained
""",
    ),
    Probe(
        name="huge_file",
        attempt="write a file larger than one may be",
        code="""
with open('huge', 'wb') as file:
    file.truncate(file_size + 1)
True
""",
    ),
    Probe(
        name="fill_disk",
        attempt="fill the disk with many files",
        code="""
for number in range(3 * disk // (8 << 20)):
    with open(f'file{number}', 'wb') as file:
        file.write(bytes(8 << 20))
    time.sleep(0.1)
time.sleep(1)
""",
        check=_went_on,
        timeout=20.0,
    ),
    Probe(
        name="fill_disk_unseen",
        attempt="fill the disk with files that are deleted but still open",
        code="""
files = []
for number in range(3 * disk // (8 << 20)):
    files.append(open('/tmp/unseen' if has_mounts else work + '/unseen', 'wb'))
    os.unlink(files[-1].name)
    files[-1].write(bytes(8 << 20))
    files[-1].flush()
    time.sleep(0.1)
time.sleep(1)
""",
        check=_went_on,
        timeout=20.0,
    ),
    Probe(
        name="fill_disk_hidden",
        attempt="fill the disk in a folder that nobody may look into",
        code="""
os.mkdir('hidden')
for number in range(3 * disk // (8 << 20)):
    os.chmod('hidden', 0o700)
    with open(f'hidden/file{number}', 'wb') as file:
        os.chmod('hidden', 0o000)
        file.write(bytes(8 << 20))
    time.sleep(0.1)
time.sleep(1)
""",
        check=_went_on,
        timeout=20.0,
    ),
    Probe(
        name="fill_memory_disk",
        attempt="fill a file system that is in memory",
        code="""
gained = []
for folder in ('/', '/dev', '/run', '/sys', '/proc', '/usr', '/etc', '/root', '/var'):
    try:
        open(folder + '/fill', 'wb').close()
        gained.append(folder)
    except OSError:
        pass
gained
""",
        harmless=False,
    ),
    Probe(
        name="print_flood",
        attempt="flood the host with output",
        code="""
for _ in range(64):
    print('x' * (1 << 20))
    os.write(1, b'y' * (1 << 16))
""",
        check=_flooded,
        timeout=20.0,
    ),
    Probe(
        name="open_files",
        attempt="open more files than it may",
        code="""
opened = []
try:
    while len(opened) <= open_files:
        opened.append(open('/dev/null'))
except OSError:
    pass
len(opened) > open_files
""",
    ),
)

_KERNEL = (
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
    _call("memfd_create", "hold memory that no process has", 0, 0),
    _call("shmget", "hold shared memory that no process has", 0, 0, 0),
)

PROBES: tuple[Probe, ...] = (
    *_FILES,
    *_SECRETS,
    *_PROCESSES,
    *_NETWORK,
    *_RESOURCES,
    *_KERNEL,
)
