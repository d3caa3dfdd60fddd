import json
from typing import Any

from coterie.runtime.local.grammar import schema_grammar

SCHEMA = {
    "type": "object",
    "properties": {"zebra": {"enum": ["ä", "b"]}, "ant": {"type": "boolean"}},
    "required": ["zebra", "ant"],
}


def in_grammar(text: str) -> dict[str, Any]:
    head, _, schema = text.partition("start: %json ")
    assert head == "%llguidance {}\n"
    return json.loads(schema)


def test_holds_the_schema_with_its_fields_in_order() -> None:
    schema = in_grammar(schema_grammar(SCHEMA))
    assert list(schema["properties"]) == ["zebra", "ant"]
    assert schema["properties"] == SCHEMA["properties"]


def test_forbids_blanks_between_tokens() -> None:
    guided = in_grammar(schema_grammar(SCHEMA))["x-guidance"]
    assert guided["whitespace_flexible"] is False


def test_leaves_the_schema_as_it_was() -> None:
    before = json.dumps(SCHEMA)
    schema_grammar(SCHEMA)
    assert json.dumps(SCHEMA) == before
