"""What a recipe says of a team that evolves as a team."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from coterie.operators.methods import meta_team
from coterie.operators.methods.meta_team.settings import RetrospectiveSettings, check

SCHEMA = json.loads(
    (Path(meta_team.__path__[0]) / "meta_team.schema.json").read_text(encoding="utf-8")
)


def test_the_schema_has_the_fields_of_the_settings_and_their_defaults() -> None:
    fields = SCHEMA["properties"]
    defaults = asdict(RetrospectiveSettings())
    assert [*fields] == [*defaults]
    assert {name: field.get("default") for name, field in fields.items()} == defaults


def test_the_defaults_and_the_examples_are_right() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    fields = {
        key: item for key, item in asdict(RetrospectiveSettings()).items() if item is not None
    }
    Draft202012Validator(SCHEMA).validate(fields)
    for name, field in SCHEMA["properties"].items():
        for example in field.get("examples", ()):
            Draft202012Validator(SCHEMA).validate({name: example})
    assert not check(RetrospectiveSettings(), {})


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"scheme": "none", "retry": True}, "retry"),
        ({"scheme": "none", "team_level": False}, "team_level"),
        ({"scheme": "centralised", "evidence": 1}, "evidence"),
        ({"scheme": "partitioned", "evidence": 1}, "evidence"),
        ({"scheme": "partitioned", "discussion": 1}, "discussion"),
        ({"team_level": False, "edges": 1}, "edges"),
        ({"scheme": "centralised", "looks": 1}, "looks"),
        ({"agent_level": False, "looks": 1}, "looks"),
        ({"roster": "closed", "alive": 3}, "alive"),
    ],
)
def test_what_nothing_reads_is_told_by_its_field(fields: dict[str, object], field: str) -> None:
    assert [*check(RetrospectiveSettings(**fields), fields)] == [field]  # type: ignore[arg-type]


def test_a_team_in_which_nothing_can_change_says_so() -> None:
    settings = RetrospectiveSettings(agent_level=False, pair_level=False, team_level=False)
    assert not settings.looks_back
    assert "scheme: none" in check(settings, {"agent_level": False})["scheme"]
    assert replace(settings, team_level=True).looks_back
    assert not RetrospectiveSettings(scheme="none").looks_back
