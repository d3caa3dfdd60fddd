"""Measures the engine and its peers, and prints the tables of docs/research/performance.md."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

import click
from platformdirs import user_cache_path

from coterie.runtime.local.package_client import find_uv
from coterie.runtime.values.missing import MissingProgram
from coterie.schema.command import Command
from coterie.schema.values.errors import InputError, RunError

from .flame import draw
from .measures import Measure, alone
from .streaming import in_pieces, pieces_table
from .workloads import Workload, workload

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping

HERE = Path(__file__).parent
ENVIRONMENTS = user_cache_path("coterie") / "engine-benchmark"


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """An engine: its module, the packages that it needs, and the one whose version is shown."""

    module: str
    packages: tuple[str, ...] = ()
    shown: str = ""
    records: bool = False

    def python(self, name: str) -> Path:
        """The interpreter of its environment; ours, where it needs no package of its own."""
        return ENVIRONMENTS / name / "bin" / "python" if self.packages else Path(sys.executable)


SUBJECTS: Mapping[str, Subject] = {
    "raw": Subject(module="raw"),
    "aiohttp": Subject(module="aiohttp_client", shown="aiohttp"),
    "coterie-recorded": Subject(module="coterie_engine", shown="coterie", records=True),
    "coterie": Subject(module="coterie_engine"),
    "langgraph": Subject(
        module="langgraph_graph", packages=("langgraph", "langchain-openai"), shown="langgraph"
    ),
    "agent-framework": Subject(
        module="agent_framework_workflow",
        packages=("agent-framework-core", "agent-framework-openai"),
        shown="agent-framework-core",
    ),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """One column of the table: a workload, how long its calls take, how often it runs."""

    title: str
    workload: str
    seconds: float
    repeats: int = 5
    times: int = 1

    @property
    def team(self) -> Workload:
        """The team that is run."""
        return workload(self.workload, self.seconds)


CELLS = (
    Cell(title="vote", workload="vote", seconds=0.05),
    Cell(title="debate", workload="debate", seconds=0.05),
    Cell(title="chain", workload="chain", seconds=0.05, repeats=3),
    Cell(title="uneven", workload="uneven", seconds=0.05, repeats=3),
    Cell(title="wide", workload="wide", seconds=0.05, repeats=3),
    Cell(title="debate, 0 ms", workload="debate", seconds=0.0),
    Cell(title="100 debates", workload="debate", seconds=0.05, repeats=3, times=100),
)


@click.command(cls=Command)
@click.option("--subjects", default=",".join(SUBJECTS), show_default=True, help="Which engines.")
@click.option("--install", is_flag=True, help="Make the peers' environments, and end.")
@click.option("--quick", is_flag=True, help="Only a vote, once: does everything work?")
@click.option("--streams", is_flag=True, help="Only what an answer costs that comes in pieces.")
@click.option(
    "--flame",
    type=click.Path(path_type=Path),
    help="Only draw where the processor time of recorded debates goes, as SVG, into this file.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the raw measures.")
def main(
    *, subjects: str, install: bool, quick: bool, streams: bool, flame: Path | None, as_json: bool
) -> None:
    """Run every workload on every engine, in turn, and print medians as Markdown."""
    names = [name for name in map(str.strip, subjects.split(",")) if name]
    if unknown := [name for name in names if name not in SUBJECTS]:
        raise InputError(f"no subject {unknown[0]!r}. Known: {', '.join(SUBJECTS)}.")
    if install:
        for name in names:
            _install(name)
        return
    if streams:
        with _simulator() as port:
            click.echo(pieces_table(in_pieces(f"http://127.0.0.1:{port}/v1")))
        return
    if flame is not None:
        if not flame.parent.is_dir():
            raise InputError(f"--flame {flame}: there is no folder {str(flame.parent)!r}.")
        with _simulator() as port:
            looks = draw(f"http://127.0.0.1:{port}/v1", flame)
        click.echo(f"{flame}: {looks:,} looks")
        return
    cells = CELLS[:1] if quick else CELLS
    with ExitStack() as stack:
        port = stack.enter_context(_simulator())
        hosts = {name: stack.enter_context(_host(name, port)) for name in names}
        measured = {name: {cell.title: _measures() for cell in cells} for name in names}
        for cell in cells:
            for number in range(2 if quick else cell.repeats + 1):
                for name in names:
                    result = _run(hosts[name], cell, f"{cell.workload}{number}", port)
                    if number:  # the first run warms up
                        measured[name][cell.title].append(result)
        ours = [] if quick else alone(f"http://127.0.0.1:{port}/v1")
    if as_json:
        click.echo(json.dumps({"measured": measured, "alone": [vars(our) for our in ours]}))
        return
    click.echo(_table(cells, measured))
    click.echo(_targets(measured, ours) if not quick else "")


def _measures() -> list[dict[str, Any]]:
    return []


def _install(name: str) -> None:
    """Make a subject's environment with the newest releases of its packages.

    Raises:
        MissingProgram: There is no uv.
        RunError: It failed, and said why.
    """
    subject = SUBJECTS[name]
    if subject.packages:
        uv, place = find_uv(), ENVIRONMENTS / name
        if uv is None:
            raise MissingProgram("uv", "makes the environments of the peers")
        into = ("--python", str(subject.python(name)))
        _run_uv([uv, "venv", "--quiet", "--clear", str(place)])
        _run_uv([uv, "pip", "install", "--quiet", "--compile-bytecode", *into, *subject.packages])
        click.echo(f"{name}: {place}")


def _run_uv(command: list[str]) -> None:
    try:
        status = subprocess.run(command, check=False).returncode
    except OSError as error:
        raise InputError(f"{command[0]!r} cannot be run: {error.strerror}.") from error
    if status:
        raise RunError(f"{' '.join(command[:3])} … failed with status {status}; it says why above.")


@contextmanager
def _simulator() -> Generator[int]:
    command = [sys.executable, str(HERE / "simulator.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None  # noqa: S101 - asked for above
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


@contextmanager
def _host(name: str, port: int) -> Generator[subprocess.Popen[str]]:
    """Start the process of a subject."""
    subject = SUBJECTS[name]
    if not subject.python(name).exists():
        raise InputError(f"{name} is not installed. Run this command with --install first.")
    command = [str(subject.python(name)), str(HERE / "subjects" / "host.py")]
    environment = {**os.environ, "LANGSMITH_TRACING": "false"}
    with (
        TemporaryDirectory(prefix="coterie-runs-") as runs,
        subprocess.Popen(
            [*command, subject.module, f"http://127.0.0.1:{port}/v1"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment | ({"MAS_BENCH_RUNS": runs} if subject.records else {}),
            text=True,
        ) as process,
    ):
        try:
            yield process
        finally:
            process.kill()


def _run(host: subprocess.Popen[str], cell: Cell, run: str, port: int) -> dict[str, Any]:
    """Have a subject run a cell once; check that every agent saw whom it should."""
    assert host.stdin is not None  # noqa: S101
    assert host.stdout is not None  # noqa: S101
    wanted = {"workload": cell.workload, "seconds": cell.seconds, "run": run, "times": cell.times}
    host.stdin.write(json.dumps(wanted) + "\n")
    host.stdin.flush()
    line = host.stdout.readline()
    result: dict[str, Any] = json.loads(line) if line else {"error": "it ended", "wall": 0.0}
    for number in range(cell.times):
        text = f"{run}-{number}"
        with urlopen(f"http://127.0.0.1:{port}/seen?run={text}") as reply:
            if json.load(reply) != _rightly_seen(cell.team, text) and not result["error"]:
                result["error"] = "an agent saw other outputs than it should, or was asked twice"
    return result


def _rightly_seen(team: Workload, run: str) -> dict[str, list[list[str]]]:
    """What the simulator sees of a right run: one call of each agent, with these outputs."""
    return {
        agent: [sorted(f"{name}@{run}" for name in before)]
        for agent, (_, before) in team.agents.items()
    }


def _table(cells: tuple[Cell, ...], measured: Mapping[str, Any]) -> str:
    """Write the comparison: makespan over critical path, or seconds where that is zero or many."""
    versions = ", ".join(_versions(measured))
    lines = [
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()};"
        f" {versions}.",
        "",
    ]
    titles = [cell.title for cell in cells]
    lines += [
        f"| | {' | '.join(titles)} | CPU ms/call | peak RSS MB |",
        "|---" * (len(titles) + 3) + "|",
    ]
    for name, results in measured.items():
        row = [_shown(cell, results[cell.title]) for cell in cells]
        lines.append(f"| {name} | {' | '.join(row)} | {_cpu(cells, results)} | {_rss(results)} |")
    return "\n".join(lines)


def _shown(cell: Cell, results: list[dict[str, Any]]) -> str:
    if failed := [result["error"] for result in results if result["error"]]:
        return f"failed: {failed[0][:40]}"
    wall = median(result["wall"] for result in results)
    if cell.times > 1:
        return f"{wall:.1f} s"
    return f"{wall / cell.team.critical_path:.2f}" if cell.seconds else f"{wall * 1000:.0f} ms"


def _cpu(cells: tuple[Cell, ...], results: Mapping[str, Any]) -> str:
    """Processor milliseconds for a call, over the debates at 50 ms, else over what there is."""
    cell = next((item for item in cells if item.title == "debate"), cells[0])
    good = [item["cpu"] for item in results[cell.title] if not item["error"]]
    return f"{median(good) / len(cell.team.agents) * 1000:.2f}" if good else "-"


def _rss(results: Mapping[str, Any]) -> str:
    return f"{max(run.get('rss', 0.0) for runs in results.values() for run in runs):.0f}"


def _versions(measured: Mapping[str, Any]) -> Iterator[str]:
    for name in measured:
        subject = SUBJECTS[name]
        if subject.shown:
            script = f"import importlib.metadata as m; print(m.version({subject.shown!r}))"
            command = [str(subject.python(name)), "-c", script]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            yield f"{subject.shown} {done.stdout.strip()}"


AIMS: Mapping[str, Mapping[str, float]] = {
    "coterie-recorded": {"vote": 1.10, "debate": 1.10, "CPU": 2.0, "100 debates": 2.0},
    "coterie": {"vote": 1.06, "debate": 1.06, "uneven": 1.08, "wide": 4.0, "CPU": 1.6, "RSS": 90.0},
}
"""The most that each column may be: a ratio, to the critical path or to `FLOOR`; or megabytes."""
FLOOR = "aiohttp"
"""What processor time and many debates are compared with: machines differ, and their load does."""


def _targets(measured: Mapping[str, Any], ours: list[Measure]) -> str:
    """Write what this engine promises, and what was measured."""
    ours += [
        _aim(name, title, bound, measured)
        for name, aims in AIMS.items()
        if name in measured
        for title, bound in aims.items()
        if FLOOR in measured or title not in {"CPU", "100 debates"}
    ]
    rows = [
        f"| {our.name} | {our.shown} | {our.target:g} {our.unit} | {our.verdict} |" for our in ours
    ]
    return "\n".join(["", "| what | measured | at most | |", "|---|---|---|---|", *rows])


def _aim(name: str, title: str, bound: float, measured: Mapping[str, Any]) -> Measure:
    """Return what was measured of one of our rows, with its bound."""
    results, floor = measured[name], measured.get(FLOOR, {})
    if title == "CPU":
        ratio = float(_cpu(CELLS, results)) / float(_cpu(CELLS, floor))
        return Measure(f"{name}: CPU per call / {FLOOR}'s, debate", ratio, "", bound)
    if title == "RSS":
        return Measure(f"{name}: peak RSS", float(_rss(results)), "MB", bound)
    cell = next(item for item in CELLS if item.title == title)
    wall = median(item["wall"] for item in results[title])
    if cell.times > 1:
        ratio = wall / median(item["wall"] for item in floor[title])
        return Measure(f"{name}: {title} at once / {FLOOR}'s seconds", ratio, "", bound)
    what = f"{name}: makespan / critical path, {title} at 50 ms"
    return Measure(what, wall / cell.team.critical_path, "", bound)


if __name__ == "__main__":
    main()
