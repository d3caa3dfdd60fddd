"""The workers of a Ray cluster. Importing this imports Ray."""

from __future__ import annotations

import importlib
import logging
import os
import tempfile
import threading
import time
from collections.abc import Generator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from typing import Any, cast

import ray
import ray.exceptions
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from ...schema.values.errors import InputError, JailError
from ..jail.scratch import ScratchFolder
from .host import JailWorker, harmless, same_everywhere
from .link import Link, WorkerLost
from .on import On

CPUS = 4
"""Processors of a node for each worker."""
CONNECT_SECONDS = 90.0
"""Seconds that a cluster may take to accept the connection, or to start."""
START_SECONDS = 120.0
"""Seconds that the workers may take to start, at first or as replacements."""
CONCURRENCY = 10_000
"""Concurrent requests to a worker: each running command has one that waits."""
STORE = 200 << 20
"""Bytes of a local cluster's object store: data is sent in pieces of a few MB."""
LONGEST_FOLDER = 40
"""The longest path, in characters, that leaves room for the names of Ray's sockets."""
LOST = (
    ray.exceptions.RayActorError,
    ray.exceptions.NodeDiedError,
    ray.exceptions.ObjectLostError,
    ray.exceptions.WorkerCrashedError,
    ray.exceptions.RaySystemError,
    ray.exceptions.GetTimeoutError,
    ConnectionError,
)


class RayLink:
    """A connection to a worker that is a Ray actor; see `Link`."""

    def __init__(self, actor: Any, node: str) -> None:
        self.actor = actor
        self.node = node
        self.name = node

    def ask(self, method: str, *arguments: Any, seconds: float | None = None, **named: Any) -> Any:
        """Call a method of the worker and wait for its answer; see `Link`."""
        try:
            return ray.get(self._called(method, arguments, named), timeout=seconds)
        except ray.exceptions.GetTimeoutError as error:
            raise WorkerLost(f"{self.name} did not answer in {seconds:g} seconds") from error
        except LOST as error:
            raise WorkerLost(_line(error, 0)) from error
        except ray.exceptions.RayError as error:
            if isinstance(cause := getattr(error, "cause", None), JailError):
                raise cause from None
            raise JailError(f"The worker {self.name} failed: {_line(error, -1)}") from error

    def tell(self, method: str, *arguments: Any) -> None:
        """Call a method of the worker without waiting for its answer."""
        with suppress(WorkerLost, *LOST, ray.exceptions.RayError):
            self._called(method, arguments, {})

    def _called(self, method: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        if not ray.is_initialized():
            # Ray would start a cluster for it, with all of this process's environment.
            raise WorkerLost("this process has left the cluster")
        return getattr(self.actor, method).remote(*arguments, **named)


def _line(error: BaseException, place: int) -> str:
    """Return one line of an error: the first of Ray's own, the last of a traceback."""
    lines = str(error).strip().splitlines()
    return lines[place].strip() if lines else type(error).__name__


class RayFleet:
    """The workers of a Ray cluster; see `Fleet`.

    Raises:
        InputError: The cluster does not answer, or none of its nodes can host jails.
    """

    def __init__(self, on: On) -> None:
        self._text = on.text
        self._open = ExitStack()
        self._change = threading.Condition()
        self._links: list[RayLink] = []
        self._reported: dict[RayLink, dict[str, Any]] = {}
        self._refused: dict[str, str] = {}
        self._starts = 0
        self._start_turn = threading.Lock()
        self._closed = False
        if not ray.is_initialized():
            self._open.enter_context(_connected(on))
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        if not self._links:
            self.close()
            raise InputError(f"--on {on.text}: {self._nobody()}")

    def alive(self) -> Sequence[RayLink]:
        """Return the workers; if there is none at the moment, wait for one; see `Fleet`."""
        with self._change:
            self._change.wait_for(lambda: self._links or not self._starts, START_SECONDS)
            if not self._links:
                raise JailError(self._nobody())
            return tuple(self._links)

    def lose(self, link: Link) -> None:
        """Start another worker in place of a lost one, in the background; see `Fleet`."""
        with self._change:
            if not isinstance(link, RayLink) or link not in self._links or self._closed:
                return
            self._links.remove(link)
            self._reported.pop(link, None)
            self._starts += 1
        with suppress(*LOST, ray.exceptions.RayError):
            ray.kill(link.actor)  # a worker that only seemed lost must not continue
        threading.Thread(target=self._restart, name="cluster-restart", daemon=True).start()

    def describe(self) -> dict[str, Any]:
        """Return the workers and how they confine; see `Jails.describe`."""
        with self._change:
            records = [*self._reported.values()]
        first = records[0] if records else {}
        return {
            "on": self._text,
            "tier": first.get("tier"),
            "confines": True,
            "version": first.get("version", ""),
            "kernel": first.get("kernel", ""),
            "workers": [{"host": fields["host"], "tier": fields["tier"]} for fields in records],
            "refused": dict(self._refused),
        }

    def close(self) -> None:
        """Release the workers, and the cluster if it was started for this alone."""
        with self._change:
            self._closed = True
            links, self._links = self._links, []
            self._change.notify_all()
        for link in links:
            with suppress(WorkerLost, JailError):
                link.ask("shut", seconds=10.0)
            with suppress(*LOST, ray.exceptions.RayError):
                ray.kill(link.actor)
        self._open.close()

    def _nobody(self) -> str:
        refused = "".join(f"\n  {node}: {why}." for node, why in self._refused.items())
        return (
            "no node of the cluster can host jails."
            + (refused or " It has no node with a free processor.")
        )  # fmt: skip

    def _restart(self) -> None:
        """Start missing workers, one start after the other: more may be lost during one."""
        try:
            with self._start_turn:
                self._start()
        except (*LOST, ray.exceptions.RayError):
            pass  # the cluster itself is gone, which the next request reports
        finally:
            with self._change:
                self._starts -= 1
                self._change.notify_all()

    def _start(self) -> None:
        """Start a worker wherever one is missing, and wait until each has described itself."""
        with self._change:
            there: dict[str, int] = {}
            for link in self._links:
                there[link.node] = there.get(link.node, 0) + 1
        nodes = ray.nodes() if ray.is_initialized() else []
        begun = [
            RayLink(_actor(node["NodeID"], cpus), node["NodeID"])
            for node in (() if self._closed else nodes)
            if node["Alive"] and node["NodeID"] not in self._refused
            for cpus in _shares(node)[there.get(node["NodeID"], 0) :]
        ]
        greetings = {link.actor.greet.remote(same_everywhere()): link for link in begun}
        deadline = time.monotonic() + START_SECONDS
        while greetings and (left := deadline - time.monotonic()) > 0:
            ready, _ = ray.wait([*greetings], timeout=left)
            for item in ready:
                self._greeted(greetings.pop(item), item)
        for link in greetings.values():  # its node has other work, or hangs
            ray.kill(link.actor)

    def _greeted(self, link: RayLink, answer: Any) -> None:
        fields: dict[str, Any]
        try:
            fields = cast("dict[str, Any]", ray.get(answer))
        except LOST:
            return
        except ray.exceptions.RayError as error:
            fields = {"refused": _line(error, -1), "host": link.node}
        link.name = f"{fields['host']}"
        if fields["refused"] is not None:
            self._refused[link.node] = f"{fields['host']}: {fields['refused']}".rstrip(".")
            ray.kill(link.actor)
            return
        with self._change:
            if not self._closed:
                self._links.append(link)
                self._reported[link] = fields
                self._change.notify_all()
                return
        ray.kill(link.actor)


def _shares(node: dict[str, Any]) -> list[float]:
    """Return the processors of each worker for a node."""
    cpus = int(node["Resources"].get("CPU", 0))
    return [min(CPUS, cpus - first) for first in range(0, cpus, CPUS)]


def _actor(node: str, cpus: float) -> Any:
    kind: Any = ray.remote(JailWorker)
    return kind.options(
        num_cpus=cpus,
        max_concurrency=CONCURRENCY,
        scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False),
    ).remote()


@contextmanager
def _started(options: dict[str, Any]) -> Generator[None]:
    """Connect in a thread that lives as long as the block, and raise as `ray.init` does.

    The kernel ends a cluster's processes with the thread that started them. The thread is daemonic:
    a cluster that does not answer must not keep the process from ending.
    """
    connected: Future[None] = Future()
    ended = threading.Event()

    def run() -> None:
        try:
            with _quiet():
                ray.init(**options)
            connected.set_result(None)
        except BaseException as error:  # noqa: BLE001 - raised again where it is awaited
            connected.set_exception(error)
        ended.wait()

    threading.Thread(target=run, name="cluster-starter", daemon=True).start()
    try:
        connected.result(CONNECT_SECONDS)
        yield
    finally:
        ended.set()


@contextmanager
def _connected(on: On) -> Generator[None]:
    """Be a driver of a cluster for as long as the block lasts."""
    options: dict[str, Any] = {
        "address": on.address,
        "namespace": "coterie",
        "log_to_driver": False,
        "logging_level": logging.ERROR,
    }
    with ExitStack() as stack:
        if on.address == "local":
            options |= {"include_dashboard": False, "object_store_memory": STORE}
            options["_node_ip_address"] = "127.0.0.1"
            if len(tempfile.gettempdir()) <= LONGEST_FOLDER:
                folder = stack.enter_context(ScratchFolder("ray"))
                options["_temp_dir"] = str(folder.path)
        with _bare_environment() if on.address == "local" else nullcontext():
            try:
                stack.enter_context(_started(options))
            except TimeoutError:
                raise InputError(
                    f"--on {on.text}: the cluster did not answer within {CONNECT_SECONDS:g} s."
                ) from None
            except (ConnectionError, RuntimeError, ValueError, *LOST) as error:
                raise InputError(
                    f"--on {on.text}: the cluster does not answer: {_line(error, 0)}"
                ) from error
        stack.callback(ray.shutdown)
        yield


@contextmanager
def _quiet() -> Generator[None]:
    """Keep Ray from starting a thread that prints lost workers among our output.

    Ray has no option for this. We report losses ourselves.
    """
    module: Any = importlib.import_module("ray._private.worker")
    report = getattr(module, "listen_error_messages", None)
    module.listen_error_messages = lambda *_: None
    try:
        yield
    finally:
        module.listen_error_messages = report


@contextmanager
def _bare_environment() -> Generator[None]:
    """Hide the secrets of this process's environment from processes started in the block."""
    whole = dict(os.environ)
    bare = {**harmless(whole), "RAY_USAGE_STATS_ENABLED": "0"}
    os.environ.clear()
    os.environ.update(bare)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(whole)
