"""The features of a case before any work on it: numbers that a router can use.

Features of the task's text are counted without cost. Features that need judgement take one model
call: see `gauge`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ...schema.team.task import Task

Features = Mapping[str, float]
"""The known features of a case, by name."""

COMPUTED = (
    *("words", "lines", "items", "options", "numbers", "distinct_numbers", "questions", "files"),
)
"""The features that are counted in a task's text."""
GAUGED = ("complexity", "disciplines", "specialities", "divergence", "misleading")
"""The features that a model judges: the five of MATTRL §5.2."""

NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*")
OPTION = re.compile(r"^\s*\(?[A-Z][.):]\s", re.MULTILINE)
ITEM = re.compile(r"^\s*(?:[-*+•]|\(?\d{1,3}[.)])\s", re.MULTILINE)


def computed(task: Task) -> dict[str, float]:
    """Return counts from a task's text: words, lines that are not blank, listed items, numbers.

    Items are lines that begin with a dash or a number. Options are lines that begin with a capital
    letter and a bracket, a full stop or a colon.
    """
    text = task.text
    numbers = NUMBER.findall(text)
    counts = {
        "words": len(text.split()),
        "lines": sum(bool(line.strip()) for line in text.splitlines()),
        "items": len(ITEM.findall(text)),
        "options": len(OPTION.findall(text)),
        "numbers": len(numbers),
        "distinct_numbers": len({*numbers}),
        "questions": text.count("?"),
        "files": len(task.files) + len(task.attachments),
    }
    return {name: float(counts[name]) for name in COMPUTED}
