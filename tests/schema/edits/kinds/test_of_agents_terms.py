"""Conditions and lists are offered where a team has some, and whatever is offered makes a team."""

import json
import random

import pytest

from coterie.schema import Team, load_team
from coterie.schema.edits import SetParameter, apply, component_schema, edits_from_json
from coterie.schema.loading.ceiling import CapabilityPolicy

from ...strategies import CATALOGUE
from ..decoder import answer

TRIAGE = load_team("seeds/triage.yaml", CATALOGUE)
SPLIT = load_team("seeds/split_and_merge.yaml", CATALOGUE)


@pytest.mark.parametrize("team", [TRIAGE, SPLIT], ids=lambda team: team.name)
@pytest.mark.parametrize("most", [1, 4])
def test_any_answer_makes_a_team_and_all_terms_can_be_reached(team: Team, most: int) -> None:
    ceiling, chance = CapabilityPolicy.of(TRIAGE, SPLIT), random.Random(3)
    schema = component_schema("parameters", team, CATALOGUE, ceiling, most=most)
    reached: set[str] = set()
    for _ in range(150):
        edits = edits_from_json(json.dumps(answer(schema, chance)))
        assert isinstance(apply(team, edits, CATALOGUE, ceiling), Team), edits
        terms = [
            edit
            for edit in edits
            if isinstance(edit, SetParameter) and edit.field in {"when", "each"}
        ]
        reached |= {f"{term.agent}.{term.field} {json.dumps(term.value)}" for term in terms}
    kinds = {line.split("{")[0] for line in reached}
    if team is TRIAGE:
        assert {f"{word}.when " for word in ("calculator", "researcher", "writer")} <= kinds
        assert "writer.when null" in reached
        assert any("calculation" in line for line in reached if line.startswith("writer"))
        assert not any(line.startswith("editor.when") for line in reached)
    else:
        counts = {json.loads(line.split(" ", 1)[1])["most"] for line in reached if "{" in line}
        assert max(counts) <= 8
        assert len(counts) > 1
        assert ("worker.each null" in reached) == (most == 1)


def test_a_team_without_terms_is_offered_none() -> None:
    plain = load_team("seeds/majority_vote_3.yaml", CATALOGUE)
    assert '"when"' not in json.dumps(component_schema("parameters", plain, CATALOGUE))
