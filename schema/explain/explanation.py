"""The output of `mas dev explain`: a field in words, or all fields as a tree."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..host.fields import DOCUMENTS, Field, find, root
from ..team.writing import write_yaml

WIDTH = 100
INDENT = 12
LEAST = ("minLength", "minItems", "minProperties")
MOST = ("maximum", "maxLength", "maxItems", "maxProperties")
NOUNS = {
    "array": "list",
    "boolean": "true or false",
    "integer": "integer",
    "null": "null",
    "number": "number",
    "object": "mapping",
    "string": "text",
}


def explain(path: str) -> str:
    """Explain a field: its meaning, its values, an example, and its inner fields.

    Args:
        path: A path for people, or from a message: `agents.w2.tools[0]`.

    Returns:
        Lines of at most 100 columns; only an example may have longer ones.

    Raises:
        InputError: There is no such field; the message names the closest one.
    """
    field = find(path)
    facts = {
        "type": kind(field),
        "default": "none: it must be written" if field.required else field.default,
        "example": example(field),
        "scorer" if field.document == "task" else "strategy": ", ".join(field.of),
    }
    stated = (_fact(name, text) for name, text in facts.items() if text)
    parts = (field.name, _wrapped(field.meaning), "\n".join(stated), *_inside(field))
    return "\n\n".join(filter(None, parts)) + "\n"


def outline() -> str:
    """Show all fields of all files as a tree, each with the first sentence of its description."""
    trees = ("\n".join(_columns(list(_tree(root(document))))) for document in DOCUMENTS)
    return "\n\n".join([*trees, "* must be written"]) + "\n"


def kind(field: Field) -> str:
    """Describe the values of a field: `integer, 1 to 1000000 tokens`, `one of fail, skip`."""
    schema = field.schema
    if "enum" in schema:
        return f"one of {', '.join(schema['enum'])}"
    types: Any = schema.get("type", [])
    nouns = " or ".join(NOUNS[name] for name in ([types] if isinstance(types, str) else types))
    limits = _rule(schema) or _limits(schema)
    return ", ".join(filter(None, (nouns or "any value", limits)))


def example(field: Field) -> str:
    """Return a field's example as written in a file: JSON in a task, else YAML."""
    examples = field.schema.get("examples", ())
    if not field.path:
        value = field.schema["x-example"]
        return json.dumps(value, indent=2) if field.document == "task" else write_yaml(value)[:-1]
    if field.is_any or not examples:
        return ""
    if field.document == "task":
        return json.dumps({field.key: examples[0]})[1:-1]
    return write_yaml({field.key: examples[0]})[:-1]


def _rule(schema: Mapping[str, Any]) -> str:
    """Return a pattern in words, and the most frequent values if several are known."""
    examples = schema.get("examples", ())
    instances = f", for instance {', '.join(examples)}" if len(examples) > 1 else ""
    return f"{schema['x-rule']}{instances}" if "x-rule" in schema else ""


def _limits(schema: Mapping[str, Any]) -> str:
    """Describe the bounds: `1 to 1000000 tokens`, `above 0 to 600 seconds`, `at most 64 tools`."""
    least = [f"{schema[name]} to" for name in ("minimum", *LEAST) if name in schema]
    if "exclusiveMinimum" in schema:
        least = [f"above {schema['exclusiveMinimum']} to"]
    most = [str(schema[name]) for name in MOST if name in schema]
    words = (*(least or ["at most"])[:1], *most[:1], schema.get("x-unit"))
    return " ".join(filter(None, words)) if most else ""


def _fact(name: str, text: str) -> str:
    if name != "example":
        text = _wrapped(text, WIDTH - INDENT)
    return f"  {name}".ljust(INDENT) + textwrap.indent(text, " " * INDENT)[INDENT:]


def _inside(field: Field) -> Iterator[str]:
    """List the direct inner fields, and those of every member."""
    named = [child for child in field.children if not child.is_any]
    if named:
        yield _listed("fields", named)
    if len(named) == 1:
        yield from _inside(named[0])
    for child in field.children:
        if child.is_any:
            within = [inner for inner in child.children if not inner.is_any]
            yield _listed(_wrapped(f"each {child.name}: {child.meaning}"), within)


def _listed(title: str, fields: Sequence[Field]) -> str:
    rows = [(f"  {_marked(field)}", field.meaning) for field in fields]
    legend = ["  * must be written"] if any(field.required for field in fields) else []
    return "\n".join([title, *_columns(rows), *legend])


def _tree(field: Field, depth: int = 0) -> Iterator[tuple[str, str]]:
    yield "  " * depth + _marked(field), field.meaning.partition(". ")[0].removesuffix(".")
    for child in () if field.told_elsewhere else field.children:
        if not child.is_any or (child.children and not child.told_elsewhere):
            yield from _tree(child, depth + 1)


def _marked(field: Field) -> str:
    return f"{field.key} *" if field.required else field.key


def _columns(rows: Sequence[tuple[str, str]]) -> list[str]:
    left = max((len(name) for name, _ in rows), default=0) + 3
    return [
        name.ljust(left) + textwrap.indent(_wrapped(text, WIDTH - left), " " * left)[left:]
        for name, text in rows
    ]


def _wrapped(text: str, width: int = WIDTH) -> str:
    return textwrap.fill(text, width, break_on_hyphens=False)
