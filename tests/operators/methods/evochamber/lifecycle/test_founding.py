"""What a population begins with, and what is wrong with it before anything is spent."""

from pathlib import Path
from typing import Any

import pytest

from coterie.operators.evolution.context import EvolutionContext
from coterie.operators.methods.evochamber.lifecycle.founding import (
    begin,
    check,
    find,
    founders,
    suits,
)
from coterie.operators.methods.evochamber.settings import PopulationSettings
from coterie.pool.ledger.changes import Retired
from coterie.runtime.doubles import ScriptedModel
from coterie.schema import Catalogue, ConfigError, InputError
from coterie.schema.loading.recipe import Recipe

from ....asking import catalogue, llm, seed
from ....evolution.test_episode import answers, done

VOTING = seed("seats_voting")


def recipe(**settings: Any) -> Recipe:
    return Recipe(strategy="evochamber", settings=PopulationSettings(**settings))


def begun(folder: Path, of: Recipe, *, until: int | None = None) -> dict[str, str]:
    """Begin with a population, or with the first of it; give the agents' prompts by their names."""

    async def work(context: EvolutionContext) -> dict[str, str]:
        for number, change in enumerate([*begin(context)][:until]):
            context.pool.commit(change, op=f"{context.name}/begin/{number:03d}")
        return {name: agent.agent.prompt for name, agent in context.pool.agents.items()}

    with ScriptedModel(answers) as model:
        return done(folder, model.api_base, work, of)


def test_a_pool_begins_with_agents_that_are_all_alike(tmp_path: Path) -> None:
    agents = begun(tmp_path, recipe(pool_size=4))
    assert [*agents] == ["solver_1", "solver_2", "solver_3", "solver_4"]
    assert len(set(agents.values())) == 1
    assert agents["solver_1"].startswith("You are a helpful assistant.")


def test_after_a_crash_in_the_midst_of_it_all_of_them_are_there(tmp_path: Path) -> None:
    assert len(begun(tmp_path, recipe(pool_size=4), until=2)) == 2
    assert len(begun(tmp_path, recipe(pool_size=4))) == 4
    assert len(begun(tmp_path, recipe(pool_size=4))) == 4


def test_a_pool_that_has_agents_keeps_those_it_has(tmp_path: Path) -> None:
    async def work(context: EvolutionContext) -> list[str]:
        for number, change in enumerate(begin(context)):
            context.pool.commit(change, op=f"another/begin/{number:03d}")
        context.pool.commit(Retired(member="solver_2", reason="by hand"), op="by hand")
        assert [*begin(context)] == []
        return [*context.pool.agents]

    with ScriptedModel(answers) as model:
        assert done(tmp_path, model.api_base, work, recipe(pool_size=3)) == ["solver_1", "solver_3"]


def test_a_founder_of_ones_own_gives_the_agents_their_names(tmp_path: Path) -> None:
    (tmp_path / "doctor.yaml").write_text("prompt: You are a doctor.\nmodel_id: fast\n")
    settings = PopulationSettings(founder="doctor.yaml")
    item, *others = founders(settings, tmp_path, catalogue())
    assert (item.id, item.model_id, item.prompt) == ("doctor_1", "fast", "You are a doctor.")
    assert [other.id for other in others] == [f"doctor_{number}" for number in range(2, 21)]
    moved, files = find(settings, tmp_path, catalogue())
    assert moved == settings
    assert "You are a doctor." in files["doctor.yaml"]


def test_a_founder_that_does_not_load_is_refused(tmp_path: Path) -> None:
    (tmp_path / "odd.yaml").write_text("prompts: You are odd.\n")
    with pytest.raises(ConfigError, match="prompts"):
        find(PopulationSettings(founder="odd.yaml"), tmp_path, catalogue())
    with pytest.raises(InputError, match="there is no file"):
        find(PopulationSettings(founder="nobody.yaml"), tmp_path, catalogue())


def test_the_founder_that_comes_with_coterie_is_kept_whole() -> None:
    settings, files = find(PopulationSettings(), Path(), Catalogue.of_host())
    assert settings.founder == "solver.yaml"
    assert "helpful assistant" in files["solver.yaml"]


@pytest.mark.parametrize(
    ("record", "field", "fix"),
    [
        ({"pool_size": 2}, "pool_size", "Make pool_size at least 3, or team_size smaller."),
        ({"pool_size": 2, "team_size": 4}, "team_size", "at least 4"),
        ({"pool_size": 41}, "pool_size", "Make largest at least 41, or pool_size smaller."),
        ({"largest": 12}, "largest", "at least 20"),
    ],
)
def test_numbers_that_contradict_each_other(record: dict[str, Any], field: str, fix: str) -> None:
    ((name, message),) = check(PopulationSettings(**record), record).items()
    assert name == field
    assert fix in message


def test_a_structure_is_one_of_the_pool() -> None:
    agents = [llm(f"solver_{number}") for number in range(3)]
    assert suits(PopulationSettings(structure="voting"), [VOTING], agents) == {}
    assert suits(PopulationSettings(structure="votin"), [VOTING], agents) == {
        "structure": "the pool has no structure 'votin'. Did you mean 'voting'?"
    }
    assert "Known: leader, voting." in str(
        suits(PopulationSettings(structure="senate"), [VOTING], agents)
    )
