"""Checks a document's shape against a JSON Schema and explains each problem in plain words.

The schemas beside this module are the only source of shape. Their own keywords feed the messages:
`x-unit` (the unit of a number), `x-rule` (a pattern in words), `x-instead` (a replacement for a
field that people try), `examples` and `description`.
"""

from __future__ import annotations

import functools
import json
import re
import unicodedata
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from ..values.hints import did_you_mean
from ..values.problems import Path, Problem, quoted
from ..values.values import is_list, is_mapping
from .valid import surely_valid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from jsonschema.protocols import Validator

    from ..values.document import Document

ValidationError = Any
"""A `jsonschema.ValidationError`, whose own types declare most fields as possibly unset."""

LONGEST_EXAMPLE = 60
"""Maximum characters of a value that is repeated in its correct form."""

NOUNS = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "an integer",
    "null": "null",
    "number": "a number",
    "object": "a mapping",
    "string": "text",
}
HOW_TO_WRITE = {
    "array": "Write a list",
    "boolean": "Write true or false",
    "integer": "Write a number",
    "number": "Write a number",
    "object": "Write a mapping",
    "string": "Write text",
}


@functools.cache
def shape_schema(name: str) -> Mapping[str, Any]:
    """Load one of our schemas: `team`, `task`, `models`, `tools`, `policy`, `edits`, or `agent`."""
    if name == "agent":
        return _agent_schema()
    path = FilePath(__file__).parents[1] / f"{name}.schema.json"
    return json.loads(path.read_text(encoding="utf-8"))


def schema_text(name: str) -> str:
    """Return one of our schemas as the text of a file, for an editor."""
    return json.dumps(shape_schema(name), indent=2, ensure_ascii=False) + "\n"


def _agent_schema() -> Mapping[str, Any]:
    """Return the schema of an agent file: an agent of a team file, with an id and a lineage."""
    team = shape_schema("team")
    agent, lineage = team["$defs"]["agent"], team["properties"]["lineage"]
    only_in_teams = {"use", "like", "count"}
    fields = {key: item for key, item in agent["properties"].items() if key not in only_in_teams}
    name = {
        "description": "The agent's id. Default: the name of the file, or of the folder.",
        "$ref": "#/$defs/id",
    }
    return {
        "$schema": team["$schema"],
        "$id": "urn:coterie:agent:1",
        "title": "Agent",
        **{key: item for key, item in agent.items() if key != "properties"},
        "properties": {"id": name, **fields, "lineage": lineage},
        "$defs": {key: item for key, item in team["$defs"].items() if key != "agent"},
    }


def shape_problems(document: Document, schema: str | Mapping[str, Any]) -> Iterator[Problem]:
    """Yield every problem in a document's shape.

    Args:
        schema: The name of one of ours, or a schema built from them.
    """
    if surely_valid(document.value, _schema(schema), _others()):
        return
    validator = _validator(schema) if isinstance(schema, str) else _validating(schema)
    for error in validator.iter_errors(document.value):
        yield from _problems_of(error, document)


def sound(document: Document, name: str) -> Any:
    """Return a copy of the document's value without malformed parts.

    So checks of meaning can continue with the rest, and a user sees all problems at once.
    """
    value = json.loads(json.dumps(document.value))
    for error in _validator(name).iter_errors(document.value):
        for path in _faulty(error):
            _drop(value, path)
    return value


def _schema(schema: str | Mapping[str, Any]) -> Mapping[str, Any]:
    return shape_schema(schema) if isinstance(schema, str) else schema


def _others() -> Mapping[str, Mapping[str, Any]]:
    team = shape_schema("team")
    return {team["$id"]: team}


@functools.cache
def _validator(name: str) -> Validator:
    return _validating(shape_schema(name))


def _validating(schema: Mapping[str, Any]) -> Validator:
    strict, registry = _strict()
    return strict(schema, registry=registry)


@functools.cache
def _strict() -> tuple[Any, Any]:
    """Return our validator class, and the registry of schemas that others may refer to."""
    from jsonschema import Draft202012Validator, ValidationError, validators
    from referencing import Registry, Resource

    def whole(_: Any, pattern: str, text: Any, __: Any) -> Iterator[ValidationError]:
        """Match a pattern against the whole text: `$` alone accepts a final line break."""
        if isinstance(text, str) and not re.fullmatch(pattern, text):
            yield ValidationError("no match")

    def unique(_: Any, wanted: bool, items: Any, __: Any) -> Iterator[ValidationError]:
        """Yield repeated items in one pass, each with its place."""
        texts: set[str] = set()
        for index, item in enumerate(items if wanted and is_list(items) else ()):
            text = json.dumps(item, sort_keys=True)
            if text in texts:
                yield ValidationError("repeated", path=(index,), instance=item)
            texts.add(text)

    checker = Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    )
    ours: Any = {"pattern": whole, "uniqueItems": unique}
    strict = validators.extend(Draft202012Validator, ours, type_checker=checker)
    team: Resource[Any] = Resource.from_contents(shape_schema("team"))
    return strict, team @ Registry()


def _problems_of(error: ValidationError, document: Document) -> Iterator[Problem]:
    path: Path = tuple(error.absolute_path)
    if error.validator == "additionalProperties":
        for key in _unknown_keys(error):
            yield document.problem((*path, key), _unknown_key(key, error), at_key=True)
    elif error.validator == "required":
        yield from _missing(error, document, path)
    elif "propertyNames" in error.absolute_schema_path:
        describe = MESSAGES.get(str(error.validator), _otherwise)
        yield document.problem((*path, error.instance), describe(error), at_key=True)
    elif error.validator == "anyOf":  # a value or null: only the value can be wrong
        for inner in error.context or ():
            if inner.schema_path[0] == 0:
                yield from _problems_of(inner, document)
    else:
        yield document.problem(path, MESSAGES.get(str(error.validator), _otherwise)(error))


def _faulty(error: ValidationError) -> Iterator[Path]:
    path: Path = tuple(error.absolute_path)
    if error.validator == "additionalProperties":
        yield from ((*path, key) for key in _unknown_keys(error))
    elif "propertyNames" in error.absolute_schema_path:
        yield (*path, error.instance)
    elif error.validator not in {"required", "uniqueItems"}:
        yield path


def _drop(value: Any, path: Path) -> None:
    *parents, last = path or ("",)
    for part in parents:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return
    if is_mapping(value):
        value.pop(str(last), None)
    elif is_list(value) and isinstance(last, int) and last < len(value):
        value[last] = None


def _unknown_keys(error: ValidationError) -> list[str]:
    properties = _mapping(error.schema).get("properties", {})
    return [key for key in error.instance if key not in properties]


def _unknown_key(key: str, error: ValidationError) -> str:
    schema = _mapping(error.schema)
    fields = list(schema.get("properties", {}))
    if instead := schema.get("x-instead", {}).get(key):
        return f"not a field here. {instead}"
    hint = did_you_mean(key, fields) or f" Fields here: {', '.join(fields)}."
    return f"unknown field.{hint}"


def _missing(error: ValidationError, document: Document, path: Path) -> Iterator[Problem]:
    schema = _mapping(error.schema)
    key = error.message.split("'")[1]
    meaning = schema.get("properties", {}).get(key, {}).get("description", "")
    yield document.problem(path, f"{key} is missing. {meaning}".strip())


def _wrong_type(error: ValidationError) -> str:
    schema = _mapping(error.schema)
    allowed = error.validator_value
    kinds: list[str] = [allowed] if isinstance(allowed, str) else list(allowed)
    nouns = " or ".join(NOUNS[kind] for kind in kinds)
    nouns = nouns.replace(" or ", ", ", nouns.count(" or ") - 1)
    how = HOW_TO_WRITE[kinds[0]] if len(kinds) == 1 else "Write one of them"
    how += _example(schema)
    match kinds, error.instance:
        case ["array"], str(item) if len(item) <= LONGEST_EXAMPLE:
            how = f"Write a list: {json.dumps([item], ensure_ascii=False)}"
        case ["integer" | "number"], str(digits) if _is_written_number(digits):
            how = f"Write it without quotes: {digits}"
        case ["string"], bool() | int() | float():
            how = f"Write it in quotes, or text{_example(schema)}"
        case ["object"], _ if "examples" not in schema and schema.get("required"):
            how += f" with {' and '.join(schema['required'])}"
        case _:
            pass
    return f"{quoted(error.instance)} is not {nouns}{_facts(schema)}. {how}."


def _is_written_number(text: str) -> bool:
    return text.isdecimal() and len(text) <= LONGEST_EXAMPLE


def _out_of_range(error: ValidationError) -> str:
    schema = _mapping(error.schema)
    example = _example(schema)
    return (
        f"{quoted(error.instance)} is out of range{_facts(schema)}. Write a number in it{example}."
    )


def _not_in_enum(error: ValidationError) -> str:
    choices = [str(choice) for choice in error.validator_value]
    hint = did_you_mean(str(error.instance), choices)
    return f"{quoted(error.instance)} is not one of {', '.join(choices)}.{hint}"


def _not_by_rule(error: ValidationError) -> str:
    instead = _regular(error) or _first(error)
    return f"{quoted(error.instance)} is not {_rule(error)}. Write for instance {instead}."


def _regular(error: ValidationError) -> str:
    """Return a name corrected to match its pattern if possible: `worker_1` for `Worker 1`."""
    plain = unicodedata.normalize("NFKD", error.instance).encode("ascii", "ignore").decode()
    name = "_".join(re.findall("[a-z0-9]+", plain.casefold()))
    is_path = "/" in error.validator_value
    return name if re.fullmatch(error.validator_value, name) and not is_path else ""


def _wrong_size(error: ValidationError) -> str:
    schema = _mapping(error.schema)
    unit = schema.get("x-unit", "items")
    few = str(error.validator).startswith("min")
    bound = "too few: at least" if few else "too many: at most"
    return f"{len(error.instance)} {unit} are {bound} {error.validator_value}."


def _repeated(error: ValidationError) -> str:
    return f"{quoted(error.instance)} occurs twice. Keep one."


def _otherwise(error: ValidationError) -> str:
    """Describe an error of a keyword that our schemas do not use."""
    rule = quoted({str(error.validator): error.validator_value})
    return f"{quoted(error.instance)} does not fit {rule}."


MESSAGES: Mapping[str, Callable[[ValidationError], str]] = {
    "type": _wrong_type,
    "minimum": _out_of_range,
    "maximum": _out_of_range,
    "exclusiveMinimum": _out_of_range,
    "enum": _not_in_enum,
    "pattern": _not_by_rule,
    "minLength": _wrong_size,
    "maxLength": _wrong_size,
    "minItems": _wrong_size,
    "maxItems": _wrong_size,
    "minProperties": _wrong_size,
    "maxProperties": _wrong_size,
    "uniqueItems": _repeated,
}


def _facts(schema: Mapping[str, Any]) -> str:
    """Return the unit and the bounds of a number: ` (tokens, 1 to 1000000)`."""
    if "maximum" not in schema:
        return ""
    unit = f"{schema['x-unit']}, " if schema.get("x-unit") else ""
    low = schema["minimum"] if "minimum" in schema else f"above {schema['exclusiveMinimum']}"
    return f" ({unit}{low} to {schema['maximum']})"


def _example(schema: Mapping[str, Any]) -> str:
    examples = schema.get("examples")
    return f", for instance {json.dumps(examples[0], ensure_ascii=False)}" if examples else ""


def _rule(error: ValidationError) -> str:
    return str(_mapping(error.schema).get("x-rule", f"of the form {error.validator_value}"))


def _first(error: ValidationError) -> str:
    return str(_mapping(error.schema).get("examples", ["..."])[0])


def _mapping(schema: Any) -> Mapping[str, Any]:
    return schema if is_mapping(schema) else {}
