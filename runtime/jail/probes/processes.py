"""Attacks on other processes, and attempts to stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .probe import Probe, went_on

if TYPE_CHECKING:
    from ..battery import Scene
    from ..code.worker import CellResult


def _survived(scene: Scene, _: CellResult) -> str:
    return ", ".join(scene.survivors())


PROCESSES = (
    Probe(name="see_processes", code="mark in open(f'/proc/{victim}/cmdline').read()"),
    Probe(
        name="ask_about_processes",  # by its id, which the kernel may answer
        code="""
clock = (~victim << 3 | 2) & 0xFFFFFFFF
numbers = {
    'x86_64': {'getpgid': 121, 'getsid': 124, 'sched_rr_get_interval': 148, 'clock_gettime': 228,
               'sched_getscheduler': 145, 'ioprio_get': 252, 'pidfd_open': 434},
    'aarch64': {'getpgid': 155, 'getsid': 156, 'sched_rr_get_interval': 127, 'clock_gettime': 113,
                'sched_getscheduler': 120, 'ioprio_get': 31, 'pidfd_open': 434},
}[machine]
room = ctypes.create_string_buffer(16)
words = {'ioprio_get': (1, victim), 'pidfd_open': (victim, 0), 'clock_gettime': (clock, room)}
gained = [name for name, number in numbers.items()
          if C.syscall(number, *words.get(name, (victim, room))) != -1]
for ask in (os.sched_getparam, os.sched_getaffinity, lambda p: os.getpriority(0, p)):
    try:
        gained.append(repr(ask(victim)))
    except OSError:
        pass
gained
""",
    ),
    Probe(name="kill_process", code="os.kill(victim, 9)"),
    Probe(name="kill_everything", code="os.kill(-1, 9)", harmless=False),
    Probe(
        name="kill_in_other_ways",
        code="""
C.sigqueue(victim, 9, None)
signal.pidfd_send_signal(os.pidfd_open(victim), 9)
""",
    ),
    Probe(
        name="slow_process",
        code="""
for slow in (lambda: os.setpriority(os.PRIO_PROCESS, victim, 19),
             lambda: os.sched_setscheduler(victim, os.SCHED_IDLE, os.sched_param(0))):
    try:
        slow()
    except OSError:
        pass
""",
    ),
    Probe(
        name="take_priority",
        code="""
gained = []
for take in (lambda: os.nice(-5),
             lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))):
    try:
        take()
        gained.append(True)
    except OSError:
        pass
gained
""",
        harmless=False,
    ),
    Probe(
        name="write_memory",
        code="""
gained = []
for process in (host, victim):
    try:
        open(f'/proc/{process}/mem', 'r+b').close()
        gained.append(process)
    except OSError:
        pass
gained
""",
    ),
    Probe(
        name="stop_keeper",  # stop whoever is to end it, and stay
        code="""
if os.fork() == 0:
    os.setsid()
    os.execvp('sleep', ['sleep', mark])
for process in (os.getppid(), 1):
    for number in (signal.SIGSTOP, signal.SIGKILL):
        try:
            os.kill(process, number)
        except OSError:
            pass
""",
        harmless=False,
    ),
    Probe(
        name="lose_limits",  # find a process with fewer limits, whose memory it can write to
        code="""
def limits(process):
    return [line for line in open(f'/proc/{process}/limits') if not line.startswith('Max core')]
gained = []
for process in all_processes():
    try:
        open(f'/proc/{process}/mem', 'r+b').close()
        if limits(process) != limits('self'):
            gained.append(process)
    except OSError:
        pass
gained
""",
    ),
    Probe(
        name="limit_process",  # take the processor time of a process of the host
        code="import resource; resource.prlimit(victim, resource.RLIMIT_CPU, (0, 0)) or True",
    ),
    Probe(
        name="trace_process",
        code="[p for p in (victim, os.getppid()) if call('ptrace', 0x4206, p, 0, 0) is not None]",
        harmless=False,
    ),
    Probe(
        name="become_root",
        code="""
for become in (lambda: os.setuid(0), lambda: os.setresuid(0, 0, 0), lambda: os.setgid(0)):
    try:
        become()
    except OSError:
        pass
os.geteuid() == 0 or os.getegid() == 0
""",
    ),
    Probe(name="new_user_namespace", code="C.unshare(0x10000000) == 0"),
    Probe(
        name="fork_into_namespace",
        code="""
number = {'x86_64': 56, 'aarch64': 220}[machine]
child = C.syscall(number, ctypes.c_long(0x10000000 | signal.SIGCHLD), 0, 0, 0, 0)
if child == 0:
    os._exit(0)
child > 0
""",
    ),
    Probe(
        name="enter_namespace",
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
        name="call_of_other_machine",  # make system calls by the numbers of another architecture
        code="""
import mmap
code = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, 7)
code.write(b'\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3')  # 32-bit getpid
address = ctypes.addressof(ctypes.c_char.from_buffer(code))
machine == 'x86_64' and ctypes.CFUNCTYPE(ctypes.c_int)(address)() > 0
""",
    ),
    Probe(
        name="survive_timeout",  # leave a process behind when its time is over
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
        code="signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65)); sum(range(10**13))",
        check=went_on,
        timeout=0.5,
    ),
    Probe(name="exit_host", code="raise SystemExit(3)", check=went_on),
    Probe(name="kill_itself", code="os.kill(os.getpid(), signal.SIGKILL)", check=went_on),
    Probe(
        name="overflow_stack",
        code="""
sys.setrecursionlimit(10**9)
def deeper(one):
    return max([one], key=deeper)
deeper(1)
""",
        check=went_on,
    ),
    Probe(
        name="leave_core",
        code="""
import resource
try:
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2)
except ValueError:
    pass
child = os.fork()
if child == 0:
    os.abort()
os.waitpid(child, 0)
[name for name in os.listdir() if name.startswith('core')]
""",
    ),
    Probe(
        name="stay_at_exit",  # go on when its interpreter is to end
        code="""
import atexit, threading
def stay():
    while True:
        try:
            os.execvp('sleep', ['sleep', mark]) if os.fork() == 0 else time.sleep(60)
        except BaseException:
            pass
atexit.register(stay)
threading.Thread(target=time.sleep, args=(60,)).start()
""",
    ),
)
"""They look at, end or take over processes of the host, or leave some of their own."""
