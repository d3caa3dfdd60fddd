"""Measures what it takes to come to a first answer, by the way to the model.

    python -m studies.first_call

Each row is whole `mas-run` processes, of one agent whose model answers at once on this machine.
Modules are compiled before, as they are where pip installed them or a second process runs.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from coterie.runtime.doubles import ScriptedModel
from coterie.schema.command import Command

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WAYS: Mapping[str, tuple[str, str]] = {
    # way: model string, variable with the address; an address of one's own needs none
    "an address": ("m@{address}", ""),
    "a provider, called directly": ("openai/m", "OPENAI_BASE_URL"),
    "a provider, through litellm": ("ovhcloud/m", "OVHCLOUD_API_BASE"),
}
HEAD = ("way", "wall s", "CPU s", "peak RSS MB")
MAS_RUN = "from coterie.runtime.command.run import main; main()"


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """What a process took.

    Attributes:
        wall: Seconds from its start to its end.
        cpu: Seconds of the processor.
        peak: Memory at most, in MB.
    """

    wall: float
    cpu: float
    peak: float


def measured(way: str, address: str, compiled: str | None = None) -> Cost:
    """Run a team of one agent in a process of its own.

    Args:
        way: One of `WAYS`.
        address: Where the model answers, up to and with `/v1`.
        compiled: The folder for compiled modules; None for wherever Python has them.

    Raises:
        RuntimeError: It came to no answer.
    """
    model, variable = WAYS[way]
    environment = {**os.environ, "OPENAI_API_KEY": "none", "OVHCLOUD_API_KEY": "none"}
    environment |= {variable: address} if variable else {}
    if compiled:
        environment |= {"PYTHONPYCACHEPREFIX": compiled, "PYTHONDONTWRITEBYTECODE": ""}
    arguments = ("seed:direct", "-q", "Hello?", "--quiet", "--model", model.format(address=address))
    with TemporaryDirectory() as folder:
        started = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-c", MAS_RUN, *arguments],
            cwd=folder,
            env={**environment, "MAS_HOME": folder},
            stdout=subprocess.DEVNULL,
        )
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{way}: exit code {process.returncode}")
    peak = used.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
    return Cost(wall=wall, cpu=used.ru_utime + used.ru_stime, peak=peak)


def _row(way: str, runs: int, address: str, compiled: str) -> Sequence[str]:
    measured(way, address, compiled)  # compiles what it imports
    costs = [measured(way, address, compiled) for _ in range(runs)]
    medians = [statistics.median(getattr(cost, name) for cost in costs) for name in ("wall", "cpu")]
    peak = statistics.median(cost.peak for cost in costs)
    return (way, *(f"{median:.1f}" for median in medians), f"{peak:.0f}")


@click.command(cls=Command)
@click.option("--runs", default=3, show_default=True, help="How many processes per way.")
def main(runs: int) -> None:
    """Measure the way to a first answer, as a table in Markdown."""
    click.echo(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    with ScriptedModel("Hello.") as model, TemporaryDirectory() as compiled:
        for way in WAYS:
            click.echo(f"| {' | '.join(_row(way, runs, model.api_base, compiled))} |")


if __name__ == "__main__":
    main()
