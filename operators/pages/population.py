"""A population of agents: their competence, leaders, teaching, and archives."""

from __future__ import annotations

from collections.abc import Sequence

from ...pool.command.agents import agent_facts
from ...pool.command.population import (
    AGENTS,
    EVENTS,
    NICHES,
    agent_rows,
    flow_rows,
    lifecycle_rows,
    niche_rows,
    summary_lines,
)
from ...pool.population.evolutions import consumed, rates_of
from ...pool.population.signals import WINDOW, Signals, signals, specialization
from ...runtime.view import Links, Page, PageTable, TableCell
from ...runtime.view.plots import Plot, PlotPoint, Series
from .pool_source import PoolSource
from .templates import TEMPLATES

MOST_ENTRIES = 200
REVISIONS = {"revision": ">", "what": "<", "why": "<", "operation": "<"}


def population_page(source: PoolSource, links: Links) -> Page:
    """Return the page of a pool's agents."""
    pool = source.pool
    of: Signals = source.once("signals", lambda: signals(source.entries, rates_of(source.folder)))
    heads, flow = flow_rows(of)
    return TEMPLATES.page(
        "Population",
        "population.html",
        links,
        summary=[*summary_lines(of, consumed(source.folder), window=WINDOW, single=None)],
        agents=PageTable(
            caption="Agents",
            heads=AGENTS,
            rows=[_linked(row, links) for row in agent_rows(pool, of, everyone=True)],
        ),
        niches=PageTable(caption="Niches", heads=NICHES, rows=niche_rows(of)),
        plot=_index(of),
        flow=PageTable(
            caption="Who gave how much to whom",
            heads=heads,
            rows=flow,
            empty="nobody has given anything yet.",
        ),
        lifecycle=PageTable(
            caption="What became of the roster",
            heads=EVENTS,
            rows=lifecycle_rows(of.lifecycle),
        ),
    )


def _linked(row: Sequence[str], links: Links) -> Sequence[str | TableCell]:
    name, *others = row
    return (TableCell(name, links.to("", f"agent/{name.removesuffix(' (retired)')}")), *others)


def _index(of: Signals) -> Plot:
    """Return the plot of how much the anchor depends on the niche."""
    values = specialization(of.worked)
    first = len(of.worked) - len(values) + 1
    points = [PlotPoint(x=first + place, y=value) for place, value in enumerate(values)]
    return Plot(
        caption="Specialization index over tasks",
        x="task",
        y="specialization",
        y_range=(0.0, 1.0),
        series=[Series(name="specialization", points=points, is_line=True)],
    )


def agent_page(source: PoolSource, name: str, links: Links) -> Page:
    """Return the page of an agent."""
    pool = source.pool
    agent = pool.all_agents[name]
    archive = pool.learnt.archive(name)
    return TEMPLATES.page(
        f"Agent {name}",
        "agent.html",
        links,
        name=name,
        retired=agent.retired,
        facts="\n".join(agent_facts(agent, pool)),
        prompt=agent.agent.prompt or "",
        revisions=PageTable(
            caption="Its revisions",
            heads=REVISIONS,
            rows=[
                (
                    str(number),
                    "; ".join(revision.edits)[:2000],
                    revision.reason[:2000],
                    revision.op,
                )
                for number, revision in enumerate(agent.revisions)
            ],
        ),
        archive=[(entry.kind, entry.niche or "", entry.text) for entry in archive[-MOST_ENTRIES:]],
        more=max(0, len(archive) - MOST_ENTRIES),
    )
