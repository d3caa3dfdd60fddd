"""A Python interpreter in a jail that stays warm between cells of code."""

from __future__ import annotations

import contextvars
import json
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ....schema.values.errors import JailError
from ...values.bounds import without_middle
from ..layout import interpreter
from ..process import JailKilled
from ..protocol import AnyJail, AnyProcess
from .wire import HungUp, WireError, WorkerConnection

MOST_CALLS = 1_000
"""The most tool calls of an agent's step. Runs record results of tools, so calls take disk, too."""

_SCRIPT = Path(__file__).resolve().parent / "_worker.py"
_START_SECONDS = 30.0
_ENDING_SECONDS = 2.0  # between the end of a pipe and the end of the process that held it
_LAST_SECONDS = 5.0  # for the rest of a cell whose time ran out during a tool call


@dataclass(frozen=True, kw_only=True, slots=True)
class CellResult:
    """The result of one cell.

    Attributes:
        output: the value of its last expression, or the argument of `final_answer`: a JSON value,
            or the `repr` of any other.
        logs: its printed output, cut at `Limits.output` bytes.
        is_final_answer: whether it called `final_answer`.
        error: why it failed, as a traceback or a sentence; None if it succeeded. Beyond
            `Limits.output` characters, its middle is left out.
    """

    output: Any = None
    logs: str = ""
    is_final_answer: bool = False
    error: str | None = None


class PythonWorker:
    """Runs cells of Python in a jail, one after the other, in one interpreter.

    The first cell starts the interpreter. A limit, or the cell itself, may end it. The error then
    says so, and the next cell gets a new one with the host's tools and variables. Every method may
    be called from any thread; cells wait for each other.

    Args:
        on_tool: called with a tool's name, its arguments and its keyword arguments (JSON values)
            when a cell calls a tool; returns a JSON value. Its exceptions are raised in the cell.
            It runs in its own thread.
        calls: how often a cell may call tools; None for no limit but its time.
        waited: returns the seconds for which tools have waited for a person so far. They do not
            count as a cell's time; the rest of a tool's time does.
    """

    def __init__(
        self,
        jail: AnyJail,
        *,
        on_tool: Callable[[str, list[Any], dict[str, Any]], Any] | None = None,
        tools: Iterable[str] = (),
        calls: int | None = None,
        waited: Callable[[], float] = float,
    ) -> None:
        self._jail = jail
        self._on_tool = on_tool
        self._most_calls = calls
        self._waited = waited
        self._tools = set(tools)
        self._variables: dict[str, Any] = {}
        self._running: tuple[AnyProcess, WorkerConnection] | None = None
        self._turn = threading.Lock()
        self._killed: str | None = None

    def send_tools(self, names: Iterable[str]) -> None:
        """Add tools that cells may call."""
        with self._turn:
            self._tools.update(names)
            if self._running is not None:
                self._send_tools(self._running[1])

    def send_variables(self, values: Mapping[str, Any]) -> None:
        """Set variables for the cells.

        Args:
            values: JSON-able values by name.

        Raises:
            JailError: a value is not JSON-able, or larger than `Limits.message`.
        """
        with self._turn:
            self._variables |= _sendable(values, self._jail.limits.message)
            if self._running is not None:
                self._send_variables(self._running[1], values)

    def execute(self, code: str, *, timeout: float | None = None) -> CellResult:
        """Run a cell.

        Args:
            timeout: seconds that it may take, including its tools; None: `Limits.wall`. A tool that
                is running at the deadline is not cut off: the cell gets its result, and a few more
                seconds in which it can call no other tool.

        Returns:
            The result; it includes an error of the cell.

        Raises:
            JailKilled: `kill` was called, on the worker or the jail, before or meanwhile.
            JailError: no interpreter could be started.
        """
        seconds = self._jail.limits.wall if timeout is None else timeout
        with self._turn:
            process, wire = self._running or self._start()
            try:
                reply = self._converse(wire, code, seconds)
            except TimeoutError:
                return self._stopped(process, wire, f"it ran longer than {seconds:g} seconds")
            except HungUp as error:
                return self._ended(process, wire, error)
            except WireError as error:
                return self._stopped(process, wire, str(error))
            except ValueError as error:
                return CellResult(error=f"The code was not run: {error}.")
            return _execution(reply, wire.printed(), self._jail.limits.output)

    def kill(self, reason: str = "the host killed it") -> None:
        """End the interpreter for good; a waiting `execute` raises `JailKilled` at once."""
        self._killed = self._killed or reason
        running = self._running
        if running is not None:
            running[0].kill(reason)

    def close(self) -> None:
        """End the interpreter and release its resources."""
        self.kill("the worker was closed")
        with self._turn:
            self._discard()

    def _start(self) -> tuple[AnyProcess, WorkerConnection]:
        self._check()
        limits = self._jail.limits
        sizes = [str(limits.message), str(limits.output)]
        process = self._jail.start(
            [str(interpreter()), "-I", "-S", str(_SCRIPT), *sizes],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        wire = WorkerConnection(process, limits)
        self._running = process, wire
        self._send_tools(wire)
        self._send_variables(wire, self._variables)
        try:
            wire.receive(time.monotonic() + _START_SECONDS)
        except (TimeoutError, WireError) as error:
            lost = self._stopped(process, wire, "the interpreter did not start")
            raise JailError(f"{lost.error} {lost.logs}".strip()) from error
        self._check()
        return self._running

    def _check(self) -> None:
        if self._killed is not None:
            self._discard()
            raise JailKilled(f"The interpreter has ended: {self._killed}.")
        self._jail.check()

    def _discard(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            process, wire = running
            wire.close()
            process.close()

    def _send_tools(self, wire: WorkerConnection) -> None:
        wire.send({"op": "tools", "names": sorted(self._tools)})

    def _send_variables(self, wire: WorkerConnection, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            wire.send({"op": "variables", "values": {name: value}})

    def _converse(self, wire: WorkerConnection, code: str, seconds: float) -> dict[str, Any]:
        """Send a cell, run the tools that it calls, and return its last message."""
        wire.send({"op": "run", "code": code})
        deadline, calls, refusal = time.monotonic() + seconds, 0, ""
        while True:
            match wire.receive(deadline):
                case {"op": "done"} as reply:
                    return reply
                case {"op": "call", "name": str(name), "args": list(args), "kwargs": dict(kwargs)}:
                    if wire.is_behind:
                        raise WireError("it called a tool before it read the last one's answer")
                    if refusal:
                        wire.send({"op": "error", "text": f"{name} was not called: {refusal}."})
                        continue
                    waited = self._waited()
                    self._serve(wire, name, args, kwargs)
                    deadline += self._waited() - waited
                    calls += 1
                    if calls == self._most_calls:
                        refusal = f"one step may call tools {calls} times"
                    if time.monotonic() > deadline:
                        refusal = f"the {seconds:g} seconds of this step are over, tools included"
                        deadline = time.monotonic() + _LAST_SECONDS
                case message:
                    raise WireError(f"it sent an unknown message, {str(message)[:200]!r}")

    def _serve(
        self, wire: WorkerConnection, name: str, args: list[Any], kwargs: dict[str, Any]
    ) -> None:
        """Run a tool and send its result; in a thread, so that killing the worker need not wait."""
        answers: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()

        def run() -> None:
            answers.put(self._answer(name, args, kwargs))
            wire.wake()

        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(run,), name=f"tool-{name}", daemon=True).start()
        wire.rest()
        try:
            wire.send(answers.get())
        except (TypeError, ValueError, RecursionError) as error:
            text = f"The result of {name} can't be handed over: {error}."
            wire.send({"op": "error", "text": text})

    def _answer(self, name: str, args: list[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        if name not in self._tools or self._on_tool is None:
            return {"op": "error", "text": f"There is no tool named {name!r}."}
        try:
            return {"op": "result", "value": self._on_tool(name, args, kwargs)}
        except BaseException as error:  # noqa: BLE001 - a tool's failure is for the cell to handle
            return {"op": "error", "text": f"{name} failed: {type(error).__name__}: {error}"}

    def _ended(self, process: AnyProcess, wire: WorkerConnection, error: HungUp) -> CellResult:
        """Return the error for an interpreter that ended, by itself or by the host."""
        code = process.wait(_ENDING_SECONDS)
        if code is None or process.stopped is not None:
            return self._stopped(process, wire, str(error))
        return self._lost_result(wire, f"The code ended its interpreter, with {_exit(code)}")

    def _stopped(self, process: AnyProcess, wire: WorkerConnection, reason: str) -> CellResult:
        process.kill(reason)
        return self._lost_result(wire, f"The code was stopped: {process.stopped or reason}")

    def _lost_result(self, wire: WorkerConnection, why: str) -> CellResult:
        logs = wire.printed()
        self._discard()
        self._check()
        return CellResult(logs=logs, error=f"{why}. What earlier cells defined is lost.")


def _execution(reply: Mapping[str, Any], logs: str, longest: int) -> CellResult:
    error = reply.get("error")
    return CellResult(
        output=reply.get("value"),
        logs=logs,
        is_final_answer=reply.get("final") is True,
        error=None if error is None else without_middle(str(error), longest),
    )


def _sendable(values: Mapping[str, Any], limit: int) -> dict[str, Any]:
    for name, value in values.items():
        try:
            size = len(json.dumps(value, allow_nan=False))
        except (TypeError, ValueError, RecursionError) as error:
            raise JailError(f"The variable {name!r} can't enter the jail: {error}.") from error
        if size > limit // 2:
            raise JailError(
                f"The variable {name!r} has {size} bytes as JSON; {limit // 2} can enter the jail."
            )
    return dict(values)


def _exit(code: int) -> str:
    if code <= 128:
        return f"exit code {code}"
    return f"signal {signal.Signals(code - 128).name}"
