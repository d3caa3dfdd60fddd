"""Runs one subject in a process of its own: commands on standard input, results on standard output.

    python host.py SUBJECT API_BASE

A line of JSON `{"workload", "seconds", "run", "times"}` runs that team, `times` at once; the answer
has wall and processor seconds, peak memory, and what went wrong.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import re
import resource
import sys
import time
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from workloads import workload  # noqa: E402 - found on the path above


def processor() -> float:
    """Seconds of processor time so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def main(subject: str, api_base: str) -> None:
    """Serve commands until standard input ends."""
    engine: Any = importlib.import_module(subject)
    output, teams = os.fdopen(os.dup(1), "w", encoding="utf-8"), {}
    os.dup2(2, 1)  # what libraries print is no result
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        wanted = json.loads(line)
        key = (wanted["workload"], wanted["seconds"])
        if key not in teams:
            teams[key] = engine.build(workload(*key), api_base)
        result = await measured(engine, teams[key], wanted)
        output.write(json.dumps(result) + "\n")
        output.flush()


async def measured(engine: Any, team: Any, wanted: dict[str, Any]) -> dict[str, Any]:
    """Run a team, several times at once where that is wanted."""
    used, started, error = processor(), time.perf_counter(), ""
    try:
        runs = [engine.run(team, f"{wanted['run']}-{number}") for number in range(wanted["times"])]
        answers = await asyncio.wait_for(asyncio.gather(*runs), wanted.get("limit", 120))
        error = (
            "" if all("ANSWER(" in str(answer) for answer in answers) else f"{answers[0]!r:.200}"
        )
    except Exception as failure:  # noqa: BLE001 - a subject's failure is a result
        error = f"{type(failure).__name__}: {failure}"[:300]
    return {
        "wall": time.perf_counter() - started,
        "cpu": processor() - used,
        "rss": peak_memory(),
        "error": error,
    }


def peak_memory() -> float:
    """Megabytes. On Linux `getrusage` would also count the process that started this one."""
    status = Path("/proc/self/status")
    if status.exists():
        peak = re.search(r"VmHWM:\s+(\d+)", status.read_text(encoding="ascii"))
        return int(peak[1]) / 1024 if peak else 0.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
    os._exit(0)
