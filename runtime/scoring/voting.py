"""Conclusions of answers: when two texts of several lines are votes for the same.

An answer ends in a box, in a line that begins with `Answer:`, in a block of code, or in its last
line. Conclusions are compared in a normal form without differences of spelling: nothing is
computed or run, so texts count as the same only if they say the same.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections import Counter
from typing import TYPE_CHECKING

from ...schema.host.catalogue import load_named
from ...schema.values.errors import AgentError
from .answer_line import answer_line
from .comparing import NUMBER, numerals, plain
from .functions import CONCLUSION, answer_of, normal_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...schema.team.task import Task
    from ..agents.runner import AgentReport

LONGEST = 20_000
"""Characters at the end of a longer answer that are read."""
VOTES = frozenset({"majority", "vote"})
_FENCE = re.compile(r"[ \t]*+```")
_NUMBER_ALONE = re.compile(
    rf"[\s\#>*_=:$€£(\"'`]*+({NUMBER.pattern})[\s*_.,;:$€£)\"'`]*+", re.VERBOSE
)
_BRACES = re.compile(r"\\boxed\{|\\.|[{}]", re.DOTALL)
_DECORATION = re.compile(r"\\(?:left|right|displaystyle|[!,;: ])(?![A-Za-z])|[\s$]|\{,\}")
_SPELLINGS = (
    (re.compile(r"\\[dt]frac(?![A-Za-z])"), r"\\frac"),
    (re.compile(r"\\frac(\d)(\d)"), r"\\frac{\1}{\2}"),
    (re.compile(r"\\frac\{(\d+)\}\{(\d+)\}"), r"\1/\2"),
    (re.compile(r"\\(?:text|textbf|mathrm|mathbf|mbox)\{([^{}]*)\}"), r"\1"),
)
_LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER}
_BLOCKS = {tokenize.NEWLINE: "\n", tokenize.INDENT: "{", tokenize.DEDENT: "}"}


def vote(reports: Sequence[AgentReport], task: Task) -> str:
    """Return the report of the first colleague with the most frequent conclusion.

    See `conclusion`; the conclusion of a patch is the whole patch. An empty answer has no vote if
    there are others.

    Raises:
        AgentError: There is no report.
    """
    answers = [answer_of(report.content) for report in reports]
    if not answers:
        raise AgentError("vote: no colleague reported an answer.")
    cast = [
        (f"patch {report.patch}" if report.patch else conclusion(answer, task), answer)
        for report, answer in zip(reports, answers, strict=True)
        if answer
    ]
    votes = Counter(what for what, _ in cast)
    return max(cast, key=lambda pair: votes[pair[0]], default=("", ""))[1]


def conclusion(answer: str, task: Task) -> str:
    r"""Return what an answer comes down to, in a form in which equal conclusions are equal.

    Where the task is scored by its last number, it is that number. Else it is the first of these
    that the answer has, and of several such, the last:

    1. a box (`\boxed{}`), as mathematics without differences of spacing and spelling;
    2. a line that begins with `Answer:`;
    3. a fenced block of code, without comments, docstrings, blank lines and layout;
    4. what follows `answer is` in a line;
    5. the last line.

    A number is the same however its thousands, zeros and currency are written; of other texts,
    neither case nor outer punctuation nor spacing counts.

    Args:
        answer: The answer, or a structured report that has it.
        task: What was asked. Only the name of its scorer counts.
    """
    text = answer_of(answer)[-LONGEST:]
    if task.scorer.name == "number" and (numbers := numerals(text)):
        return _number(numbers[-1])
    if (boxed := _boxed(text)) is not None:
        return _value(_mathematics(boxed), str)
    prose, blocks = _parted(text)
    if (line := answer_line(prose)) is not None:
        return _value(line)
    if blocks:
        return f"code {_code(blocks[-1])}"
    if matches := CONCLUSION.findall(prose):
        return _value(matches[-1])
    return _value(prose.strip().rpartition("\n")[2])


def picks(function: str) -> bool:
    """Return whether a function returns one of the reports that it receives: a kind of vote.

    `majority` and `vote` do; others declare it by an attribute, `picks = True`.
    """
    return function in VOTES or bool(getattr(load_named("functions", function), "picks", False))


def _value(text: str, form: Callable[[str], str] = normal_text) -> str:
    alone = _NUMBER_ALONE.fullmatch(plain(text))
    return _number(*numerals(alone[1])) if alone else f"text {form(text)}"


def _number(written: str) -> str:
    """Write a numeral exactly, without redundant zeros."""
    digits, exponent, power = written.lower().partition("e")
    sign, digits = ("-", digits[1:]) if digits.startswith("-") else ("", digits)
    whole, _, part = digits.partition(".")
    size = ".".join(filter(None, (whole.lstrip("0") or "0", part.rstrip("0"))))
    return f"number {'' if size == '0' else sign}{size}{exponent}{power}"


def _boxed(text: str) -> str | None:
    """Return the content of the last closed box; None if there is none."""
    opened: list[tuple[bool, int]] = []
    boxes: dict[int, str] = {}
    for result in _BRACES.finditer(text):
        if result[0] == "}" and opened:
            is_box, start = opened.pop()
            boxes |= {start: text[start : result.start()]} if is_box else {}
        elif result[0].endswith("{") and result[0] != "\\{":
            opened.append((result[0] != "{", result.end()))
    return boxes[max(boxes)] if boxes else None


def _parted(text: str) -> tuple[str, list[str]]:
    """Split an answer into prose and fenced blocks; a block that is not closed is prose."""
    prose, blocks, block = [""], list[str](), list[str]()
    for line in text.split("\n"):
        is_fence = _FENCE.match(line) is not None
        if block and is_fence:
            blocks.append("\n".join([*block[1:], ""]))
            block = []
        elif block or is_fence:
            block.append(line)
        else:
            prose.append(line)
    return "\n".join([*prose, *block]), blocks


def _mathematics(text: str) -> str:
    text = _DECORATION.sub("", text).rstrip(".")
    for spelt, usual in _SPELLINGS:
        text = spelt.sub(usual, text)
    return text


def _code(text: str) -> str:
    try:
        return _python(text)
    except (tokenize.TokenError, SyntaxError):
        return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())


def _python(text: str) -> str:
    """Write Python with single spaces between tokens, without parts that have no effect."""
    words = [
        (kind, _BLOCKS.get(kind, word))
        for kind, word, *_ in tokenize.generate_tokens(io.StringIO(text).readline)
        if kind not in _LAYOUT
    ]
    around = zip([tokenize.NEWLINE, *(kind for kind, _ in words)], words, words[1:], strict=False)
    docstrings = {
        place
        for place, (before, (kind, _), (after, _)) in enumerate(around)
        if kind == tokenize.STRING and before in _BLOCKS and after == tokenize.NEWLINE
    }
    removed = docstrings | {place + 1 for place in docstrings}
    return " ".join(word for place, (_, word) in enumerate(words) if place not in removed)
