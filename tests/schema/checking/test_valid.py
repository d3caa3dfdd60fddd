"""A quick yes to what is valid: whatever is decided, jsonschema decides alike."""

import copy
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from jsonschema.exceptions import UnknownType

from coterie.schema.checking import valid
from coterie.schema.checking._shape import _strict, shape_schema
from coterie.schema.checking.valid import surely_valid
from coterie.schema.values.yaml_text import read_yaml

ROOT = Path(__file__).parents[3]
NAMES = ("agent", "edits", "evolution", "models", "policy", "task", "team", "tools")
TEAM = shape_schema("team")
OTHERS = {TEAM["$id"]: TEAM}
SEEDS = sorted((ROOT / "seeds").glob("*.yaml"))
TEAMS = [read_yaml(path.read_bytes(), path.name)[0].value for path in SEEDS]


def decided(value: Any, schema: Any) -> bool | None:
    """What is decided; None where it is left to jsonschema."""
    home = valid._Home(root=schema, others=OTHERS)
    try:
        return valid._fits(value, schema, home)
    except valid._Undecided:
        return None


def told(value: Any, schema: Any) -> set[bool]:
    """What jsonschema says, in the dialect of our files and in its own."""
    strict, registry = _strict()
    dialects = (strict, Draft202012Validator)
    return {not any(dialect(schema, registry=registry).iter_errors(value)) for dialect in dialects}


def parts(schema: Any) -> Iterator[Mapping[str, Any]]:
    """Yield a schema and all schemas in it."""
    if isinstance(schema, dict):
        yield schema
        for key, inner in schema.items():
            if key in {"properties", "$defs"}:
                for item in inner.values():
                    yield from parts(item)
            elif key in {"anyOf", "oneOf"}:
                for item in inner:
                    yield from parts(item)
            elif key in {"additionalProperties", "else", "if", "items", "not", "propertyNames"}:
                yield from parts(inner)


WORDS = ("", "a", "b", "ab", "a\n", "Ab 1", "\U00010000", "\ud800\udc00", "漢")
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, 1, 2, -1, 10**20, 0.0, 1.0, 1.5, float("nan"), float("inf")]),
    st.sampled_from(WORDS),
)
NAMES_OF_FIELDS = st.sampled_from(["a", "b", "c", "a\n"])
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(NAMES_OF_FIELDS, inner, max_size=3)
    ),
    max_leaves=8,
)
BOUNDS = st.sampled_from([0, 1, 1.5, 2, 3])
KINDS = st.sampled_from(["array", "boolean", "integer", "null", "number", "object", "string"])


def schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Schemas of the keywords that are known, and of a few that are not."""
    several = st.lists(inner, min_size=1, max_size=3)
    rules: dict[str, st.SearchStrategy[Any]] = {
        "$ref": st.sampled_from(["#/$defs/a", "#/$defs/b", "urn:coterie:team:1#/$defs/id"]),
        "additionalProperties": inner,
        "anyOf": several,
        "const": VALUES,
        "else": inner,
        "enum": st.lists(VALUES, min_size=1, max_size=3),
        "exclusiveMinimum": BOUNDS,
        "format": st.just("date"),
        "if": inner,
        "items": inner,
        "maximum": BOUNDS,
        "minimum": BOUNDS,
        "not": inner,
        "oneOf": several,
        "pattern": st.sampled_from(["a", "^a$", "[ab]*", "^[a-z]+$", "b|ab"]),
        "patternProperties": st.dictionaries(st.sampled_from(["^a", "b"]), inner, max_size=2),
        "prefixItems": several,
        "properties": st.dictionaries(NAMES_OF_FIELDS, inner, max_size=3),
        "propertyNames": inner,
        "required": st.lists(NAMES_OF_FIELDS, max_size=2),
        "then": inner,
        "type": st.one_of(KINDS, st.lists(KINDS, min_size=1, max_size=3, unique=True)),
        "uniqueItems": st.booleans(),
        "x-unit": st.just("things"),
    }
    sizes = [f"{end}{what}" for end in ("max", "min") for what in ("Items", "Length", "Properties")]
    rules |= dict.fromkeys(sizes, st.integers(0, 3))
    keys = st.lists(st.sampled_from(sorted(rules)), max_size=3, unique=True)
    return keys.flatmap(lambda names: st.fixed_dictionaries({name: rules[name] for name in names}))


SCHEMAS: st.SearchStrategy[Any] = st.recursive(st.booleans(), schemas, max_leaves=6)
ROOTS = st.builds(
    lambda schema, a, b: {**schema, "$defs": {"a": a, "b": b}},
    schemas(SCHEMAS),
    st.sampled_from([True, {"type": "string"}, {"items": {"type": "integer"}}]),
    st.sampled_from([False, {"enum": [1, "a"]}, {"minimum": 1}]),
)


@given(ROOTS, VALUES)
@example({"uniqueItems": True}, ["\U00010000", "\ud800\udc00"])
@example({"uniqueItems": True}, [1, True, 1.0])
@example({"not": {"additionalProperties": False, "patternProperties": {"^a": True}}}, {"a": 1})
@example({"not": {"items": False, "prefixItems": [True]}}, [1])
@example({"not": {"type": "integer"}}, 1.0)
@example({"not": {"pattern": "^a$"}}, "a\n")
@example({"enum": [1, False]}, True)
@example({"const": [1]}, [True])
@example({"minimum": 0}, float("nan"))
@example({"const": float("nan")}, float("nan"))
@example({"if": {"minimum": 1}, "else": False}, 0)
@example({"properties": {"a": False}, "required": ["a"], "uniqueItems": True}, "a")
@example({"additionalProperties": False, "propertyNames": False, "items": False}, "a")
@example({"oneOf": [True, {"type": "string"}]}, "a")
def test_what_is_decided_is_what_jsonschema_says(schema: Any, value: Any) -> None:
    verdict = decided(value, schema)
    assert verdict is None or told(value, schema) == {verdict}
    assert surely_valid(value, schema, OTHERS) == (verdict is True)


@pytest.mark.parametrize("name", NAMES)
@given(st.data())
def test_of_our_files_it_is_so_too(name: str, data: st.DataObject) -> None:
    """Of teams that are as they should be, but for one value."""
    value = copy.deepcopy(data.draw(st.sampled_from(TEAMS)))
    at, key = value, data.draw(st.sampled_from(sorted(value)))
    while isinstance(at[key], dict | list) and at[key] and data.draw(st.booleans()):
        at = at[key]
        keys = sorted(at) if isinstance(at, dict) else range(len(at))
        key = data.draw(st.sampled_from(keys))
    at[key] = data.draw(VALUES)
    schema = shape_schema(name)
    verdict = decided(value, schema)
    assert verdict is None or told(value, schema) == {verdict}


@pytest.mark.parametrize("team", TEAMS, ids=[path.stem for path in SEEDS])
def test_our_teams_are_surely_valid(team: Any) -> None:
    assert surely_valid(team, TEAM)
    for agent in team["agents"].values():
        if not {"use", "like", "count"} & agent.keys():
            assert surely_valid(agent, shape_schema("agent"))


@pytest.mark.parametrize("name", NAMES)
def test_all_keywords_of_our_schemas_are_known(name: str) -> None:
    """Else no file of that kind would be read at once."""
    known = {*valid._CHECKS, *valid._SILENT}
    for part in parts(shape_schema(name)):
        assert {key for key in part if not key.startswith("x-")} <= known
        assert "$id" not in part or part is shape_schema(name)


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$ref": "#/$defs/none"},
        {"$ref": "#/$defs/a/b"},
        {"$ref": "urn:none#/$defs/id"},
        {"$ref": "urn:coterie:team:1#/$defs/i~1d"},
        {"items": {"$id": "urn:other"}},
        {"type": "text"},
        {"format": "date"},
        {"$ref": "#/$defs/again"},
    ],
    ids=json.dumps,
)
def test_what_is_not_known_here_is_left_undecided(schema: dict[str, Any]) -> None:
    defs = {"a": {"b": []}, "again": {"$ref": "#/$defs/again"}}
    assert not surely_valid(["x"], {**schema, "$defs": defs}, OTHERS)


def test_a_value_that_is_not_json_s_is_left_undecided() -> None:
    assert decided((1,), {}) is None
    assert decided([{1}], {"items": {}}) is None
    with pytest.raises(UnknownType):
        told(1, {"type": "text"})
