"""`mas-pool population`: the agents of a pool, and how they developed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from ...schema.command import Command, as_json
from ...schema.values.json_text import dumps
from ...schema.values.terminal import counted, on_one_line, with_interval
from ..population.evolutions import EvolutionUsage, consumed, rates_of
from ..population.population import RankingScore
from ..population.signals import WINDOW, Happened, Signals, by_chance, signals, specialization
from ..teams.pool import Pool
from .arguments import open_pool, pool_folder
from .figures import few, origin_of, table


def signals_value(pool: Pool, of: Signals, window: int) -> dict[str, Any]:
    """Return a population's development as plain values, over windows of `window` tasks."""
    population = of.population
    return {
        "rates": asdict(population.rates),
        "tasks": population.trials,
        "mean": population.mean,
        "agents": [
            _agent(pool, of, name, standing) for name, standing in population.everybody.items()
        ],
        "niches": {niche: _niche(of, niche) for niche in of.niches},
        "score": _accuracy(of, None),
        "specialization": index_value(of, window),
        "concentration": index_value(of, window, by_niche=False),
        "anchors": [worked.anchor for worked in of.worked],
        "unique_anchors": len({worked.anchor for worked in of.worked}),
        "flow": [
            {"giver": giver, "recipient": recipient, "entries": number}
            for (giver, recipient), number in of.flow.items()
        ],
        "lifecycle": [{"tasks": happened.tasks, **happened.about} for happened in of.lifecycle],
        "dreams": [{"tasks": dream.tasks, **dream.about} for dream in of.dreams],
    }


def _agent(pool: Pool, of: Signals, name: str, score: RankingScore) -> dict[str, Any]:
    agent = pool.agent(name)
    return {
        "agent": name,
        "operator": agent.lineage.operator,
        "parents": agent.lineage.parents,
        "retired": agent.retired,
        "tasks": score.total,
        "competence": {
            niche: {"q": score.q(niche), "n": score.n(niche), "led": score.anchored.get(niche, 0)}
            for niche in best_of(score)
        },
        "rolling": score.rolling,
        "lagging": score.lagging,
        "dominant": score.dominant,
        "own": of.own.get(name, 0),
        "given": of.shared.get(name, 0),
        "received": of.received.get(name, 0),
    }


def _niche(of: Signals, niche: str) -> dict[str, Any]:
    return {
        **_accuracy(of, niche),
        "anchors": of.anchors[niche],
        "structures": of.structures[niche],
    }


def _accuracy(of: Signals, niche: str | None) -> dict[str, Any]:
    mean, interval = of.accuracy(niche)
    return {"n": len(of.of(niche)), "mean": mean, "interval": interval}


def index_value(of: Signals, window: int, *, by_niche: bool = True) -> dict[str, Any]:
    """Return the specialisation index: how far leading depends on the niche, or on few agents."""
    index = specialization(of.worked, window, by_niche=by_niche)
    return {
        "window": min(window, len(of.worked)),
        "index": index,
        "mean": sum(index) / len(index) if index else None,
        "max": max(index, default=None),
        "by_chance": by_chance(of.worked, window, by_niche=by_niche),
    }


def tokens_value(spent: EvolutionUsage | None, single: float | None) -> dict[str, float] | None:
    """Return tokens per task, and their ratio to a single agent's."""
    if spent is None:
        return None
    parts = {"runs": spent.runs, "operators": spent.operators, "judging": spent.judging}
    each = {name: usage.tokens / spent.tasks for name, usage in parts.items()}
    factor = {} if single is None else {"single": single, "factor": spent.each / single}
    return {"all": spent.each, **each, **factor}


def best_of(score: RankingScore) -> Sequence[str]:
    """Return the niches of an agent, by the number of its tasks."""
    return sorted(score.competence, key=lambda niche: (-score.n(niche), -score.q(niche), niche))


AGENTS = {
    "agent": "<",
    "tasks": ">",
    "led": ">",
    "rolling": ">",
    "own": ">",
    "given": ">",
    "received": ">",
    "home": "<",
    "competence": "<",
    "origin": "<",
}
NICHES = {"niche": "<", "tasks": ">", "score": "<", "led by": "<", "structures": "<"}
EVENTS = {"tasks": ">", "what": "<", "agents": "<", "why": "<"}
MOST = 4
"""The maximum number of names in a cell."""
MOST_COLUMNS = 10
NONE = '""'


@click.command("population", cls=Command)
@pool_folder
@click.option("--all", "everyone", is_flag=True, help="Also show retired agents.")
@click.option(
    "--window",
    metavar="N",
    type=click.IntRange(min=1),
    default=WINDOW,
    show_default=True,
    help="How many tasks to use to measure specialization.",
)
@click.option(
    "--single",
    metavar="TOKENS",
    type=click.FloatRange(min=0, min_open=True),
    help="The tokens that a single agent uses on such a task, for comparison.",
)
@click.option("--evolution", metavar="NAME", help="Take the rates from this evolution's recipe.")
@as_json
def show_population(
    folder: Path, everyone: bool, evolution: str | None, as_json: bool, **how: Any
) -> None:
    """Show a population: which agent is good at what, who led, who taught whom.

    Computed from the ledger, with the rates of the recipe that evolved the pool.
    """
    pool = open_pool(folder)
    of = signals(pool.entries(), rates_of(folder, evolution))
    spent = consumed(folder)
    if as_json:
        tokens = tokens_value(spent, how["single"])
        fields = {**signals_value(pool, of, how["window"]), "tokens": tokens}
        click.echo(dumps(fields, indent=2))
        return
    parts = (
        _agents(pool, of, everyone),
        _niches(of),
        summary_lines(of, spent, **how),
        _flow(of),
        _timeline(of.lifecycle),
    )
    click.echo("\n\n".join("\n".join(lines) for part in parts if (lines := [*part])))


def _agents(pool: Pool, of: Signals, everyone: bool) -> Iterator[str]:
    yield from table(AGENTS, agent_rows(pool, of, everyone=everyone))


def agent_rows(pool: Pool, of: Signals, *, everyone: bool) -> Sequence[Sequence[str]]:
    """Return the table rows of agents, under `AGENTS`."""
    population = of.population
    shown = population.everybody if everyone else population.agents
    return [_row(pool, of, name, score) for name, score in shown.items()]


def _row(pool: Pool, of: Signals, name: str, ranking: RankingScore) -> Sequence[str]:
    return (
        name if name in of.population.agents else f"{name} (retired)",
        str(ranking.total),
        str(sum(ranking.anchored.values())),
        "-" if ranking.rolling is None else f"{ranking.rolling:.2f}",
        str(of.own.get(name, 0)),
        str(of.shared.get(name, 0)),
        str(of.received.get(name, 0)),
        "-" if ranking.dominant is None else ranking.dominant or NONE,
        _listed(
            (niche or NONE, f"{ranking.q(niche):.2f} ({ranking.n(niche)})")
            for niche in best_of(ranking)
        ),
        origin_of(pool.agent(name).lineage),
    )


def _niches(of: Signals) -> Iterator[str]:
    if rows := niche_rows(of):
        yield from table(NICHES, rows)


def niche_rows(of: Signals) -> Sequence[Sequence[str]]:
    """Return the table rows of niches, under `NICHES`."""
    rows: list[Sequence[str]] = []
    for niche in of.niches:
        tasks = len(of.of(niche))
        shares = ((name, f"{led / tasks:.0%}") for name, led in of.anchors[niche].items())
        structures = ((name, str(number)) for name, number in of.structures[niche].items())
        rows.append(
            (niche or NONE, str(tasks), _score(of, niche), _listed(shares), _listed(structures))
        )
    return rows


def summary_lines(
    of: Signals, spent: EvolutionUsage | None, *, window: int, single: float | None
) -> Iterator[str]:
    """Summarise a population in some lines.

    Args:
        window: The number of tasks to measure specialization over.
        single: The tokens of a single agent on one of these tasks.
    """
    population, rates = of.population, of.population.rates
    retired = len(population.everybody) - len(population.agents)
    yield (
        f"{counted(len(population.agents), 'agent')}, {retired} retired;"
        f" {counted(population.trials, 'task')}; competence begins at {rates.initial:g}, alpha"
        f" {rates.alpha:g}, beta {rates.beta:g}"
    )
    if not of.worked:
        return
    led = len({worked.anchor for worked in of.worked})
    yield f"score {_score(of)}; {led} of {len(population.everybody)} led"
    yield from _index("specialization", index_value(of, window))
    yield from _index("concentration", index_value(of, window, by_niche=False))
    yield _dreamt(of.dreams)
    if tokens := tokens_value(spent, single):
        factor = f": {tokens['factor']:.2f} times a single agent's" if single else ""
        yield (
            f"tokens per task {tokens['all']:.0f} (runs {tokens['runs']:.0f}, operators"
            f" {tokens['operators']:.0f}, judging {tokens['judging']:.0f}){factor}"
        )


def _index(name: str, of: Mapping[str, Any]) -> Iterator[str]:
    if of["index"]:
        yield (
            f"{name} {of['mean']:.3f}, at most {of['max']:.3f}, last {of['index'][-1]:.3f};"
            f" by chance {of['by_chance']:.3f}: windows of {of['window']} tasks"
        )


def _dreamt(dreams: Sequence[Happened]) -> str:
    abstained = sum(bool(dream.about.get("abstained")) for dream in dreams)
    insights = sum(dream.about.get("came", 0) for dream in dreams)
    return f"{counted(len(dreams), 'dream')}, {abstained} without an insight; {insights} insights"


def _flow(of: Signals) -> Iterator[str]:
    if not of.flow:
        return
    yield from table(*flow_rows(of))
    everybody = {name for pair in of.flow for name in pair}
    if hidden := len(everybody - {*_most(of.shared), *_most(of.received)}):
        yield f"and {counted(hidden, 'agent')} more: --json has all"


def flow_rows(of: Signals) -> tuple[Mapping[str, str], Sequence[Sequence[str]]]:
    """Return the table of lessons by giver and recipient, and its heads; most active first."""
    givers = _most(of.shared)
    recipients = _most(of.received)
    heads = {"giver > recipient": "<", **dict.fromkeys(recipients, ">"), "all": ">"}
    return heads, [
        (
            giver,
            *(str(of.flow.get((giver, recipient), 0) or "·") for recipient in recipients),
            str(of.shared[giver]),
        )
        for giver in givers
    ]


def _most(numbers: Mapping[str, int]) -> Sequence[str]:
    return sorted(numbers, key=lambda name: (-numbers[name], name))[:MOST_COLUMNS]


def _timeline(events: Sequence[Happened]) -> Iterator[str]:
    if rows := lifecycle_rows(events):
        yield from table(EVENTS, rows)


def lifecycle_rows(events: Sequence[Happened]) -> Sequence[Sequence[str]]:
    """Return the table rows of roster changes, under `EVENTS`."""
    return [
        (
            str(event.tasks),
            str(event.about.get("operator", "-")),
            ", ".join(map(str, event.about.get("agents", ()))),
            on_one_line(str(event.about.get("why", ""))),
        )
        for event in events
    ]


def _score(of: Signals, niche: str | None = None) -> str:
    return f"{with_interval(*of.accuracy(niche))} n={len(of.of(niche))}"


def _listed(items: Iterable[tuple[str, str]]) -> str:
    return few([" ".join(item) for item in items], MOST)
