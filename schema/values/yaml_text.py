"""Reads YAML as data: only the scalars of YAML 1.2's core schema.

No tags, anchors, aliases or merge keys, no second document, no duplicate keys. The parser's events
are read one at a time, because the library's own constructors recurse on the C stack, and a small
file can end the process.
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

import yaml

from .document import LIMITS, Builder, Document, DocumentLimits, ReadingStopped
from .problems import Problem, TextPosition
from .secrets import LOOKS_LIKE_A_KEY, keys_in

WORDS: Mapping[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""The beginnings of a file in UTF-16."""
LONGEST_NUMBER = 40
"""Maximum characters. Every number that this project writes is shorter."""
MOST_KEYS = 20
"""The maximum number of secret keys in comments that are reported per file."""
HALF = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
PAIR = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
"""A JSON escape of a character beyond `\uffff`."""
CONTROL = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_yaml(
    content: bytes, file: str, limits: DocumentLimits = LIMITS
) -> tuple[Document, list[Problem]]:
    """Read one YAML document.

    Args:
        content: The file's bytes, UTF-8.

    Returns:
        The readable part, and the problems. After an error, reading continues only to find more.
    """
    builder = Builder(file=file, limits=limits)
    try:
        _read(decode(content, builder), builder)
    except ReadingStopped:
        return builder.document(complete=False), builder.problems
    return builder.document(), builder.problems


def decode(content: bytes, builder: Builder) -> str:
    """Decode a file's bytes, with the limit on its size.

    Raises:
        ReadingStopped: The file is too large or not UTF-8.
    """
    if len(content) > builder.limits.bytes:
        limit = builder.limits.bytes
        raise builder.stop(TextPosition(), f"the file is larger than {limit} bytes. Shorten it.")
    if content.startswith(UTF_16):
        raise builder.stop(TextPosition(), "the file is UTF-16. Save it as UTF-8.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = _place_at(content[: error.start].decode("utf-8", "replace"))
        byte = content[error.start]
        raise builder.stop(
            place, f"the byte 0x{byte:02x} is not UTF-8. Save the file as UTF-8."
        ) from None


def resolve(text: str) -> Any:
    """Return the value of a plain scalar by YAML 1.2's core schema."""
    if text in WORDS:
        return WORDS[text]
    if NOT_FINITE.fullmatch(text):
        return number(text, lambda word: float(word.replace(".", "")))
    if INTEGER.fullmatch(text):
        return number(text, lambda digits: int(digits, 0 if digits[:2] in {"0o", "0x"} else 10))
    return number(text, float) if FLOAT.fullmatch(text) else text


def number(text: str, read: Callable[[str], float]) -> float:
    """Parse a short, finite number.

    Raises:
        ValueError: It is not.
    """
    if len(text) > LONGEST_NUMBER:
        raise ValueError(f"a number of {len(text)} characters; at most {LONGEST_NUMBER} are read.")
    value = read(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is not a number that can be compared. Write a finite one.")
    return value


def _read(text: str, builder: Builder) -> None:
    if result := CONTROL.search(text):
        place = _place_at(text[: result.start()])
        code = f"U+{ord(result[0]):04X}"
        raise builder.stop(place, f"control character {code} in the file. Remove it.")
    try:
        _follow(text, builder)
        for index in islice(_keys_in_comments(text), MOST_KEYS):
            builder.report(_place_at(text[:index]), LOOKS_LIKE_A_KEY)
    except yaml.MarkedYAMLError as error:
        mark: Any = error.problem_mark or error.context_mark
        place = TextPosition(line=mark.line + 1, column=mark.column + 1)
        if "Unicode character escape" in str(error.problem):  # its mark stands behind `\\u`
            place = replace(place, column=place.column - 2)
        raise builder.stop(place, _syntax_message(error, _rest(text, place))) from None


def _follow(text: str, builder: Builder) -> None:
    documents = 0
    for event in yaml.parse(text, yaml.CSafeLoader):
        place = TextPosition(line=event.start_mark.line + 1, column=event.start_mark.column + 1)
        match event:
            case yaml.DocumentStartEvent():
                documents += 1
                if documents > 1:
                    raise builder.stop(place, "a second document begins here. Keep one per file.")
            case yaml.ScalarEvent():
                _report_extras(event, place, builder)
                builder.scalar(_scalar(event, place, builder), place)
            case yaml.MappingStartEvent():
                _report_extras(event, place, builder)
                builder.open({}, place)
            case yaml.SequenceStartEvent():
                _report_extras(event, place, builder)
                builder.open([], place)
            case yaml.AliasEvent():
                builder.report(place, f"alias *{event.anchor}. {WRITE_IT_OUT}", builder.path())
                builder.scalar(None, place)
            case yaml.CollectionEndEvent():
                builder.close()
            case _:
                pass
    if not documents:
        raise builder.stop(TextPosition(), "the file is empty.")


def _keys_in_comments(text: str) -> Iterator[int]:
    """Report secret keys in comments; other checks find those in values."""
    numbers = [match.start() for match in keys_in(text)]
    if not numbers:
        return
    events: Iterator[Any] = yaml.parse(text, yaml.CSafeLoader)
    spans = [_span(event, text) for event in events if isinstance(event, yaml.ScalarEvent)]
    for index in numbers:
        before = bisect(spans, (index, len(text))) - 1
        if before < 0 or index >= spans[before][1]:
            yield index


def _span(event: Any, text: str) -> tuple[int, int]:
    """Return a scalar's place from its first character on; `|` may be followed by a comment."""
    start, end = event.start_mark.index, event.end_mark.index
    return (text.find("\n", start) if event.style in {"|", ">"} else start), end


ADVICE = {
    "mapping values are not allowed": " Quote a text that has a colon and a space in it.",
    "cannot start any token": " Quote a text that begins with this character.",
    "could not find expected ':'": " Write `name: value`, or indent a text of several lines.",
    "did not find expected key": " Is the line indented like its neighbours?",
    "did not find expected '-'": " Is the line indented like its neighbours?",
}
"""The most frequent fix of a problem that the library reports."""

WRITE_IT_OUT = "Anchors and aliases are not supported: write the value where it is needed."


def _report_extras(event: Any, place: TextPosition, builder: Builder) -> None:
    if event.anchor is not None:
        builder.report(place, f"anchor &{event.anchor}. {WRITE_IT_OUT}", builder.path())
    if event.tag is not None:
        tag = event.tag.replace("tag:yaml.org,2002:", "!!")
        builder.report(place, f"tag {tag}. Tags are not supported: remove it.", builder.path())


def _scalar(event: yaml.ScalarEvent, place: TextPosition, builder: Builder) -> Any:
    if not event.implicit[0]:
        return event.value
    if event.value == "<<":
        builder.report(place, f"merge key <<. {WRITE_IT_OUT}", builder.path())
    try:
        return resolve(event.value)
    except ValueError as error:
        builder.report(place, str(error), builder.path())
        return None


def _syntax_message(error: yaml.MarkedYAMLError, rest: str) -> str:
    if rest.startswith("\t"):
        return "a tab cannot indent YAML. Use spaces."
    if pair := PAIR.match(rest):
        meant = json.loads(f'"{pair[0]}"')
        return f"{pair[0]} is JSON, not YAML. Write \\U{ord(meant):08x}, or {meant} itself."
    if half := HALF.match(rest):
        return f"{half[0]} is half a character. Write the whole one, or leave it out."
    problem = str(error.problem).strip()
    context = f" ({error.context})" if error.context else ""
    advice = next((advice for sign, advice in ADVICE.items() if sign in problem), "")
    return f"not YAML: {problem}{context}.{advice}"


def _rest(text: str, place: TextPosition) -> str:
    lines = text.splitlines()
    return lines[place.line - 1][place.column - 1 :] if place.line <= len(lines) else ""


def _place_at(before: str) -> TextPosition:
    line = before.count("\n") + 1
    return TextPosition(line=line, column=len(before) - (before.rfind("\n") + 1) + 1)
