"""A recruited consultation: who recruits, reports and decides is not credited."""

from pathlib import Path
from typing import Any

import pytest

from coterie.runtime.doubles import Reply, ScriptedModel, message_text
from coterie.runtime.doubles.script import Request
from coterie.schema import Task

from ...building import evolution, recipe
from ...consulting import doctors
from ...evolution.test_episode import done
from ...evolving import asked

SEED = Path(__file__).parents[4] / "seeds" / "consultation.yaml"
CASE = Task(id="p-1", query="Fever and a murmur. Which disease?", answer="endocarditis")


def hospital(request: Request) -> Reply:
    """Two departments come; one has something to say in the second round as well."""
    wanted, text = asked(request), message_text(request)
    if "specialists" in wanted:
        return Reply.json({"specialists": ["cardiology", "neurology"], "reason": "heart"})
    if "ranking" in wanted:
        return Reply.json({"ranking": ["endocarditis"]})
    if "increment" in wanted:
        is_first = "cardiology" in text and "Duke" not in text
        new = "New blood cultures." if is_first else "Duke criteria are met."
        return Reply.json({"increment": [new]})
    return doctors(request) if wanted else Reply(text="The report.")


@pytest.mark.parametrize("credit", ["naive", "difference"])
def test_departments_that_came_are_credited_for_what_was_new(tmp_path: Path, credit: Any) -> None:
    async def work(stage: Any) -> list[Any]:
        result = evolution(stage, [CASE])
        await result.to_the_end()
        return result.lines()

    with ScriptedModel(hospital) as model:
        [line] = done(tmp_path, model.api_base, work, recipe(credit=credit), pair=SEED.read_text())
    event, _ = line["story"]
    assert {utterance["agent"] for utterance in event["utterances"]} == {"cardiology", "neurology"}
    turns = [(utterance["agent"], utterance["round"]) for utterance in event["utterances"]]
    assert len(turns) == len({*turns})
    assert max(number for _, number in turns) < 3
    assert line["learnt"] == 1
