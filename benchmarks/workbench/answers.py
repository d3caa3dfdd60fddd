"""Reads the calls in a team's answer, below its label `FUNCTION_CALLS:`."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from typing import Any

from .calls import parse_call, parse_expression
from .operation import CallFailed

MOST_CALLS = 200
MOST_ENDS = 400
"""The maximum number of brackets tried as the end of a list."""
MOST_LINES = 60
"""The maximum number of lines of one call, whose texts may contain line breaks."""
MOST_PARSED = 500_000
"""Maximum characters of an answer to parse, including retries; after that a call is one line."""

_LABEL = re.compile(r"function[_ ]calls[*_`\"]*[ \t]*:[*_`]*", re.IGNORECASE)
_BEFORE = re.compile(r"^[\s>]*(?:(?:[-*+\u2022]|\(?\d{1,3}[.):])\s+)*(?:\*\*)?`*")
_FENCE = re.compile(r"^\s*(?:```|~~~)\w*\s*$")
_CALL = re.compile(r"\(*[A-Za-z_]+\.[A-Za-z_.]+\s*\(")


def calls_in(answer: str) -> list[str] | None:
    """Return the calls of an answer, each as text; None without the label.

    The text after the last label counts, in any case. It may be a Python list of texts or of calls,
    or lines that each begin a call. Bullets, numbers, backticks, fences and commas around the calls
    are skipped, and so are lines that are no calls.
    """
    labels = list(_LABEL.finditer(answer))
    if not labels:
        return None
    section = answer[labels[-1].end() :]
    lines = [line for line in section.split("\n") if not _FENCE.match(line)]
    parser = _Parser()
    listed = _listed("\n".join(lines), parser)
    return _from_lines(lines, parser) if listed is None else listed[:MOST_CALLS]


def written(tool: str, arguments: Mapping[str, Any]) -> str:
    """Return a call as text in the original's form: every value as unescaped text.

    A value that contains a double quote, or ends with a backslash, makes a call that cannot be read
    again, and that verdicts skip.
    """
    shown = ", ".join(f'{name}="{value}"' for name, value in arguments.items())
    return f"{tool}.func({shown})"


class _Parser:
    """Parses calls up to a total number of characters."""

    def __init__(self) -> None:
        self._left = MOST_PARSED

    def parsed(self, text: str, parse: Callable[[str], ast.expr] = parse_call) -> ast.expr | None:
        """Parse a text; None if it is no call, or exceeds the limit."""
        self._left -= len(text)
        if self._left < 0:
            return None
        try:
            return parse(text)
        except CallFailed:
            return None


def _listed(section: str, parser: _Parser) -> list[str] | None:
    """Read the list of calls at the beginning of a section; None without one."""
    text = section.strip().strip("`").strip()
    if not text.startswith("["):
        return None
    ends = [place for place, char in enumerate(text) if char == "]"]
    for end in ends[:MOST_ENDS]:
        node = parser.parsed(text[: end + 1].replace("\n", " "))
        if isinstance(node, ast.List):
            return [_text_of(elt, text) for elt in node.elts]
    return None


def _text_of(node: ast.expr, text: str) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.strip()
    return ast.get_source_segment(text.replace("\n", " "), node) or ""


def _from_lines(lines: list[str], parser: _Parser) -> list[str]:
    calls: list[str] = []
    at = 0
    while at < len(lines) and len(calls) < MOST_CALLS:
        start, count = _BEFORE.sub("", lines[at]), 1
        if _CALL.match(start):
            call, count = _first_call([start, *lines[at + 1 : at + MOST_LINES]], parser)
            calls.append(call)
        at += count
    return calls


def _first_call(lines: list[str], parser: _Parser) -> tuple[str, int]:
    """Return the call at the beginning of lines, and its number of lines.

    Arguments may be on lines of their own, and texts may contain line breaks. Without a complete
    call, the first line is returned, which will fail.
    """
    for count in range(1, len(lines) + 1):
        text = _trimmed("\n".join(lines[:count]))
        if text.endswith((")", "]")):
            if parser.parsed(text) is not None:
                return text, count
            if "#" not in text and parser.parsed(text, parse_expression) is not None:
                return text.replace("\n", " "), count  # line breaks are only between arguments
    return _trimmed(lines[0]), 1


def _trimmed(text: str) -> str:
    return text.strip().rstrip("`*,;").rstrip()
