"""Regular expressions that a model wrote, tried on files that hostile code may have written."""

from __future__ import annotations

import re
from collections.abc import Callable

from .tool import ToolError

Find = Callable[[str], int]
"""Gives the place in a line where it matches first, or -1."""

SECONDS = 1.0  # for one line
LONGEST_LINE = 10_000  # characters; the memory for ways back grows with them
MOST_REPEATS = 100_000

_BRACES = re.compile(r"\{(\d*),?(\d*)\}")
# Recursion takes memory without bound, and verbose patterns can hide a count from the check.
_UNSUPPORTED = re.compile(r"\(\?(?:R|[+-]?\d|&|P>|[A-Za-z0-9-]*x)")


def substring(text: str) -> Find:
    """Look for a text as it is."""
    return lambda line: line.find(text)


def expression(pattern: str) -> Find:
    """Look for what a regular expression matches, in the first characters of each line.

    Raises:
        ToolError: It is not a regular expression, or not a harmless one. What is given back raises
            it, too: for a line that takes too long.
    """
    import regex  # slow to import

    _check_harmless(pattern)
    try:
        compiled = regex.compile(pattern, cache_pattern=False)
    except (regex.error, RecursionError) as error:
        raise ToolError(f"{pattern!r} is not a regular expression: {error}.") from None

    def find(line: str) -> int:
        try:
            # `concurrent` lets other threads go on meanwhile.
            match = compiled.search(line[:LONGEST_LINE], timeout=SECONDS, concurrent=True)
        except (TimeoutError, MemoryError):
            raise ToolError(
                f"{pattern!r} takes more than {SECONDS:g} s, or too much memory, for one line."
                " Write a simpler expression."
            ) from None
        return match.start() if match else -1

    return find


def _check_harmless(pattern: str) -> None:
    """Refuse what makes compiling slow or large, which no timeout could stop."""
    repeats = 1
    for braces in _BRACES.finditer(pattern):
        # Nine digits tell enough.
        repeats *= max(1, *(int(count[:9] or 1) for count in braces.groups()))
    if repeats > MOST_REPEATS:
        raise ToolError(
            f"the counts in {pattern!r} multiply to more than {MOST_REPEATS}. Use + or * instead."
        )
    if _UNSUPPORTED.search(pattern):
        raise ToolError(f"{pattern!r} is recursive or verbose, which is not supported here.")
