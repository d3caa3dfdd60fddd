"""The form of an answer: the whole text, or what follows its last line that begins with `Answer:`.

Prompts of our seeds and founders ask for it with `ANSWER_FORM` or `ANSWER_ALONE`, word for word.
Scorers of short answers and votes read it through this module only.
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
    """Return the text after the last `Answer:` at the start of a line; None if there is none.

    If nothing follows on that line, the next lines count. Bold markers are removed.
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
    """Return the texts that may be the answer: the `Answer:` line, then the whole text.

    A scorer that looks for something, such as a number, takes the first reading that has it.
    """
    line = answer_line(text)
    return (text,) if line is None else (line, text)
