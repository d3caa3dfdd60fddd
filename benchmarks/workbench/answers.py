"""What a team's answer says that is to be done: the calls below its label `FUNCTION_CALLS:`."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from .calls import parse_call, parse_expression
from .operation import CallFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["calls_in", "written"]

MOST_CALLS = 200
MOST_ENDS = 400
"""Brackets that are tried as the end of a list."""
MOST_LINES = 60
"""Of one call, whose texts may have line ends in them."""

_LABEL = re.compile(r"function[_ ]calls[*_`\"]*[ \t]*:[*_`]*", re.IGNORECASE)
_BEFORE = re.compile(r"^[\s>]*(?:(?:[-*+\u2022]|\(?\d{1,3}[.):])\s+)*(?:\*\*)?`*")
_FENCE = re.compile(r"^\s*(?:```|~~~)\w*\s*$")
_CALL = re.compile(r"\(*[A-Za-z_]+\.[A-Za-z_.]+\s*\(")


def calls_in(answer: str) -> list[str] | None:
    """Read the calls of an answer, each as text; None where it has no label.

    What follows the last label counts, whatever its case. It may be a Python list of texts or of
    calls, or lines, each of which begins a call. Bullets, numbers, backticks, fences and commas
    around the calls are passed over, and so are lines that are no calls.
    """
    labels = list(_LABEL.finditer(answer))
    if not labels:
        return None
    section = answer[labels[-1].end() :]
    lines = [line for line in section.split("\n") if not _FENCE.match(line)]
    listed = _listed("\n".join(lines))
    return _from_lines(lines) if listed is None else listed[:MOST_CALLS]


def written(tool: str, arguments: Mapping[str, Any]) -> str:
    """Write down a call that was done, as the original does: every value as text, as it is.

    A value with a double quote in it, or that ends with a backslash, makes a call that cannot be
    read again, and that verdicts pass over.
    """
    shown = ", ".join(f'{name}="{value}"' for name, value in arguments.items())
    return f"{tool}.func({shown})"


def _listed(section: str) -> list[str] | None:
    """Read a list of calls that the section begins with; None where it begins otherwise."""
    text = section.strip().strip("`").strip()
    if not text.startswith("["):
        return None
    ends = [place for place, char in enumerate(text) if char == "]"]
    for end in ends[:MOST_ENDS]:
        try:
            node = parse_call(text[: end + 1].replace("\n", " "))
        except CallFailed:
            continue
        if isinstance(node, ast.List):
            return [_text_of(one, text) for one in node.elts]
    return None


def _text_of(node: ast.expr, text: str) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.strip()
    return ast.get_source_segment(text.replace("\n", " "), node) or ""


def _from_lines(lines: list[str]) -> list[str]:
    calls: list[str] = []
    while lines and len(calls) < MOST_CALLS:
        start = _BEFORE.sub("", lines[0])
        call, count = None, 1
        if _CALL.match(start):
            call, count = _first_call([start, *lines[1:MOST_LINES]])
            calls.append(call)
        lines = lines[count:]
    return calls


def _first_call(lines: list[str]) -> tuple[str, int]:
    """Give the call that lines begin with, and how many of them it takes.

    Its arguments may stand on lines of their own, and its texts may have line ends in them. Where
    no whole call is found, the first line is given as it is, and will fail.
    """
    for count in range(1, len(lines) + 1):
        text = _trimmed("\n".join(lines[:count]))
        if text.endswith((")", "]")):
            if _parses(text, parse_call):
                return text, count
            if "#" not in text and _parses(text, parse_expression):
                return text.replace("\n", " "), count  # line ends stand between arguments only
    return _trimmed(lines[0]), 1


def _parses(text: str, parse: Callable[[str], ast.expr]) -> bool:
    try:
        parse(text)
    except CallFailed:
        return False
    return True


def _trimmed(text: str) -> str:
    return text.strip().rstrip("`*,;").rstrip()
