"""Finds apparent placeholders in prompts. They are sent unchanged: prompts are no templates.

Users of CrewAI or LangChain often write `{topic}` or `{{ task.query }}`. The braces of JSON, code,
LaTeX and answer formats are ignored.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from ..values.problems import quoted
from .task import names_fields
from .team import is_prompt_id

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..host.catalogue import Catalogue
    from ..values.problems import Path, Problem
    from ._graph import Reading

_DOUBLE = re.compile(r"(?<!\{)\{\{-? *[A-Za-z_][\w.]*(?: *\| *\w+)* *-?\}\}(?!\})")
_SINGLE = re.compile(r"(?<![\w\\$#%@{}^.(])\{[a-z][A-Za-z0-9_]+\}(?![{}(])")
_CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`", re.DOTALL)
_LOOKS_LIKE_CODE = re.compile(r"[;=]|\b(?:import|def|return|print|class)\b|\bf[\"']|\\[a-z]+\{")
TO_BE_WRITTEN = frozenset({
    "answer", "category", "choice", "confidence", "explanation", "final_answer", "label", "letter",
    "name", "number", "reason", "result", "score", "value", "verdict", "word", "your_answer",
})  # fmt: skip
"""Words in braces that an agent must replace when a prompt shows the format of its answer."""
INSTEAD = (
    "is sent unchanged: prompts are not templates. Every prompt already has the task, its context"
    " and colleagues' reports. Leave it out, or write {{ task.NAME }} for a"
    " field of the task."
)


def placeholders_in(text: str) -> Iterator[tuple[int, str]]:
    """Yield each apparent placeholder with its line number in the text, from 1."""
    plain = _CODE.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), text)
    for number, line in enumerate(plain.splitlines(), start=1):
        if _LOOKS_LIKE_CODE.search(line):
            continue
        doubles = (result[0] for result in _DOUBLE.finditer(line))
        yield from ((number, double) for double in doubles if not names_fields(double))
        for hits in _SINGLE.finditer(line):
            if hits[0][1:-1] not in TO_BE_WRITTEN:
                yield number, hits[0]


def placeholders(reading: Reading) -> Iterator[Problem]:
    """Warn of apparent placeholders in the team's prompts and rules."""
    for agent, path in reading.agents():
        text, where = agent.prompt, ""
        if is_prompt_id(agent.prompt):
            text = _read(reading.catalogue, agent.prompt)
            where = f"the prompt file {agent.prompt}.md: "
        if pair := next(placeholders_in(text), None):
            yield _warning(reading, (*path, "prompt"), f"{where}{_problem(*pair)}")
    if pair := next(placeholders_in(reading.team.constitution), None):
        yield _warning(reading, ("constitution",), _problem(*pair))


def _read(catalogue: Catalogue, prompt_id: str) -> str:
    """Read a prompt file; empty if it is unreadable, which another check reports."""
    try:
        return catalogue.prompt(prompt_id) or ""
    except (OSError, UnicodeDecodeError):
        return ""


def _warning(reading: Reading, path: Path, message: str) -> Problem:
    return replace(reading.problem(path, message), severity="warning")


def _problem(line: int, problem: str) -> str:
    place = f" in line {line} of the text" if line > 1 else ""
    return f"{quoted(problem)}{place} {INSTEAD}"
