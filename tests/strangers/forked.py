"""Runs `mas-evolve` in children that it forks, so that a kill costs no start of Python.

Reads requests, one line of JSON each. Answers each with two lines: the child's process id, and
after the child has ended its exit code, or the negative number of the signal that ended it.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import sys
import traceback
from pathlib import Path
from typing import Any

from coterie import operators, pool
from coterie.operators.command.evolve import main as mas_evolve
from tests.support.failpoints import armed

BESIDE = (
    "aiohttp",
    "coterie.runtime.gateway.http.http_client",
    "coterie.runtime.gateway.http.streamed",
    "coterie.runtime.runners.llm",
    "coterie.schema.loading.host",
    "coterie.schema.values.part",
    "coterie.schema.loading.tasks",
    "coterie.schema.loading.tools_file",
    "jinja2.sandbox",
    "jsonschema",
)


def main() -> None:
    """Import once what every child needs, and serve."""
    for package in (pool, operators):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    for name in BESIDE:
        importlib.import_module(name)
    for line in sys.stdin:
        serve(json.loads(line))


def serve(request: dict[str, Any]) -> None:
    """Run one command in a child."""
    ready, go = os.pipe()
    if (child := os.fork()) == 0:
        work(request, ready)
    os.close(ready)
    say({"pid": child})
    os.write(go, b"!")
    os.close(go)
    _, status = os.waitpid(child, 0)
    say({"status": os.waitstatus_to_exitcode(status)})


def say(value: dict[str, Any]) -> None:
    """Write a line of JSON."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def work(request: dict[str, Any], ready: int) -> None:
    """Be the child: run the command, and end with its exit code."""
    code = 70
    try:
        os.read(ready, 1)
        output = os.open(request["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.chdir(request["folder"])
        os.environ["MAS_HOME"] = request["folder"]
        sys.argv = ["mas-evolve", *request["words"]]
        with armed(request["failpoint"]):
            mas_evolve(request["words"], prog_name="mas-evolve")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 - whatever it is, the test shows it
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    sys.path[:] = [one for one in sys.path if Path(one or ".").resolve() != Path(__file__).parent]
    main()
