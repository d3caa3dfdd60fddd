"""What a case looks like before anybody works on it: numbers that a router can go by.

What stands in the task is counted, for nothing; what takes judgement a model is asked for, in one
call: see `gauge`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ...schema.team.task import Task

Features = Mapping[str, float]
"""What is known of a case, by the names of features."""

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
    """Count what stands in a task: words, lines that say something, listed items, numbers.

    Items are lines that begin with a dash or a number; options are those that begin with a capital
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
