"""The planner as a model, asked by teams with tools and without."""

from collections.abc import Sequence
from functools import partial
from typing import Any, cast

import pytest

from coterie.benchmarks.evaluation.benchmark import Source
from coterie.benchmarks.plancraft import CraftingWorld, read_published
from coterie.benchmarks.plancraft.tasks import PLANCRAFT
from coterie.runtime import run
from coterie.runtime.doubles import ScriptedModel
from coterie.schema import Agent, Team
from studies.plancraft.oracle_model import oracle_reply, plans_of
from studies.plancraft.reference import Played, Reference

PLANS = {
    "charcoal": ["smelt: from [I3] to [I9] with quantity 1"],
    "stick": [
        "move: from [I3] to [A1] with quantity 1",
        "move: from [0] to [I9] with quantity 4",
        "move: from [I9] to [A1] with quantity 1",
        "move: from [I9] to [B1] with quantity 1",
        "move: from [0] to [I10] with quantity 4",
    ],
    "diamond": ["impossible: "],
}


class KnowsPlans:
    """A reference whose planner finds these plans."""

    def play(
        self, world: CraftingWorld, *, impossible: bool, texts: Sequence[str] | None
    ) -> Played:
        assert texts is None
        return Played(said=PLANS[world.target], success=True, steps=len(PLANS[world.target]))


@pytest.mark.parametrize(
    ("agent_type", "tools"), [("LLM", ()), ("ToolCallingAgent", ("plancraft",))]
)
def test_any_team_does_as_the_planner(folder: Any, agent_type: str, tools: tuple[str, ...]) -> None:
    source = Source(data=folder)
    plans = plans_of("test", read_published(source), cast("Reference", KnowsPlans()))
    item = Agent(id="one", agent_type=agent_type, prompt="Play.", tools=tools)
    team = Team(name="one", agents={"one": item})
    with ScriptedModel(partial(oracle_reply, plans)) as model:
        done = [
            run(team, task, model=[f"m@{model.api_base}"]).score for task in PLANCRAFT.tasks(source)
        ]
    assert [(entry.value, entry.measures["steps"]) for entry in done if entry] == [
        (1, 1),
        (1, 5),
        (1, 1),
    ]


def test_what_is_no_task_of_it_is_an_error() -> None:
    request = {"messages": [{"role": "user", "content": "What is the time?"}]}
    assert oracle_reply({}, request) == oracle_reply({"other": ["hm"]}, request)
    assert oracle_reply({}, request).status == 404
