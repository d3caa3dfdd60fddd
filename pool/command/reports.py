"""`mas-pool list`, `show` and `best`: reports on teams."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from ...schema.command import Command, as_json
from ...schema.values.errors import InputError
from ...schema.values.json_text import dumps
from ...schema.values.terminal import counted, on_one_line, speakable, with_interval
from ..expectation.expectation import POPULATION, Expectation
from ..ledger.members import Member
from ..population.seats import structures_of
from ..teams.pool import Pool
from ..values.statistics import Statistics
from .agents import agent_facts, agent_json, archive_json
from .arguments import Tasks, of_tasks, open_pool, pool_folder
from .figures import (
    cost,
    few,
    lineage_value,
    made_by,
    named,
    origin_of,
    score,
    statistics_value,
    table,
)
from .learnt import entry_facts, entry_json

COLUMNS = {
    "team": "<",
    "expected": ">",
    "score": ">",
    "95 %": "<",
    "n": ">",
    "adapted": ">",
    "won": ">",
    "failed": ">",
    "$ each": ">",
    "tokens": ">",
    "made by": "<",
    "niches": "<",
}
MOST_NICHES = 3


@click.command("list", cls=Command)
@pool_folder
@of_tasks
@click.option("--all", "everyone", is_flag=True, help="Show retired teams, too.")
@click.option("--rejections", is_flag=True, help="Show the rejected children, and why.")
@as_json
def show_list(folder: Path, everyone: bool, rejections: bool, as_json: bool, **of: Any) -> None:
    """List the teams of a pool, the best first.

    The expected score of a team is estimated from its own trials and those of related teams, with a
    95 % interval. The mean is that of its own trials alone, with Wilson's interval. That mean
    leaves out two kinds of trials: the one for which the team entered the pool (won), and those in
    which it was first adapted to the task (adapted). The order also counts won trials, which are
    too high but come first. The cost of an evaluation is the mean over all runs, failed ones
    included.
    """
    pool, tasks = open_pool(folder), Tasks(**of)
    ranked = tasks.ranked(pool).items()
    shown = [
        (expectation, expected)
        for expectation, expected in ranked
        if everyone or expectation.retired is None
    ]
    dropped = [*_rejections(pool)] if rejections else []
    if as_json:
        counts = {"rejected": dict(pool.rejections), "twins": dict(pool.duplicates)}
        fields = {
            "teams": [_value(member, tasks, expected) for member, expected in shown],
            **counts,
        }
        click.echo(dumps({**fields, "dropped": dropped} if rejections else fields, indent=2))
        return
    lines = table(COLUMNS, [team_row(member, tasks, expected) for member, expected in shown])
    click.echo("\n".join([*lines, "", on_one_line(summary_line(pool)), *map(_rejection, dropped)]))


@click.command("show", cls=Command)
@pool_folder
@click.argument("name", metavar="NAME")
@of_tasks
@as_json
def show(folder: Path, name: str, as_json: bool, **of: Any) -> None:
    """Show a team or an agent, or an entry of the memory by its id.

    Shows why a team or an agent exists, and its scores in each niche; or the source of an entry.
    """
    pool, tasks = open_pool(folder), Tasks(**of)
    if (entry := pool.learnt.get(name)) is not None:
        text = dumps(entry_json(entry, pool), indent=2)
        click.echo(text if as_json else "\n".join(map(speakable, entry_facts(entry, pool))))
        return
    if name in pool.all_agents:
        agent = pool.agent(name)
        text = dumps({**agent_json(agent), "archive": archive_json(agent, pool)}, indent=2)
        click.echo(text if as_json else "\n".join(map(speakable, agent_facts(agent, pool))))
        return
    member = pool.member(name)
    expected = tasks.ranked(pool)[member]
    if as_json:
        click.echo(_json(member, tasks, expected))
    else:
        click.echo("\n".join(map(speakable, _description(pool, member, tasks, expected))))


@click.command("best", cls=Command)
@pool_folder
@of_tasks
@click.option(
    "--at-least",
    metavar="N",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Leave out teams with fewer evaluations of their current version.",
)
@as_json
def best(folder: Path, at_least: int, as_json: bool, **of: Any) -> None:
    """Print the path of the best team, as in: mas-run $(mas-pool best POOL) task.json.

    It is the first team of mas-pool list, and the one that mas-evolve would deploy. Of two equal
    teams, the parent counts as better, then the cheaper one. Its expected score, with an interval,
    goes to standard error. A population, whose agents take the seats of a structure for each task,
    has no best team: prints the path of the pool.
    """
    pool, tasks = open_pool(folder), Tasks(**of)
    structures = structures_of(pool)
    members = {
        member: expected
        for member, expected in tasks.ranked(pool).items()
        if member.retired is None and (member.name not in structures or tasks(member).trials)
    }
    candidates = [member for member in members if tasks(member).n >= at_least]
    if not candidates or not any(tasks(member).trials for member in members):
        niches = sorted({niche for member in members for niche in member.niches_of(tasks.split)})
        wanted = counted(max(1, at_least), "evaluation")
        raise InputError(
            f"no team in {folder} has {wanted} on {tasks}. Its niches:"
            f" {', '.join(niches) or 'none'}."
        )
    first, expected = candidates[0], members[candidates[0]]
    if first.name in structures:
        _show_town(pool, tasks, as_json=as_json)
    elif as_json:
        click.echo(_json(first, tasks, expected))
    else:
        text = f"{first.name}: expected {expected}; {score(tasks(first))}"
        click.echo(text, err=True)
        click.echo(first.path)


def _show_town(pool: Pool, tasks: Tasks, *, as_json: bool) -> None:
    """Print a population as the best of its pool, with its agents' common score."""
    from ..population.population import Rates
    from ..population.signals import signals

    of = signals(pool.entries(), Rates())
    n, (mean, interval) = len(of.of(tasks.niche)), of.accuracy(tasks.niche)
    if as_json:
        value = {"population": len(pool.agents), "n": n, "score": mean, "interval": interval}
        click.echo(dumps({**value, "path": str(pool.folder)}, indent=2))
        return
    agents = counted(len(pool.agents), "agent")
    line = f"a population of {agents}: {with_interval(mean, interval)} n={n}; {POPULATION}"
    click.echo(line, err=True)
    click.echo(pool.folder)


def team_row(member: Member, tasks: Tasks, expected: Expectation) -> Sequence[str]:
    """Return the table row of a team, under `COLUMNS`."""
    own = tasks(member)
    low, high = own.interval
    _, tokens = own.cost
    return (
        named(member),
        str(expected),
        "-" if own.score is None else f"{own.score:.3f}",
        "-" if own.score is None else f"{low:.3f} to {high:.3f}",
        str(own.n),
        _adapted(own) or "-",
        str(own.chosen),
        str(own.failures),
        cost(own),
        f"{tokens:.0f}" if math.isfinite(tokens) else "-",
        made_by(member.lineage),
        _by_niche(member.niches_of(tasks.split)),
    )


def _by_niche(niches: Mapping[str, Statistics]) -> str:
    """List the niches with most evaluations of a team."""
    ranked = sorted(niches.items(), key=lambda item: (-item[1].n, item[0]))
    texts = [f"{name} {own.score or 0:.2f} ({own.n})" for name, own in ranked if own.n]
    return few(texts, MOST_NICHES)


def summary_line(pool: Pool) -> str:
    """Count the teams of a pool, and its rejected children."""
    texts = [counted(len(pool.members), "team"), f"{len(pool.teams) - len(pool.members)} retired"]
    for what, by_operator in {
        "rejected": pool.rejections,
        "there already": pool.duplicates,
    }.items():
        listed = ", ".join(f"{name} {number}" for name, number in sorted(by_operator.items()))
        total = f"children {what}: {sum(by_operator.values())}"
        texts.append(f"{total} ({listed})" if listed else total)
    if structures := sorted(structures_of(pool)):
        agents = counted(len(pool.agents), "agent")
        texts.append(f"a population of {agents}, whose structures are {', '.join(structures)}")
    return "; ".join(texts)


def _rejections(pool: Pool) -> Iterator[Mapping[str, Any]]:
    return (entry.value for entry in pool.entries() if entry.value["kind"] == "rejected")


def dropped_lines(pool: Pool) -> Iterator[str]:
    """Yield the reason for each rejected child."""
    return map(_rejection, _rejections(pool))


def _rejection(child: Mapping[str, Any]) -> str:
    parents = " and ".join(child.get("parents", ())) or "nothing"
    report = [child.get("reason", ""), *child.get("problems", ())]
    why = "; ".join(item.rstrip(".") for item in report)
    return on_one_line(f"rejected: {child['operator']} of {parents}: {why}")


def _description(pool: Pool, member: Member, tasks: Tasks, expected: Expectation) -> Iterator[str]:
    own = tasks(member)
    yield f"{member.name}: {score(own)}"
    yield f"  expected  {expected}"
    for name, text in _facts(pool, member, own):
        if text:
            yield f"  {name:<9} {on_one_line(text)}"
    for niche, inside in member.niches_of(tasks.split).items():
        yield f"  niche     {on_one_line(niche)}: {score(inside)}"


def _facts(pool: Pool, member: Member, statistics: Statistics) -> Iterator[tuple[str, str]]:
    lineage, team = member.lineage, member.team
    yield "file", str(member.path)
    yield "retired", member.retired or ""
    yield "made by", origin_of(lineage)
    yield "task", lineage.task
    yield "run", lineage.run
    yield "why", lineage.reason
    yield from (("edit", edit) for edit in lineage.edits)
    for step in lineage.steps:
        yield "step", f"{step.operator}: {'; '.join([*step.edits, step.reason]).rstrip('; ')}"
    children = (item.name for item in pool.teams.values() if member.name in item.lineage.parents)
    yield "children", ", ".join(children)
    yield "agents", f"{len(team.agents)}, with {counted(len(team.edges), 'edge')}"
    yield "spent", f"{statistics.usage.tokens} tokens, {statistics.usage.cost}"
    yield "failed", counted(statistics.failures, "run") if statistics.failures else ""
    yield "adapted", _adapted(statistics)
    yield "won", _won(statistics)


def _adapted(statistics: Statistics) -> str:
    """Describe a team's scores on tasks that it was adapted to, with their number."""
    if not statistics.adapted:
        return ""
    return f"{statistics.adapted_sum / statistics.adapted:.3f} ({statistics.adapted})"


def _won(statistics: Statistics) -> str:
    """Describe the trials for which a team was admitted to the pool."""
    if not statistics.chosen:
        return ""
    won = counted(statistics.chosen, "trial")
    mean = statistics.chosen_sum / statistics.chosen
    return f"{won}, score {mean:.3f}, which admitted it to the pool: not in its mean"


def _json(member: Member, tasks: Tasks, expected: Expectation) -> str:
    return dumps({**_value(member, tasks, expected), "path": str(member.path)}, indent=2)


def _value(member: Member, tasks: Tasks, expected: Expectation) -> dict[str, Any]:
    niches = member.niches_of(tasks.split)
    return {
        **lineage_value(member),
        "expected": expected.score,
        "expected_interval": [expected.low, expected.high],
        **statistics_value(tasks(member)),
        "niches": {name: statistics_value(own) for name, own in niches.items()},
    }
