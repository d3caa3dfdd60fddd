"""Code in an answer, found whole: what smolagents takes for its end may be a part of it."""

from __future__ import annotations

import ast
import re
from itertools import islice

from ._bounds import LARGEST_ANSWER

END_IN_CODE = (
    "your code was cut where it has </code> in it, which ends it. Nothing was executed. Write that"
    " text in two parts there: '</' + 'code>'."
)
_OPENING = re.compile(r"```(?:python|py)\b")
_CLOSING = re.compile(r"\n```")
MOST_ENDS = 20
"""Fences at which a block may end that are tried."""
LARGEST_TRIED = LARGEST_ANSWER // 10


def whole_code(text: str) -> str:
    """Return an answer with its fenced code between smolagents' tags, where fences are in the code.

    A block ends at the first fence at which it is Python.
    """
    if "<code>" in text or len(text) > LARGEST_TRIED:
        return text
    blocks: list[str] = []
    at, is_otherwise = 0, False
    while opening := _OPENING.search(text, at):
        ends = [end.span() for end in islice(_CLOSING.finditer(text, opening.end()), MOST_ENDS)]
        if not ends:
            break
        start, at = ends[0]
        if len(ends) > 1:
            whole = (end for end in ends if _is_python(text[opening.end() : end[0]]))
            start, at = next(whole, ends[0])
        is_otherwise |= start != ends[0][0]
        blocks.append(text[opening.end() : start].strip())
    code = "\n\n".join(blocks)
    return f"<code>\n{code}\n</code>" if is_otherwise and "</code>" not in code else text


def ends_in_code(text: str) -> bool:
    """Return whether the sign for the end of code stands in a text of the code itself."""
    _, opening, after = text.partition("<code>")
    code = after.partition("</code>")[0]
    return bool(opening) and len(code) <= LARGEST_TRIED and "unterminated" in _fault(code)


def _is_python(code: str) -> bool:
    return not _fault(code)


def _fault(code: str) -> str:
    try:
        ast.parse(code.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return str(error)
    return ""
