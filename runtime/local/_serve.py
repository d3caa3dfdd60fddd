"""The process of the embedded server: `python -m coterie.runtime.local._serve`.

It reads its settings as one line of JSON on stdin (a command line would show the key to every user
of the machine), writes one line of JSON on stdout when it serves or cannot, and ends when stdin
does: when the parent stops it, and also when the parent is killed.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import signal
import sys
import threading
from typing import Any

PR_SET_PDEATHSIG = 1
CACHE_MIB = 256
QUIET = 2  # llama.cpp's verbosity: errors and warnings


def main() -> None:
    """Serve until stdin ends."""
    answer_fd = _keep_stdout()
    settings: dict[str, Any] = json.loads(sys.stdin.readline())
    _die_with_parent()
    threading.Thread(target=_leave_at_end_of_stdin, daemon=True).start()
    try:
        server = _start(settings)
    except RuntimeError as error:
        _answer(answer_fd, error=str(error))
        return
    _answer(answer_fd, url=server.listening_address)
    threading.Event().wait()


def _keep_stdout() -> int:
    """Reserve stdout for the one answer; output of native code joins the log on stderr."""
    answer_fd = os.dup(1)
    os.dup2(2, 1)
    return answer_fd


def _answer(answer_fd: int, **fields: str) -> None:
    with os.fdopen(answer_fd, "w", encoding="utf-8") as stream:
        stream.write(json.dumps(fields) + "\n")


def _die_with_parent() -> None:
    """Ask Linux for a kill when the parent dies.

    The end of stdin can come late: a process that the parent forked may hold the pipe open, and
    loading a big model does not let Python's threads run.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _leave_at_end_of_stdin() -> None:
    sys.stdin.read()
    os._exit(0)  # the server keeps nothing that has to be written or closed


def _start(settings: dict[str, Any]) -> Any:
    llama: Any = importlib.import_module("xllamacpp")
    params = llama.CommonParams()
    params.model.path = settings["path"]
    params.model_alias = {"local"}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [settings["key"]]
    params.n_parallel = settings["slots"]
    params.n_ctx = settings["context"] * settings["slots"]  # llama.cpp divides it by the slots
    params.cpuparams.n_threads = settings["threads"]
    params.cpuparams_batch.n_threads = settings["threads"]
    params.cache_ram_mib = CACHE_MIB
    params.endpoint_slots = False  # shows what others asked
    params.ui = False
    params.verbosity = QUIET
    return llama.Server(params)


if __name__ == "__main__":
    main()
