"""Attacks on other processes, and attempts to survive the jail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .probe import probes, went_on

if TYPE_CHECKING:
    from ..battery import Scene
    from ..code.worker import CellResult


def _survived(scene: Scene, _: CellResult) -> str:
    return ", ".join(scene.survivors())


PROCESSES = probes(
    {
        "see_processes": "mark in open(f'/proc/{victim}/cmdline').read()",
        # by its id, which the kernel may answer
        "ask_about_processes": """
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
        "kill_process": "os.kill(victim, 9)",
        "kill_everything": "os.kill(-1, 9)",
        "kill_in_other_ways": """
C.sigqueue(victim, 9, None)
signal.pidfd_send_signal(os.pidfd_open(victim), 9)
""",
        "slow_process": """
for slow in (lambda: os.setpriority(os.PRIO_PROCESS, victim, 19),
             lambda: os.sched_setscheduler(victim, os.SCHED_IDLE, os.sched_param(0))):
    try:
        slow()
    except OSError:
        pass
""",
        "take_priority": """
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
        "write_memory": """
gained = []
for process in (host, victim):
    try:
        open(f'/proc/{process}/mem', 'r+b').close()
        gained.append(process)
    except OSError:
        pass
gained
""",
        # stop whoever is to end it, and stay
        "stop_keeper": """
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
        # find a process with fewer limits, whose memory it can write to
        "lose_limits": """
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
        # take the processor time of a process of the host
        "limit_process": "import resource; resource.prlimit(victim, resource.RLIMIT_CPU, (0, 0))"
        " or True",
        "trace_process": "[p for p in (victim, os.getppid())"
        " if call('ptrace', 0x4206, p, 0, 0) is not None]",
        "become_root": """
for become in (lambda: os.setuid(0), lambda: os.setresuid(0, 0, 0), lambda: os.setgid(0)):
    try:
        become()
    except OSError:
        pass
os.geteuid() == 0 or os.getegid() == 0
""",
        "new_user_namespace": "C.unshare(0x10000000) == 0",
        "fork_into_namespace": """
number = {'x86_64': 56, 'aarch64': 220}[machine]
child = C.syscall(number, ctypes.c_long(0x10000000 | signal.SIGCHLD), 0, 0, 0, 0)
if child == 0:
    os._exit(0)
child > 0
""",
        "enter_namespace": """
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
        # make system calls by the numbers of another architecture
        "call_of_other_machine": """
import mmap
code = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, 7)
code.write(b'\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3')  # 32-bit getpid
address = ctypes.addressof(ctypes.c_char.from_buffer(code))
machine == 'x86_64' and ctypes.CFUNCTYPE(ctypes.c_int)(address)() > 0
""",
        # leave a process behind when its time is over
        "survive_timeout": """
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
        "survive_exit": """
if os.fork() == 0:
    os.setsid()
    os.execvp('sleep', ['sleep', mark])
os._exit(0)
""",
        "never_end": "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65)); sum(range(10**13))",
        "exit_host": "raise SystemExit(3)",
        "kill_itself": "os.kill(os.getpid(), signal.SIGKILL)",
        "overflow_stack": """
sys.setrecursionlimit(10**9)
def deeper(one):
    return max([one], key=deeper)
deeper(1)
""",
        "leave_core": """
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
        # go on when its interpreter is to end
        "stay_at_exit": """
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
    },
    checks={
        "survive_timeout": _survived,
        "survive_exit": _survived,
        "never_end": went_on,
        "exit_host": went_on,
        "kill_itself": went_on,
        "overflow_stack": went_on,
    },
    timeouts={"survive_timeout": 0.5, "never_end": 0.5},
    harmful=(
        "kill_everything",
        "take_priority",
        "stop_keeper",
        "trace_process",
    ),
)
"""Attacks that inspect, end or take over the host's processes, or leave their own behind."""
