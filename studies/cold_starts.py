"""Measures what commands take before they do anything: processor seconds of whole processes.

    python -m studies.cold_starts

A run is ended at its first request, so what it took is what came before. Modules are compiled
before. Peers are measured where `python -m studies.engine --install` has put them: how
long it takes to import what their programs of the engine's benchmark use.
"""

from __future__ import annotations

import os
import socket
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from coterie.schema.command import Command
from coterie.schema.values.errors import RunError

from .engine.__main__ import HERE, SUBJECTS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SEEDS = Path(__file__).parents[1] / "seeds"
WAIT_SECONDS = 60.0
AIMS: Mapping[str, float] = {
    "`mas --help`": 0.1,
    "`mas-validate` of one agent": 0.15,
    "`mas-validate` of the debate, 19 agents": 0.2,
    "`mas-run` to its first request": 0.35,
}


def until_its_end(command: list[str], environment: Mapping[str, str]) -> float:
    """Return the processor seconds of a command.

    Raises:
        RunError: It failed.
    """
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        used = _waited(process)
    if process.returncode:
        raise RunError(f"{' '.join(command[:4])}: exit code {process.returncode}.")
    return used


def until_its_request(environment: Mapping[str, str]) -> float:
    """Return the processor seconds of `mas-run` until it asks its model, when it is ended.

    Raises:
        RunError: It ended without.
    """
    with TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as server:
        address = f"m@http://127.0.0.1:{server.getsockname()[1]}/v1"
        server.settimeout(WAIT_SECONDS)
        arguments = ("seed:direct", "-q", "Hello?", "--quiet", "--model", address)
        with subprocess.Popen(
            [*_ours("coterie.runtime.command.run"), *arguments],
            cwd=folder,
            env={**environment, "MAS_HOME": folder},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            try:
                with server.accept()[0] as connection:
                    connection.settimeout(WAIT_SECONDS)
                    connection.recv(1)
                    process.kill()
                    return _waited(process)
            except OSError as error:
                process.kill()
                raise RunError(f"mas-run asked nobody in {WAIT_SECONDS:g} s.") from error


def _waited(process: subprocess.Popen[bytes]) -> float:
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime


def _ours(module: str) -> list[str]:
    return [sys.executable, "-c", f"from {module} import main; main()"]


def _rows(environment: Mapping[str, str]) -> Mapping[str, Callable[[], float]]:
    """Return what measures each row once."""
    validate = [*_ours("coterie.schema.command.validate"), "--no-host"]
    commands = {
        "`mas --help`": [*_ours("coterie.schema.command"), "--help"],
        "`mas-validate` of one agent": [*validate, str(SEEDS / "direct.yaml")],
        "`mas-validate` of the debate, 19 agents": [*validate, str(SEEDS / "debate.yaml")],
    }
    for name, subject in SUBJECTS.items():
        if subject.packages and subject.python(name).exists():
            script = f"import {subject.module}"
            commands[f"{name}, imported"] = [str(subject.python(name)), "-c", script]
    there = {**environment, "PYTHONPATH": os.pathsep.join([str(HERE / "subjects"), str(HERE)])}
    rows: dict[str, Callable[[], float]] = {
        name: lambda command=command, name=name: until_its_end(
            command, environment if name in AIMS else there
        )
        for name, command in commands.items()
    }
    return {**rows, "`mas-run` to its first request": lambda: until_its_request(environment)}


@click.command(cls=Command)
@click.option(
    "--runs", type=click.IntRange(min=1), default=7, show_default=True, help="Processes per row."
)
def main(runs: int) -> None:
    """Measure cold starts in turn, and print medians as a table in Markdown."""
    with TemporaryDirectory() as compiled:
        environment = {
            **os.environ, "PYTHONPYCACHEPREFIX": compiled, "PYTHONDONTWRITEBYTECODE": ""
        }  # fmt: skip
        rows = _rows(environment)
        for measure in rows.values():
            measure()  # compiles what it imports
        rounds = [{name: measure() for name, measure in rows.items()} for _ in range(runs)]
    click.echo("| | CPU s | at most | |\n|---|---|---|---|")
    for name in rows:
        median = statistics.median(fields[name] for fields in rounds)
        aim = AIMS.get(name)
        verdict = "" if aim is None else "met" if median <= aim else "missed"
        click.echo(f"| {name} | {median:.3f} | {aim or ''} | {verdict} |")


if __name__ == "__main__":
    main()
