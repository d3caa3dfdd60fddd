"""A single agent or the team: both work on what is learnt from; a router chooses in a test."""

from pathlib import Path
from typing import Any

import pytest

from coterie.operators.evolution.context import EvolutionContext
from coterie.operators.evolution.episode import Episode
from coterie.operators.evolution.evolution import Evolution
from coterie.runtime.doubles import Reply, ScriptedModel, message_text
from coterie.runtime.doubles.script import Request
from coterie.schema import InputError, Task

from ...building import MATTRL, learnt, recipe
from ...consulting import WARD, doctors
from ...evolution.test_episode import done
from ...evolving import asked

SOLO = """\
name: solo
agents:
  alone: {prompt: "You are [alone]."}
"""


def gauging(request: Request) -> Reply:
    """The single agent is right on the first cases, the team on the others; models see that."""
    text = message_text(request)
    first = any(f"What is {n} +" in text for n in range(3))
    wanted = asked(request)
    if "complexity" in wanted:
        judged = dict.fromkeys(wanted, 0.1 if first else 0.9)
        return Reply.json({**judged, "reason": "r", "specialities": 1 if first else 3})
    if wanted:
        return doctors(request)
    return Reply(text="7" if first == ("[alone]" in text) else "8")


def test_both_work_on_a_case_to_learn_and_a_router_chooses_in_a_test(tmp_path: Path) -> None:
    cases = [Task(id=f"c{n}", query=f"What is {n % 6} + {7 - n}?", answer="7") for n in range(10)]

    async def routed(context: EvolutionContext) -> list[Any]:
        learning = Evolution(
            context=context, strategy=MATTRL, tasks=cases, folder=tmp_path / "evolution"
        )
        await learning.to_the_end()
        view, chosen = context.view(), list[Any]()
        for number, case in enumerate(["What is 1 + 2?", "What is 5 + 2?"]):
            task = Task(id=f"test-{number}", query=case, answer="7")
            episode = Episode(
                context=context,
                number=0,
                task=task,
                view=view,
                learning=False,
                path=f"test {number}/",
            )
            await MATTRL.episode(episode)
            assert episode.answer is not None
            chosen.append((episode.story[0], [*episode.answer.run.agents]))
        return [learning.lines(), chosen]

    with ScriptedModel(gauging) as model:
        lines, chosen = done(
            tmp_path, model.api_base, routed, recipe(route="solo"), pair=WARD, others=[SOLO]
        )
    events = [event for line in lines for event in line["story"] if event["event"] == "routed"]
    assert [event["single"]["score"] for event in events] == [1, 1, 1, 0, 0, 0, 1, 1, 1, 0]
    assert [event["team"]["score"] for event in events] == [0, 0, 0, 1, 1, 1, 0, 0, 0, 1]
    assert {event["single"]["spent"]["calls"] for event in events} == {1}
    assert {event["team"]["spent"]["calls"] for event in events} == {5}
    assert {(event["single"]["name"], event["team"]["name"]) for event in events} == {
        ("solo", "ward")
    }
    assert events[0]["features"]["complexity"] == 0.1
    (first, alone), (second, ward) = chosen
    assert (first["choice"], second["choice"]) == ("single", "team")
    assert (alone, ward) == (["alone"], ["heart", "brain", "chief"])
    assert "where" in first["router"]


def test_a_router_without_its_single_agent_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'solo' is no team of the pool that is a single agent"):
        learnt(tmp_path, recipe(route="solo"))
