"""What an episode tells of a case, whatever a model says of it."""

from pathlib import Path

from coterie.operators.evolution.context import EvolutionContext
from coterie.operators.evolution.evolution import Evolution
from coterie.operators.routing import ROUTED, Case, cases_of
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.doubles.script import Request
from coterie.schema.team.task import Task

from ...building import MATTRL, recipe
from ...consulting import FORGETFUL, doctors
from ...evolution.test_episode import done
from ...evolving import asked

SOLO = 'name: solo\nagents:\n  alone: {prompt: "You are [alone]."}\n'


def confused(request: Request) -> Reply:
    """Whoever gauges gives no numbers."""
    is_gauging = "complexity" in asked(request)
    return Reply.json({"complexity": "very"}) if is_gauging else doctors(request)


def test_a_gauging_of_no_use_is_counted_and_the_case_has_what_is_counted(tmp_path: Path) -> None:
    tasks = [Task(id=f"c{n}", query=f"What is {n} + {7 - n}?", answer="7") for n in range(2)]

    async def learn(context: EvolutionContext) -> tuple[list[str], tuple[Case, ...]]:
        result = Evolution(
            context=context, strategy=MATTRL, tasks=tasks, folder=tmp_path / "evolution"
        )
        await result.to_the_end()
        lost = [item["operator"] for line in result.lines() for item in line["dropped"]]
        return lost, cases_of(context.view().events_of(ROUTED))

    with ScriptedModel(confused) as model:
        lost, cases = done(
            tmp_path, model.api_base, learn, recipe(route="solo"), pair=FORGETFUL, others=[SOLO]
        )
    assert lost == ["gauge", "gauge"]
    assert [item.task for item in cases] == ["c0", "c1"]
    for case in cases:
        assert "complexity" not in case.features
        assert case.features["numbers"] == 2
        assert case.gauging.calls == 2
