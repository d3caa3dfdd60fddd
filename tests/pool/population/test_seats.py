"""The best of a pool whose agents work is its population, never a structure that they sit in."""

import json
from pathlib import Path

import pytest

from coterie.pool import Pool, most_promising
from coterie.pool.command import main
from coterie.pool.ledger.changes import Added, Evaluated
from coterie.pool.values.statistics import Trial, TrialPart
from coterie.schema import Agent, InputError, Lineage, dump

from ...support.commands import ran
from ..edited_teams import scored, vote

STRUCTURE = "seed:seats_voting"


@pytest.fixture
def town(tmp_path: Path) -> Pool:
    """A population whose teams scored 1, 1 and 0."""
    pool = Pool.init(tmp_path / "town", [STRUCTURE])
    for name in ("ada", "ben", "cleo"):
        agent = Agent(id=name, prompt="Solve it.")
        pool.commit(
            Added(member=agent, lineage=Lineage(operator="genesis"), name=name), op=f"born {name}"
        )
    for number, score in enumerate((1.0, 1.0, 0.0)):
        parts = {"anchor": TrialPart(member="ada"), "complement": TrialPart(member="ben")}
        trial = Trial(task=f"t{number}", score=score, structure="voting", agents=parts)
        pool.commit(Evaluated(member="voting", trial=trial), op=f"trial {number}")
    return pool


def test_the_best_of_a_town_is_the_town(town: Pool) -> None:
    done = ran(main, "best", town.folder)
    assert (done.exit_code, done.stdout) == (0, f"{town.folder}\n")
    assert done.stderr.startswith("a population of 3 agents: 0.667 [")
    assert "mas-evolve RECIPE TASKS --pool POOL --test FILE" in done.stderr
    report = json.loads(ran(main, "best", town.folder, "--json").stdout)
    assert (report["population"], report["n"], report["path"]) == (3, 3, str(town.folder))
    listed = ran(main, "list", town.folder).stdout
    assert "a population of 3 agents, whose structures are voting" in listed


def test_nobody_deploys_a_structure(town: Pool) -> None:
    with pytest.raises(InputError, match="it forms a team for each task"):
        most_promising(town)


def test_a_team_that_runs_by_itself_is_deployed_from_a_town(town: Pool, tmp_path: Path) -> None:
    file = tmp_path / "vote.yaml"
    file.write_text(dump(vote()))
    pool = Pool.init(town.folder, [file])
    scored(pool, "vote", 0.0)
    assert most_promising(pool)[0].name == "vote"
    assert ran(main, "best", pool.folder).stdout == f"{pool.folder}\n"  # the town scored more


def test_where_no_agents_work_a_team_of_seats_is_a_team_like_others(tmp_path: Path) -> None:
    pool = Pool.init(tmp_path / "pool", [STRUCTURE])
    scored(pool, "voting", 1.0)
    assert most_promising(pool)[0].name == "voting"
    assert ran(main, "best", pool.folder).stdout.strip().endswith("voting.yaml")
