"""What a jail on a cluster costs against one here: `python -m studies.elsewhere`."""

from __future__ import annotations

import asyncio
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING

import click

from coterie.runtime.cluster.on import On
from coterie.runtime.cluster.opening import open_workers
from coterie.runtime.command.spending import on_option
from coterie.runtime.jail import Jails, Shell
from coterie.runtime.jail.scratch import ScratchFolder
from coterie.schema.command import Command

if TYPE_CHECKING:
    from collections.abc import Callable

FILES = 200
"""In the work folder, of a kilobyte each."""


@click.command(cls=Command)
@on_option
@click.option("--times", type=click.IntRange(min=1), default=30, show_default=True)
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    default=8,
    show_default=True,
    help="How many jails are in use at once where commands per second are counted.",
)
def main(on: str | None, times: int, threads: int) -> None:
    """Time jails of this machine, and those of a cluster if one is named."""
    click.echo("where    open+command+close   a command   commands/s")
    measured("here", Jails(), times, threads)
    if on is None:
        return
    begun = time.perf_counter()
    with closing(asyncio.run(open_workers(On.parse(on)))) as place:
        ready = time.perf_counter() - begun
        measured("there", Jails(place=place), times, threads)
    click.echo(f"the cluster was ready after {ready:.1f} s")


def measured(name: str, jails: Jails, times: int, threads: int) -> None:
    """Print a row: medians in milliseconds, and how many commands jails side by side carry."""
    with ScratchFolder("elsewhere", passable=True) as scratch:
        work = scratch.path / "work"
        work.mkdir()
        for number in range(FILES):
            (work / f"{number}.txt").write_text(f"{number:01024}", encoding="ascii")

        def whole() -> None:
            with jails.open(work) as jail:
                Shell(jail).run("true")

        whole()  # the first has to send all files
        opened = _median(whole, times)
        with jails.open(work) as jail:
            shell = Shell(jail)
            command = _median(lambda: shell.run("true"), times)
        rate = _rate(jails, times, threads)
    click.echo(f"{name:8} {opened * 1000:13.0f} ms {command * 1000:14.0f} ms {rate:12.0f}")


def _median(work: Callable[[], object], times: int) -> float:
    taken: list[float] = []
    for _ in range(times):
        begun = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken)


def _rate(jails: Jails, times: int, threads: int) -> float:
    def many() -> None:
        with ScratchFolder("elsewhere", passable=True) as scratch, jails.open(scratch.path) as jail:
            shell = Shell(jail)
            for _ in range(times):
                shell.run("true")

    begun = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        for future in [pool.submit(many) for _ in range(threads)]:
            future.result()
    return threads * times / (time.perf_counter() - begun)


if __name__ == "__main__":
    main()
