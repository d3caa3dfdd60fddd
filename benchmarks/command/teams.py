"""`mas-bench vote` and `equip`: write teams to compare with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ...schema.command import Command, catalogue_of, name_options, problem_format
from ...schema.values.errors import InputError
from .options import RESULTS_FOLDER


@click.command("vote", cls=Command)
@click.argument("team_file", metavar="TEAM")
@click.option("-k", "k", type=click.IntRange(2, 200), help="How many copies vote.")
@click.option("--single", type=RESULTS_FOLDER, help="With --match: the results of TEAM alone.")
@click.option(
    "--match",
    type=RESULTS_FOLDER,
    help="Choose K to match the tokens of these results, or of POOL/evolutions/NAME.",
)
@click.option(
    "--temperature",
    type=click.FloatRange(0, 2),
    default=0.7,
    show_default=True,
    help="The temperature of the copies.",
)
@name_options
@problem_format
def vote(
    team_file: str,
    k: int | None,
    single: Path | None,
    match: Path | None,
    temperature: float,
    **host: Any,
) -> None:
    """Write a team of K copies of TEAM's only agent, and an exact vote over their answers.

    The team goes to standard output, as in: mas-bench vote seed:direct -k 7 > vote_7.yaml
    """
    from ...pool.teams.sources import load_source
    from ...schema import dump
    from ..evaluation.baselines import matching, vote_of

    if single is not None and match is not None and k is None:
        k = matching(single, match)
    elif k is None or single is not None or match is not None:
        raise InputError(
            "set the number with -k, or match the tokens of results: --single and --match."
        )
    team = load_source(team_file, catalogue_of(host))
    click.echo(dump(vote_of(team, k, temperature=temperature)), nl=False)


@click.command("equip", cls=Command)
@click.argument("name", metavar="BENCHMARK")
@click.argument("team_file", metavar="TEAM")
@name_options
@problem_format
def equip(name: str, team_file: str, **host: Any) -> None:
    """Write TEAM with the tools of BENCHMARK granted to each agent that can use tools.

    The team goes to standard output: mas-bench equip workbench seed:single_agent > single.yaml
    """
    from ...pool.teams.sources import load_source
    from ...schema import dump
    from ..evaluation.baselines import equipped
    from ..evaluation.benchmark import find_benchmark

    tools = find_benchmark(name).tools
    if not tools:
        raise InputError(f"{name} has no tools.")
    team = load_source(team_file, catalogue_of(host))
    click.echo(dump(equipped(team, tools)), nl=False)
