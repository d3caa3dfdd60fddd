"""Search with a model's regular expressions in files that hostile code may have written."""

from __future__ import annotations

import re
from collections.abc import Callable

from .tool import ToolError

Find = Callable[[str], int]
"""Returns the position of the first match in a line, or -1."""

SECONDS = 1.0  # for one line
LONGEST_LINE = 10_000  # characters; backtracking memory grows with them
MOST_REPEATS = 100_000

_BRACES = re.compile(r"\{(\d*),?(\d*)\}")
# Recursion takes memory without bound, and verbose patterns can hide a count from the check.
_UNSUPPORTED = re.compile(r"\(\?(?:R|[+-]?\d|&|P>|[A-Za-z0-9-]*x)")


def substring(text: str) -> Find:
    """Return a search for a literal text."""
    return lambda line: line.find(text)


def expression(pattern: str) -> Find:
    """Return a search for a regular expression, in the first characters of each line.

    Raises:
        ToolError: The expression is invalid, or may be harmful. The returned function also raises
            it, for a line that takes too long.
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
    """Refuse expressions whose compilation is slow or large, which no timeout could stop."""
    repeats = 1
    for braces in _BRACES.finditer(pattern):
        # Nine digits suffice.
        repeats *= max(1, *(int(count[:9] or 1) for count in braces.groups()))
    if repeats > MOST_REPEATS:
        raise ToolError(
            f"the counts in {pattern!r} multiply to more than {MOST_REPEATS}. Use + or * instead."
        )
    if _UNSUPPORTED.search(pattern):
        raise ToolError(f"{pattern!r} is recursive or verbose, which is not supported here.")
