"""Teams that are equal up to the names and the order of their agents, and those that are not."""

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.pool import are_isomorphic, identity_of
from coterie.schema import Agent, Execution, Lineage, Notes, SolvedTask, Team

from ...schema.strategies import teams
from ..edited_teams import edited, vote


def shuffled(team: Team, chance: random.Random) -> Team:
    """The same team with other names for its agents, and all in another order.

    Who is spoken of in a note is told apart by its name, so there are no notes on others.
    """

    def mixed(items: Any) -> list[Any]:
        return chance.sample(list(items), len(items))

    names = dict(zip(team.agents, mixed([f"x{n}" for n in range(len(team.agents))]), strict=True))
    agents = [
        replace(agent, id=names[agent.id], tools=tuple(mixed(agent.tools)))
        for agent in mixed(team.agents.values())
    ]
    edges = {
        names[u]: tuple(names[v] for v in mixed(receivers))
        for u, receivers in mixed(team.reports_to.items())
    }
    return replace(
        team,
        agents={agent.id: agent for agent in agents},
        reports_to=edges,
        declared_output=names[team.output],
    )


def without_notes(team: Team) -> Team:
    agents = {item: replace(agent, notes=Notes()) for item, agent in team.agents.items()}
    return replace(team, agents=agents)


def graph(*edges: str, agents: str) -> Team:
    """A team of agents that differ in nothing but their edges."""
    reports_to: dict[str, tuple[str, ...]] = {}
    for u, v in edges:
        reports_to[u] = (*reports_to.get(u, ()), v)
    members = {agent: Agent(id=agent, prompt="Solve it.") for agent in agents}
    return Team(name="t", agents=members, reports_to=reports_to, declared_output=agents[-1])


@given(teams(), st.randoms(use_true_random=False))
def test_any_team_is_the_twin_of_what_it_is_under_other_names(team: Team, chance: Any) -> None:
    team = without_notes(team)
    twin = shuffled(team, chance)
    assert identity_of(twin) == identity_of(team)
    assert are_isomorphic(team, twin)


@given(teams(), teams())
def test_twins_have_the_same_identity(team: Team, other: Team) -> None:
    assert are_isomorphic(team, other) == (identity_of(team) == identity_of(other))


def test_what_is_never_executed_makes_no_difference() -> None:
    team = vote()
    other = replace(
        team,
        name="other",
        description="Another text.",
        successful_tasks=(SolvedTask(q="?"),),
        lineage=Lineage(operator="mutate"),
    )
    assert identity_of(other) == identity_of(team)
    assert are_isomorphic(team, other)


@pytest.mark.parametrize(
    "other",
    [
        edited(vote(), "w1", prompt="Solve it well."),
        edited(vote(), "judge", prompt="Solve it."),
        edited(vote(), "w1", max_tokens=7),
        edited(vote(), "w1", tools=("read_file",)),
        vote("Solve it.", "Solve it twice.", "Solve it."),
        replace(vote(), constitution="Be brief."),
        replace(vote(), backend="function"),
        replace(vote(), execution=Execution(timeout=1)),
        replace(vote(), reports_to={"w1": ("w2",), "w2": ("judge",)}),
        replace(vote(), declared_output="w1"),
    ],
)
def test_whatever_is_executed_makes_a_difference(other: Team) -> None:
    assert identity_of(other) != identity_of(vote())
    assert not are_isomorphic(vote(), other)


def knowing(team: Team, **known: str) -> Team:
    """The team with a judge that has notes on others."""
    return edited(team, "judge", notes=Notes(teammates=known), member="ada")


def test_whom_a_note_is_about_makes_a_difference() -> None:
    known = knowing(vote("Solve it.", "Guess."), w1="Slow.")
    assert identity_of(known) == identity_of(edited(known, "judge", member=None))
    other = knowing(vote("Guess.", "Solve it."), w1="Slow.")
    assert identity_of(known) != identity_of(other)
    assert not are_isomorphic(known, other)
    notes = Notes(pairs={"w1": "Ask first."}, taught={"pairs/w1": "t_1"})
    paired = edited(known, "judge", notes=notes)
    assert identity_of(paired) == identity_of(edited(paired, "judge", notes=notes.untaught))
    assert identity_of(paired) != identity_of(edited(other, "judge", notes=notes))
    assert identity_of(vote("Solve it.", "Guess.")) == identity_of(vote("Guess.", "Solve it."))


def test_numbers_are_equal_however_they_are_written() -> None:
    assert identity_of(edited(vote(), timeout=60.0)) == identity_of(edited(vote(), timeout=60))


TWO_RINGS = graph("ag", "ah", "bh", "bi", "ci", "cg", "dj", "dk", "ek", "el", "fl", "fj",
            "gm", "hm", "im", "jm", "km", "lm", agents="abcdefghijklm")  # fmt: skip
ONE_RING = graph("ag", "ah", "bh", "bi", "ci", "cj", "dj", "dk", "ek", "el", "fl", "fg",
               "gm", "hm", "im", "jm", "km", "lm", agents="abcdefghijklm")  # fmt: skip
"""Two rings of three senders and three receivers each, and one ring of six and six: every agent has
the same neighbours in both, so that only a look at the whole tells them apart."""


def test_graphs_that_colours_cannot_tell_apart_are_told_apart_all_the_same() -> None:
    assert identity_of(TWO_RINGS) == identity_of(ONE_RING)
    assert not are_isomorphic(TWO_RINGS, ONE_RING)
    for ring in (TWO_RINGS, ONE_RING):
        for seed in range(5):
            assert are_isomorphic(ring, shuffled(ring, random.Random(seed)))


def test_a_search_that_takes_too_long_ends_with_no(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coterie.pool.values.identity.MOST_STEPS", 1)
    assert are_isomorphic(TWO_RINGS, TWO_RINGS)
    assert not are_isomorphic(TWO_RINGS, ONE_RING)


def test_large_teams_take_no_time() -> None:
    chain = [Agent(id=f"a{n}", prompt="Solve it.") for n in range(256)]
    team = Team(
        name="chain",
        agents={agent.id: agent for agent in chain},
        reports_to={f"a{n}": (f"a{n + 1}",) for n in range(255)},
    )
    assert are_isomorphic(team, shuffled(team, random.Random(1)))
