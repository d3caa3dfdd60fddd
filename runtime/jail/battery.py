"""Attacks a jail with every probe and reports which were stopped."""

from __future__ import annotations

import contextlib
import os
import platform
import secrets
import select
import socket
import subprocess
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...schema.values.errors import JailError
from .code.worker import MOST_CALLS, CellResult, PythonWorker
from .detect import detect
from .jail import Jail
from .probes import PROBES, Probe
from .request import JailLimits, JailRequest
from .scratch import ScratchFolder
from .syscall_filter import numbers
from .tiers import Tier

_MIB = 1 << 20
# Small, so that reaching them takes little time and leaves the host alone.
_LIMITS = JailLimits(
    memory=256 * _MIB,
    resident=256 * _MIB,
    cpu=20,
    file_size=16 * _MIB,
    disk=48 * _MIB,
    processes=48,
    open_files=64,
)
_PATIENCE = 5.0  # seconds that a process may take to answer
_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - where the host's processes share theirs
_PREFIX = "coterie-canary-"
_GRANTED = "granted_tool"
_PRELUDE = """
import ctypes, os, signal, socket, sys, time
C = ctypes.CDLL(None, use_errno=True)
def call(name, *arguments):
    if name not in calls:
        return None
    words = [ctypes.c_long(word) for word in (calls[name], *arguments)]
    done = C.syscall(*words)
    return None if done == -1 and ctypes.get_errno() in (1, 38) else done
def all_processes():
    found = {str(process) for process in (1, host, victim, os.getppid(), os.getpid())}
    try:
        found.update(filter(str.isdigit, os.listdir('/proc')))
    except OSError:
        pass
    return found
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class ProbeResult:
    """The result of one attack.

    Attributes:
        stopped: whether the attack gained nothing.
        detail: what it gained, or how it was stopped.
    """

    name: str
    stopped: bool
    detail: str


def run_battery(tier: Tier | None = None, *, probes: Iterable[Probe] = PROBES) -> list[ProbeResult]:
    """Run probes, each in its own jail if it requires one.

    Args:
        tier: how to confine; None for the tier that runs use on this machine.

    Raises:
        JailError: there is no jail to attack.
    """
    chosen = tier or detect().tier
    if chosen is None:
        raise JailError(str(detect()))
    together: list[list[Probe]] = []
    for probe in probes:
        if probe.alone or not together or together[-1][0].alone:
            together.append([])
        together[-1].append(probe)
    return [result for group in together for result in _attack(chosen, group)]


def _attack(tier: Tier, probes: list[Probe]) -> list[ProbeResult]:
    with Scene.open() as scene:
        with Jail(scene.work, JailRequest(limits=_LIMITS), tier=tier) as jail:
            tools = ["tool", _GRANTED]
            worker = PythonWorker(jail, on_tool=scene.tool, tools=tools, calls=MOST_CALLS)
            worker.send_variables(scene.variables() | {"has_mounts": tier.has_mounts})
            with contextlib.closing(worker):
                results = [_result(probe, scene, worker) for probe in probes]
        harm = scene.harm()
    return [replace(result, stopped=False, detail=harm) if harm else result for result in results]


def _result(probe: Probe, scene: Scene, worker: PythonWorker) -> ProbeResult:
    worker.execute(_PRELUDE)
    execution = worker.execute(probe.code, timeout=probe.timeout)
    gained = _gain(probe, scene, execution)
    stopped_by = (execution.error or "it gained nothing").strip().splitlines()[-1]
    return ProbeResult(name=probe.name, stopped=not gained, detail=gained or stopped_by)


def _gain(probe: Probe, scene: Scene, execution: CellResult) -> str:
    if probe.check is not None:
        return probe.check(scene, execution)
    return "" if execution.error or not execution.output else repr(execution.output)[:200]


@dataclass(kw_only=True, slots=True, eq=False)
class Scene:
    """The targets of attacks: a secret, a process, sockets and a key in the host's variables."""

    work: Path
    outside: Path
    secret: Path
    shared: Path
    token: str
    mark: str
    victim: subprocess.Popen[bytes]
    sockets: tuple[socket.socket, ...]
    states: tuple[object, object]
    priority: int
    limits: JailLimits = _LIMITS
    calls: int = 0

    @classmethod
    @contextlib.contextmanager
    def open(cls) -> Generator[Scene]:
        """Set up the targets, and remove them afterwards."""
        mark = f"{10**9 + secrets.randbelow(10**9)}.25"  # seconds to sleep, and easy to find
        token = _PREFIX + secrets.token_hex(8)
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(ScratchFolder("attack")).path
            work, outside, secret = folder / "work", folder / "outside", folder / "secret"
            shared = (_SHARED_MEMORY if os.access(_SHARED_MEMORY, os.W_OK) else folder) / mark
            work.mkdir()
            outside.mkdir()
            stack.callback(shared.unlink, missing_ok=True)
            for path in (secret, shared):
                path.write_text(token, "utf-8")
            # Only the jail may deny its user these files.
            for path, mode in ((folder, 0o711), (outside, 0o777), (secret, 0o666), (shared, 0o666)):
                path.chmod(mode)
            stack.enter_context(_inheritable(secret))
            sockets = tuple(map(stack.enter_context, _listen(outside / "socket", mark)))
            stack.enter_context(_key_in_environment(token))
            victim = stack.enter_context(_started(mark))
            yield cls(
                work=work,
                outside=outside,
                secret=secret,
                shared=shared,
                token=token,
                mark=mark,
                victim=victim,
                sockets=sockets,
                states=(_state(secret), _state(shared)),
                priority=os.getpriority(os.PRIO_PROCESS, victim.pid),
            )

    def tool(self, name: str, args: list[Any], kwargs: dict[str, Any]) -> str:
        """Count allowed tool calls, and record every forbidden one."""
        if name == _GRANTED:
            self.calls += 1
            return ""
        (self.outside / f"called-{name}").touch()
        return repr((args, kwargs))

    def variables(self) -> dict[str, Any]:
        """Return the variables that the attacker's code receives."""
        limits = self.limits
        return {
            "calls": numbers(platform.machine()),
            "disk": limits.disk,
            "file_size": limits.file_size,
            "home_file": _file_at_home(),
            "host": os.getpid(),
            "host_name": "_PREFIX",
            "machine": platform.machine(),
            "mark": self.mark,
            "memory": limits.memory,
            "open_files": limits.open_files,
            "outside": str(self.outside),
            "port": self.sockets[0].getsockname()[1],
            "prefix": _PREFIX,
            "processes": limits.processes,
            "root_device": Path("/").stat().st_dev,
            "secret": str(self.secret),
            "shared": str(self.shared),
            "victim": self.victim.pid,
            "work": str(self.work),
        }

    def harm(self) -> str:
        """Return what the attack changed or reached on the host; an empty text if nothing."""
        fields = {
            "the secret was changed": _state(self.secret) != self.states[0],
            "shared memory was changed": _state(self.shared) != self.states[1],
            "files were made outside": [p for p in self.outside.iterdir() if not p.is_socket()],
            "the host's process does not answer": not self._victim_answers(),
            "the host's process was slowed": self._victim_priority() != self.priority,
            "a socket of the host was reached": self._visited(),
            "a process is left": self.survivors(),
            "a program has its owner's rights": [
                path for path in self.work.iterdir() if path.lstat().st_mode & 0o6000
            ],
        }
        return "; ".join(harm for harm, happened in fields.items() if happened)

    def _victim_answers(self) -> bool:
        question, answer = self.victim.stdin, self.victim.stdout
        assert question is not None and answer is not None  # noqa: S101, PT018 - for the type checker
        with contextlib.suppress(BrokenPipeError):
            question.write(b"?\n")
            return bool(select.select([answer], [], [], _PATIENCE)[0]) and answer.readline() != b""
        return False

    def _victim_priority(self) -> int:
        return os.getpriority(os.PRIO_PROCESS, self.victim.pid)

    def _visited(self) -> bool:
        return bool(select.select(self.sockets, [], [], 0)[0])

    def survivors(self) -> list[str]:
        """Return the processes on the host that carry this attack's mark."""
        texts: list[str] = []
        for process in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                line = Path("/proc", process, "cmdline").read_bytes()
                if self.mark.encode() in line and int(process) != self.victim.pid:
                    texts.append(process)
        return texts


def _state(file: Path) -> tuple[object, ...]:
    try:
        status = file.lstat()
        return file.read_bytes(), status.st_mode, status.st_uid, os.listxattr(file)
    except OSError as error:
        return (str(error),)


@contextlib.contextmanager
def _inheritable(file: Path) -> Generator[None]:
    """Open a file so that a careless parent would pass it to its children."""
    handle = os.open(file, os.O_RDWR)
    os.set_inheritable(handle, True)
    try:
        yield
    finally:
        os.close(handle)


@contextlib.contextmanager
def _started(mark: str) -> Generator[subprocess.Popen[bytes]]:
    """Run a process that echoes each line, with a mark in its command line."""
    command = ["/bin/sh", "-c", 'while read -r line; do echo "$line"; done', mark]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, bufsize=0) as process:
        try:
            yield process
        finally:
            process.kill()


def _listen(path: Path, mark: str) -> Iterator[socket.socket]:
    """Open targets for an attack: TCP and UDP on one port, and two kinds of local socket."""
    tcp = socket.create_server(("127.0.0.1", 0))
    yield tcp
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(tcp.getsockname())
    yield udp
    for address in (str(path), "\0" + mark):
        local = socket.socket(socket.AF_UNIX)
        local.bind(address)
        local.listen()
        yield local
    path.chmod(0o777)


@contextlib.contextmanager
def _key_in_environment(token: str) -> Generator[None]:
    name = "COTERIE_CANARY_KEY"
    os.environ[name] = token
    try:
        yield
    finally:
        del os.environ[name]


def _file_at_home() -> str:
    with contextlib.suppress(OSError, RuntimeError):
        for path in sorted(Path.home().iterdir()):
            if path.is_file() and not path.is_symlink():
                return str(path)
    return ""
