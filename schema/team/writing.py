"""Writes files in one canonical form, so that a diff shows only real changes.

Fields follow the schema's order; multi-line texts are literal blocks; short lists take one line.
Comments stay with their field.
"""

from __future__ import annotations

import bisect
import json
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, TypeGuard

import yaml

from ..checking._shape import shape_schema
from ..values.codec import to_value
from ..values.values import is_list, is_mapping, unlike_default
from .team import natural

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path as FilePath

    from ..values.document import Document
    from ..values.problems import Path
    from .team import Agent, Team

WIDTH = 100
_WITHOUT_BREAKS = str.maketrans("", "", "\n\t")
HEADER = re.compile(r"#\s*yaml-language-server:\s*\$schema=(\S+).*")
DEFAULT_SCHEMA = "team.schema.json"
AGENT_SCHEMA = "agent.schema.json"
_PLAIN = re.compile(r"[A-Za-z_(/](?:[^\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff#:]|:(?=\S)|(?<=\S)#)*")
_FLOW_SIGNS = re.compile(r"[,\[\]{}:?]")
_AMBIGUOUS = re.compile(r"y|n|yes|no|on|off|true|false|null", re.IGNORECASE)
"""Words that other YAML readers do not read as text."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Comments:
    """The comments of a file, by the path of their field.

    Attributes:
        above: Comments on lines of their own, above the field.
        beside: Comments at the end of the field's line.
        within: The paths of all values that hold a commented field.
        header: The schema that a comment of the file names, if any.
    """

    above: Mapping[Path, Sequence[str]] = field(default_factory=dict[tuple[str | int, ...], Any])
    beside: Mapping[Path, str] = field(default_factory=dict[tuple[str | int, ...], str])
    below: Sequence[str] = ()
    within: Set[Path] = frozenset()
    header: str | None = None


def dump(team: Team, *, schema: str = DEFAULT_SCHEMA) -> str:
    """Write a team as canonical YAML; loading it gives an equal team.

    Args:
        schema: The path of the team schema for editors, relative to the file; for its first line.
    """
    return write_team_yaml(team_value(team), schema=schema)


def write_team_yaml(value: Mapping[str, Any], *, schema: str = DEFAULT_SCHEMA) -> str:
    """Write a team's plain value, of valid shape or not, in the form of `dump`."""
    return _header(schema) + write_yaml(_in_order(value))


def canonical(
    document: Document, text: str, *, kind: str = "team", schema: str = DEFAULT_SCHEMA
) -> str:
    """Return a file's canonical form: same fields, same comments, one order and one style.

    Args:
        document: The file as read, without problems.
        text: The file's text, for its comments.
        kind: The kind of file: `team` or `agent`.
        schema: The schema for the first line, if the file names none.
    """
    comments = _comments(document, text)
    ordered = _ordered(document.value, shape_schema(kind), shape_schema(kind))
    return _header(comments.header or schema) + write_yaml(ordered, comments)


def write_agent_yaml(value: Mapping[str, Any]) -> str:
    """Write an agent's plain value as an agent file, in canonical form."""
    ordered = _ordered(value, shape_schema("agent"), shape_schema("agent"))
    return _header(AGENT_SCHEMA) + write_yaml(ordered)


def team_value(team: Team) -> dict[str, Any]:
    """Return a team as plain values in the schema's order, without defaults."""
    topology: dict[str, Any] = {
        "reports_to": {u: list(vs) for u, vs in team.reports_to.items() if vs},
        "output": team.declared_output,
    }
    value: dict[str, Any] = {
        "name": team.name,
        "description": team.description,
        "backend": team.backend,
        "constitution": team.constitution,
        "agents": {name: agent_value(agent) for name, agent in team.agents.items()},
        "topology": {key: item for key, item in topology.items() if item},
        "execution": unlike_default(team.execution),
        "successful_tasks": [
            {key: item for key, item in asdict(solved).items() if item or key == "q"}
            for solved in team.successful_tasks
        ],
        "lineage": to_value(team.lineage) if team.lineage else None,
    }
    fields = {key: item for key, item in value.items() if item or key in {"name", "agents"}}
    return _in_order(fields)


def agent_value(agent: Agent) -> dict[str, Any]:
    """Return an agent's fields as plain values, as under `agents` in a file."""
    fields = {name: item for name, item in unlike_default(agent).items() if name != "id"}
    return _ordered(fields, shape_schema("team")["$defs"]["agent"], shape_schema("team"))


def write_yaml(value: Mapping[str, Any], comments: Comments | None = None) -> str:
    """Write plain values as YAML that our reader reads back as equal values."""
    comments = comments or Comments()
    return "\n".join([*_mapping(value, (), comments), *comments.below, ""])


def schema_beside(path: FilePath, schema: str = DEFAULT_SCHEMA) -> str:
    """Return the path of a schema file near the file or in a folder above, for its first line."""
    for depth, folder in enumerate(path.resolve().parents):
        for name in (f"schema/{schema}", schema):
            if (folder / name).is_file():
                return "../" * depth + name
    return schema


def _header(schema: str) -> str:
    return f"# yaml-language-server: $schema={schema}\n"


def output_schema_in_order(output_schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an agent's output schema with its keys in the order of written files."""
    return _ordered(output_schema, {"$ref": "#/$defs/output_schema"}, shape_schema("team"))


def _in_order(value: Mapping[str, Any]) -> dict[str, Any]:
    return _ordered(value, shape_schema("team"), shape_schema("team"))


def _ordered(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any]) -> Any:
    """Return the value with the fields of every mapping in the order of its schema."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    if is_list(value):
        return [_ordered(item, schema.get("items", {}), root) for item in value]
    if not is_mapping(value):
        return value
    properties = schema.get("properties", {})
    additional = schema.get("additionalProperties") or {}
    names = [key for key in value if key not in properties]
    if schema.get("x-sorted"):
        names.sort(key=natural)
    keys = [key for key in properties if key in value] + names
    return {key: _ordered(value[key], properties.get(key, additional), root) for key in keys}


def _mapping(value: Mapping[str, Any], path: Path, comments: Comments) -> Iterator[str]:
    """Yield the lines of a mapping, without indentation."""
    for key, item in value.items():
        inner = (*path, key)
        yield from comments.above.get(inner, ())
        beside = f"  {comments.beside[inner]}" if inner in comments.beside else ""
        name = scalar(key, in_flow=True)
        if _is_block(item):
            header, *lines = block_text(item)
            yield f"{name}: {header}{beside}"
            yield from (f"  {line}" if line else "" for line in lines)
        elif (short := _on_one_line(item, inner, comments, WIDTH - len(name))) is not None:
            yield f"{name}: {short}{beside}"
        else:
            yield f"{name}:{beside}"
            yield from (f"  {line}" if line else "" for line in _nested(item, inner, comments))


def _sequence(value: Sequence[Any], path: Path, comments: Comments) -> Iterator[str]:
    """Yield the lines of a list, without indentation."""
    for index, item in enumerate(value):
        inner = (*path, index)
        yield from comments.above.get(inner, ())
        beside = f"  {comments.beside[inner]}" if inner in comments.beside else ""
        if _is_block(item):
            lines = list(block_text(item))
        elif (short := _on_one_line(item, inner, comments, WIDTH)) is not None:
            lines = [short]
        else:
            lines = list(_nested(item, inner, comments))
        while lines[0].startswith("#"):
            yield lines.pop(0)
        yield f"- {lines[0]}{beside}"
        yield from (f"  {line}" if line else "" for line in lines[1:])


def _nested(item: Any, path: Path, comments: Comments) -> Iterator[str]:
    if isinstance(item, Mapping):
        return _mapping(item, path, comments)
    return _sequence(item, path, comments)


def _on_one_line(item: Any, path: Path, comments: Comments, room: int) -> str | None:
    """Return a scalar, an empty collection or a short list of scalars on one line; else None."""
    if isinstance(item, Mapping):
        return None if item else "{}"
    if not isinstance(item, list | tuple):
        return scalar(item)
    if not item:
        return "[]"
    simple = all(not isinstance(part, Mapping | list | tuple) for part in item)
    if not simple or path in comments.within:
        return None
    text = f"[{', '.join(scalar(part, in_flow=True) for part in item)}]"
    return text if len(text) <= room else None


def scalar(value: Any, *, in_flow: bool = False) -> str:
    """Write a scalar on one line; `in_flow`: as a key, or in a flow list."""
    if isinstance(value, float):
        # YAML 1.1 readers accept an exponent only after a decimal point.
        return re.sub(r"^(-?\d+)e", r"\1.0e", repr(value))
    if not isinstance(value, str):
        return json.dumps(value)
    if _is_plain(value) and not (in_flow and _FLOW_SIGNS.search(value)):
        return value
    quoted = json.dumps(value, ensure_ascii=False)
    return "".join(char if char.isprintable() else _escape(char) for char in quoted)


def _escape(char: str) -> str:
    return f"\\U{ord(char):08x}" if ord(char) > 0xFFFF else f"\\u{ord(char):04x}"


def _is_plain(text: str) -> bool:
    if not _PLAIN.fullmatch(text) or _AMBIGUOUS.fullmatch(text):
        return False
    return text.isprintable() and text == text.strip()


def _is_block(value: Any) -> bool:
    """Return whether a text becomes a literal block: it has several lines, or a very long one."""
    return fits_block(value) and ("\n" in value or len(value) > WIDTH)


def fits_block(value: Any) -> TypeGuard[str]:
    """Return whether a value can be a literal block: a text of printable characters."""
    if not isinstance(value, str) or not value.strip("\n"):
        return False
    speakable = value.translate(_WITHOUT_BREAKS).isprintable()
    return speakable and not value.startswith(("\n", " ", "\t"))


def block_text(text: str) -> Iterator[str]:
    """Yield the lines of a literal block, without indentation: its header, then the text."""
    body = text.rstrip("\n")
    ends = len(text) - len(body)
    yield "|" + ("-" if ends == 0 else "+" if ends > 1 else "")
    yield from body.split("\n")
    yield from [""] * (ends - 1)


def _comments(document: Document, text: str) -> Comments:
    """Return the comments of a file with the fields that they belong to."""
    starts: dict[int, list[Path]] = {}
    for path, place in {**document.places, **document.keys}.items():
        if path:
            starts.setdefault(place.line, []).append(path)
    for paths in starts.values():
        paths.sort(key=len)
    lines = sorted(starts)
    above: dict[Path, list[str]] = {}
    beside: dict[Path, str] = {}
    below: list[str] = []
    headers: list[str] = []
    for line, comment, alone in _comment_lines(text):
        owner = None if alone or line not in starts else _owner(starts[line], document)
        following = bisect.bisect_right(lines, line)
        if named := HEADER.fullmatch(comment):
            headers.append(named[1])
        elif owner is not None and owner not in beside:
            beside[owner] = comment
        elif owner is not None or following < len(lines):
            above.setdefault(owner or starts[lines[following]][0], []).append(comment)
        else:
            below.append(comment)
    within = {path[:depth] for path in (*above, *beside) for depth in range(len(path))}
    header = headers[0] if headers else None
    return Comments(above=above, beside=beside, below=below, within=within, header=header)


def _owner(paths: Sequence[Path], document: Document) -> Path:
    """Return the path that a comment at a line's end is about: the first field named there."""
    return next((path for path in paths if path in document.keys), paths[0])


def _comment_lines(text: str) -> Iterator[tuple[int, str, bool]]:
    """Yield each comment with its line number and whether it has the line to itself."""
    lines = text.splitlines()
    inside = [
        (event.start_mark, event.end_mark, event.style in {"|", ">"})
        for event in yaml.parse(text, yaml.CSafeLoader)
        if isinstance(event, yaml.ScalarEvent)
    ]
    spans: dict[int, list[tuple[int, int]]] = {}
    for start, end, is_block in inside:
        if is_block:
            start_line, last = start.line + 1, end.line if end.column == 0 else end.line + 1
            for number in range(start_line, last):
                spans.setdefault(number, []).append((0, len(lines[number])))
            continue
        for number in range(start.line, end.line + 1):
            left = start.column if number == start.line else 0
            right = end.column if number == end.line else len(lines[number])
            spans.setdefault(number, []).append((left, right))
    for number, line in enumerate(lines):
        for result in re.finditer(r"(?:^|(?<=\s))#", line):
            column = result.start()
            if not any(left <= column < right for left, right in spans.get(number, ())):
                yield number + 1, line[column:].rstrip(), not line[:column].strip()
                break
