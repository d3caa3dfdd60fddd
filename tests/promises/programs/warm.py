"""Runs workloads in children that it forks, so that an interruption costs no start of Python.

Reads requests, one line of JSON each, and answers each with a line: see `interruption.py`.
"""

import contextlib
import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from pathlib import Path
from typing import Any

from workloads import WORKLOADS

from coterie.schema.values.errors import StorageError
from tests.support.failpoints import armed

DEADLINE = 60.0
"""Seconds after which a child hangs for good."""
PR_SET_PTRACER = 0x59616D61
"""Lets a process say who may trace it, where only its ancestors may otherwise."""
ANYONE = ctypes.c_ulong(-1)


def main() -> None:
    for workload in WORKLOADS.values():  # whatever is imported on first use is imported here
        with tempfile.TemporaryDirectory() as folder:
            workload.prepare(Path(folder))
            workload.run(Path(folder), lambda _: None)
    for line in sys.stdin:
        sys.stdout.write(json.dumps(serve(json.loads(line))) + "\n")
        sys.stdout.flush()


def serve(request: dict[str, Any]) -> dict[str, Any]:
    """Run a workload in a child; tell how that ended and what it wrote to standard error."""
    ready, go = os.pipe()
    with tempfile.TemporaryFile("w+", encoding="utf-8") as errors:
        # Opened before the fork: strace counts what the child does, however soon it is attached.
        number = os.open(request["said"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        if (child := os.fork()) == 0:
            work(request, ready, number, errors.fileno())
        os.close(number)
        tracer = None
        if request.get("strace"):
            tracer, refusal = attach(child, request["strace"])
            if refusal:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return {"refusal": refusal}
        os.write(go, b"!")
        os.close(go)
        os.close(ready)
        answer: dict[str, Any] = {"status": ended(child)}
        if tracer is not None:
            tracer.communicate(timeout=DEADLINE)
        errors.seek(0)
        return {**answer, "error": errors.read()}


def ended(child: int) -> int | str:
    """Wait for a child; give its exit code, the negative number of its signal, or `hangs`."""
    killer = threading.Timer(DEADLINE, os.kill, (child, signal.SIGKILL))
    killer.start()
    _, status = os.waitpid(child, 0)
    hangs = killer.finished.is_set()
    killer.cancel()
    killer.join()
    return "hangs" if hangs else os.waitstatus_to_exitcode(status)


def attach(child: int, options: list[str]) -> tuple[subprocess.Popen[str] | None, str]:
    """Let strace follow a child; give it, or why it may not."""
    tracer = subprocess.Popen(
        ["strace", "-f", "-p", str(child), *options], stderr=subprocess.PIPE, text=True
    )
    assert tracer.stderr is not None
    word = ""
    for line in tracer.stderr:
        word += line
        if "attached" in line:
            return tracer, ""
    tracer.communicate()
    return None, word


def work(request: dict[str, Any], ready: int, number: int, errors: int) -> None:
    """Be the child: wait to be let go, do the work, and end with the exit code of a command."""
    with contextlib.suppress(AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PTRACER, ANYONE, 0, 0, 0)
    os.dup2(errors, 2)

    def say(text: str) -> None:
        os.writev(number, [f"{text}\n".encode()])  # not `write`, which tests make fail

    os.read(ready, 1)
    if "largest_file" in request:
        resource.setrlimit(resource.RLIMIT_FSIZE, (request["largest_file"],) * 2)
    code = 0
    try:
        with armed(request.get("failpoint", "")):
            WORKLOADS[request["workload"]].run(Path(request["folder"]), say)
    except StorageError as error:
        os.writev(2, [f"{error}\n".encode()])
        code = error.exit_code
    except BaseException:  # noqa: BLE001 - whatever it is, the parent tells
        os.writev(2, [traceback.format_exc().encode()])
        code = 70
    os._exit(code)


if __name__ == "__main__":
    main()
