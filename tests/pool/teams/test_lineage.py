"""Where teams come from, and who set their fields."""

from dataclasses import replace
from pathlib import Path

import pytest

from coterie.pool import Pool, ancestors, blame, descendants, steps_to, verify
from coterie.schema import Execution, Lineage, Team

from ..edited_teams import child_of, edited, pool_of, vote


@pytest.fixture
def pool(tmp_path: Path) -> Pool:
    """Two seeds; vote_1 and vote_2 in a line below one, vote_3 crossed with the other."""
    pool = pool_of(
        tmp_path, vote(), vote("Guess.", "Check.", name="guess", constitution="Be brief.")
    )
    child_of(pool, "vote", max_tokens=9)
    child_of(pool, "vote_1", prompt="Solve it well.")
    crossed = edited(
        replace(pool.teams["vote_2"].team, constitution="Be brief."), "w2", prompt="Check."
    )
    pool.add(crossed, Lineage(operator="crossover", parents=("vote_2", "guess")), op="cross")
    return pool


def origins(pool: Pool, name: str) -> dict[str, tuple[str, str]]:
    return {origin.field: (origin.team, origin.operator) for origin in blame(pool.teams, name)}


def add(pool: Pool, team: Team, *parents: str) -> str:
    return pool.add(team, Lineage(operator="mutate", parents=parents), op=f"{team}").name


def test_a_family_is_all_that_a_team_was_made_from_or_into(pool: Pool) -> None:
    assert list(ancestors(pool.teams, "vote_3")) == ["vote", "guess", "vote_1", "vote_2", "vote_3"]
    assert list(ancestors(pool.teams, "vote_1")) == ["vote", "vote_1"]
    assert list(descendants(pool.teams, "vote_1")) == ["vote_1", "vote_2", "vote_3"]
    assert list(descendants(pool.teams, "guess")) == ["guess", "vote_3"]


def test_each_field_is_of_the_team_that_had_it_first(pool: Pool) -> None:
    assert origins(pool, "vote_3") == {
        "constitution": ("guess", "seed"),
        "agents.w1.prompt": ("vote_2", "mutate"),
        "agents.w1.max_tokens": ("vote_1", "mutate"),
        "agents.w2.prompt": ("guess", "seed"),
        "agents.judge.prompt": ("vote", "seed"),
        "topology.reports_to.w1": ("vote", "seed"),
        "topology.reports_to.w2": ("vote", "seed"),
    }
    assert {team for team, _ in origins(pool, "guess").values()} == {"guess"}


def test_a_field_that_is_set_back_was_set_again(pool: Pool) -> None:
    there = child_of(pool, "vote", temperature=0.5, max_tokens=77)
    back = child_of(pool, there, temperature=None)
    again = child_of(pool, back, temperature=0.5, max_tokens=78)
    assert origins(pool, again)["agents.w1.temperature"] == (again, "mutate")
    assert "agents.w1.temperature" not in origins(pool, back)


def test_another_name_for_an_agent_changes_no_origin(pool: Pool) -> None:
    """But the edges that name it are written anew only where they differ in more."""
    base = pool.teams["vote_2"].team
    agents = {"chief" if item == "judge" else item: agent for item, agent in base.agents.items()}
    renamed = replace(
        base,
        agents={item: replace(agent, id=item) for item, agent in agents.items()},
        reports_to={"w1": ("chief",), "w2": ("chief",)},
        execution=Execution(timeout=5),
    )
    name = add(pool, renamed, "vote_2")
    fields = origins(pool, name)
    assert fields["agents.chief.prompt"] == ("vote", "seed")
    assert fields["topology.reports_to.w1"] == ("vote", "seed")
    assert fields["execution.timeout"] == (name, "mutate")


def test_an_agent_that_takes_the_name_of_one_that_left_brings_its_own_past(pool: Pool) -> None:
    base = pool.teams["vote_2"].team
    agents = {"w1": replace(base.agents["w2"], id="w1"), "judge": base.agents["judge"]}
    smaller = replace(base, agents=agents, reports_to={"w1": ("judge",)}, declared_output="judge")
    name = add(pool, smaller, "vote_2")
    fields = origins(pool, name)
    assert fields["agents.judge.prompt"] == ("vote", "seed")
    assert fields["topology.output"] == (name, "mutate")
    assert "agents.w2.prompt" not in fields


def test_each_field_is_filed_under_the_step_that_set_it(pool: Pool) -> None:
    """A team that was adapted and then mutated is by both, and so is what it is crossed into."""
    first, second = pool.teams["vote"].team, pool.teams["guess"].team
    fitted = edited(edited(first, prompt="Fit it."), "w2", prompt="Fit it, too.")
    fitting = steps_to(fitted, "instantiate", "It suits.", (first, ()))
    hotter = edited(edited(fitted, temperature=0.5), "w2", prompt="Hot.")
    heating = steps_to(hotter, "mutate", "It is cold.", (fitted, fitting))
    shorter = edited(second, "w2", max_tokens=7)
    cutting = steps_to(shorter, "instantiate", "It rambles.", (second, ()))
    both = edited(edited(hotter, "w2", max_tokens=7, prompt="Check."), max_steps=3)
    steps = steps_to(both, "crossover", "Both.", (hotter, heating), (shorter, cutting))
    assert [(step.operator, step.fields) for step in steps] == [
        ("instantiate", ("agents.w1.prompt",)),
        ("mutate", ("agents.w1.temperature",)),
        ("instantiate", ("agents.w2.max_tokens",)),
        ("crossover", ("agents.w1.max_steps",)),
    ]
    assert steps[1].edits[0] == "w1: temperature none -> 0.5"
    born = Lineage(operator="crossover", parents=("vote", "guess"), steps=steps)
    name = pool.add(both, born, op="stepwise").name
    again = Pool.open(pool.folder)
    assert again.teams[name].team.lineage == again.teams[name].lineage
    assert origins(again, name) == {
        "agents.w1.prompt": (name, "instantiate"),
        "agents.w1.max_steps": (name, "crossover"),
        "agents.w1.temperature": (name, "mutate"),
        "agents.w2.prompt": ("guess", "seed"),
        "agents.w2.max_tokens": (name, "instantiate"),
        "agents.judge.prompt": ("vote", "seed"),
        "topology.reports_to.w1": ("vote", "seed"),
        "topology.reports_to.w2": ("vote", "seed"),
    }
    assert verify(pool.folder).faults == ()


def test_a_step_that_both_sources_took_is_told_once(pool: Pool) -> None:
    base = pool.teams["vote"].team
    fitted = edited(edited(base, prompt="Fit it."), "w2", prompt="Fit it, too.")
    fitting = steps_to(fitted, "instantiate", "", (base, ()))
    item, other = edited(fitted, prompt="One."), edited(fitted, "w2", prompt="Other.")
    sources = [(team, steps_to(team, "mutate", "", (fitted, fitting))) for team in (item, other)]
    child = edited(fitted, max_tokens=9)
    report = steps_to(child, "crossover", "", *sources)
    assert [(step.operator, step.fields) for step in report] == [
        ("instantiate", ("agents.w1.prompt", "agents.w2.prompt")),
        ("mutate", ()),
        ("mutate", ()),
        ("crossover", ("agents.w1.max_tokens",)),
    ]


def test_a_single_step_needs_no_list(pool: Pool) -> None:
    child = edited(vote(), max_tokens=55)
    steps = steps_to(child, "mutate", "Short.", (pool.teams["vote"].team, ()))
    born = Lineage(operator="mutate", parents=("vote",), steps=steps)
    assert pool.teams[pool.add(child, born, op="single").name].lineage.steps == ()


def test_long_lines_of_descent_are_followed(tmp_path: Path) -> None:
    pool = pool_of(tmp_path, vote())
    name = "vote"
    for number in range(1, 60):
        name = child_of(pool, name, max_tokens=number)
    assert len(ancestors(pool.teams, name)) == 60
    assert origins(pool, name)["agents.w1.max_tokens"] == (name, "mutate")
    assert origins(pool, name)["agents.judge.prompt"] == ("vote", "seed")
