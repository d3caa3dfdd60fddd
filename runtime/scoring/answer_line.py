"""The form of an answer: the whole text, or what follows its last line that begins with `Answer:`.

Prompts of our seeds and founders ask for it by `ANSWER_FORM` or `ANSWER_ALONE`, word for word.
Scorers of short answers and votes read it by this module alone.
"""

from __future__ import annotations

import re

ANSWER_FORM = (
    "End with the final answer exactly in the form that the task asks for. Where it asks for none,"
    " end with a line that begins with `Answer:` and holds the answer alone."
)
"""How a prompt asks for reasons and an answer that scorers can read."""
ANSWER_ALONE = "Reply with the final answer only, in the form that the task asks for"
"""How a prompt asks for an answer and nothing else."""
_LINE = re.compile(
    r"^[ \t>#]*+(?:[-*][ \t]++)?([*_]*+)(?:final[ \t]++)?answer[ \t]*+[*_]*+[ \t]*+:(.*)$",
    re.IGNORECASE | re.MULTILINE,
)


def answer_line(text: str) -> str | None:
    """Return what the last line holds that begins with `Answer:`; None where there is no such line.

    Where that line holds nothing else, it is what follows the line. Bold type is left out.
    """
    last = None
    for match in _LINE.finditer(text):
        last = match
    if last is None:
        return None
    mark, held = last[1], last[2].strip()
    if mark:
        held = held.removeprefix(mark).removesuffix(mark).strip()
    held = held or text[last.end() :].strip()
    is_bold = len(held) > 4 and held.startswith("**") and held.endswith("**")
    return (held[2:-2].strip() if is_bold else held) or None


def readings(text: str) -> tuple[str, ...]:
    """Return what a scorer may take for the answer: the `Answer:` line first, then the whole text.

    One that looks for something, such as a number, takes the first reading that has it.
    """
    line = answer_line(text)
    return (text,) if line is None else (line, text)
