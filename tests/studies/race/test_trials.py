"""Trials: the operator model proposes what it does not see, and one trial of each kind runs."""

import json
import random
from dataclasses import replace

import pytest
from click.testing import CliRunner

from coterie.operators.core.meta import Question
from coterie.runtime.gateway import ChatRequest
from coterie.schema.edits import component_schema
from studies.race import rows
from studies.race.__main__ import main
from studies.race.gepa import Adapter, on_prompts, on_yaml
from studies.race.proposing import Proposer
from studies.race.trials import raced, searched
from studies.race.worlds import MAKERS, META, catalogue
from studies.world.forms import filled

WORLD = MAKERS["sentence"](2)
TEXTS = [each.text for each in WORLD.hypotheses]


def asked(shown: str) -> str:
    """What the operator model answers who asks for edits of prompts and shows a text."""
    schema = component_schema("prompts", WORLD.team, catalogue(), WORLD.ceiling, most=8)
    assert schema is not None
    source: Question[str] = Question(
        operator="mutate", instructions="", material=shown, schema=schema, read=str, team=WORLD.team
    )
    records = [{"role": "user", "content": shown}]
    request = ChatRequest(model=META, messages=records, schema=schema, seed=7, source=source)
    [edit] = json.loads(Proposer(WORLD).answer(request))["edits"]
    return edit["set_prompt"]["prompt"]


def test_the_operator_model_proposes_the_sentence_that_was_not_tried() -> None:
    assert asked("\n".join(TEXTS[1:])) == f"Solve the task.\n{TEXTS[0]}"
    assert asked("").removeprefix("Solve the task.\n") in TEXTS


def test_what_carries_no_hypothesis_is_filled_by_the_schema() -> None:
    schema = {
        "type": "object",
        "properties": {
            "kind": {"type": "string", "enum": ["a", "b"]},
            "again": {"type": "boolean"},
            "rules": {"type": "array", "items": {"type": "string", "maxLength": 4}},
            "place": {"anyOf": [{"type": "integer", "maximum": 3}]},
        },
    }
    value = filled(schema, "a rule", random.Random(0))
    assert value == {"kind": value["kind"], "again": False, "rules": ["a ru"], "place": 3}
    assert value["kind"] in {"a", "b"}


def test_gepa_is_answered_with_the_prompt_and_a_sentence_more() -> None:
    adapter = Adapter(world=WORLD)
    tried = "\n".join(TEXTS[:9])
    answer = adapter.reflect(f"Instructions:\n```\nSolve the task.\n{tried}\n```\nExamples: none")
    assert answer == f"```\nSolve the task.\n{tried}\n{TEXTS[9]}\n```"
    assert adapter.operators == 1


@pytest.mark.parametrize("optimize", [on_prompts, on_yaml])
def test_a_trial_of_gepa_stays_near_its_budget(optimize: rows.Row) -> None:
    pytest.importorskip("gepa")
    outcome = optimize(WORLD)
    assert WORLD.budget <= outcome.agents + outcome.operators <= WORLD.budget + 16 + 6
    assert outcome.found == (outcome.gain == pytest.approx(0.4))


def test_a_search_holds_its_budget_to_the_call() -> None:
    outcome = searched(replace(MAKERS["graded"](0), budget=40), "best of n")
    assert (outcome.agents, outcome.operators, outcome.claims) == (40, 0, False)


def test_the_command_prints_a_line_for_each_case() -> None:
    options = ["null", "--trials", "1", "--jobs", "1", "--rows", "MATTRL"]
    result = CliRunner().invoke(main, options)
    assert result.exit_code == 0
    assert [line.split(" |")[0] for line in result.output.splitlines()[2:]] == [
        "| MATTRL",
        "| MATTRL: 0.2, right or wrong",
    ]


def test_a_race_keeps_to_its_search_budget_and_hands_over_what_it_measured() -> None:
    outcome = raced(replace(MAKERS["graded"](0), budget=60))
    assert outcome.agents + outcome.operators <= 60
    assert outcome.claims == (outcome.interval is not None and outcome.interval[0] > 0)
    assert outcome.gain == pytest.approx(outcome.tested if outcome.claims else 0.0)
