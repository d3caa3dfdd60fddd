"""Reads JSON with the place of every value, which the standard library does not report."""

from __future__ import annotations

import bisect
import json
import re
from collections.abc import Callable
from typing import Any

from .document import LIMITS, Builder, Document, DocumentLimits, ReadingStopped
from .problems import Problem, TextPosition
from .yaml_text import decode, number

TOKEN = re.compile(r'[ \t\n\r:,]*(?:([{\[])|([}\]])|("[^"\\]*(?:\\.[^"\\]*)*")|([^\s{}\[\]":,]+))')


def read_json(
    content: bytes, file: str, limits: DocumentLimits = LIMITS
) -> tuple[Document, list[Problem]]:
    """Read one JSON document; arguments and result are those of `read_yaml`."""
    builder = Builder(file=file, limits=limits)
    try:
        text = decode(content, builder)
        place = _places(text)
        _check_syntax(text, place, builder)
        _follow(text, place, builder)
    except ReadingStopped:
        return builder.document(complete=False), builder.problems
    return builder.document(), builder.problems


def _check_syntax(text: str, place: Callable[[int], TextPosition], builder: Builder) -> None:
    if not text.strip():
        raise builder.stop(TextPosition(), "the file is empty.")
    try:
        json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
    except json.JSONDecodeError as error:
        reason = error.msg[0].lower() + error.msg[1:].removesuffix(" starting at")
        end = len(text.rstrip())  # text that breaks off is wrong where it ends, not a line below
        raise builder.stop(place(min(error.pos, end)), f"not JSON: {reason}.") from None
    except RecursionError:
        return  # far deeper than the limit, so descending finds the place


def _follow(text: str, place: Callable[[int], TextPosition], builder: Builder) -> None:
    position = 0
    while result := TOKEN.match(text, position):
        position = result.end()
        here = place(result.start(result.lastindex or 0))
        match result.lastindex:
            case 1:
                builder.open({} if result[1] == "{" else [], here)
            case 2:
                builder.close()
            case 3:
                builder.scalar(json.loads(result[3]), here)
            case _:
                builder.scalar(_literal(result[4], here, builder), here)


def _literal(token: str, place: TextPosition, builder: Builder) -> Any:
    if token in {"true", "false", "null"}:
        return json.loads(token)
    try:
        return number(token, int if token.lstrip("-").isdecimal() else float)
    except ValueError as error:
        builder.report(place, str(error), builder.path())
        return None


def _places(text: str) -> Callable[[int], TextPosition]:
    """Index the lines of a text once, so that a binary search finds each place."""
    starts = [0, *(result.end() for result in re.finditer("\n", text))]

    def place(position: int) -> TextPosition:
        line = bisect.bisect_right(starts, position)
        return TextPosition(line=line, column=position - starts[line - 1] + 1)

    return place
