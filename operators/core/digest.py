"""A bounded digest of a run: what an operator learns from it without reading its whole trace.

Failures come first. Agents with the same output share an entry: a unanimous error is a finding.
The digest never holds the reference answer, nor a scorer's reason, which may quote it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...runtime.agents.outcomes import AgentOutcome, Run, Score
from ...schema.team.words import span
from ...schema.values.terminal import counted, on_one_line, speakable
from .material import CHARACTERS_PER_TOKEN, clip

LONGEST_ERROR = 200
SHORTEST_OUTPUT = 40
MOST_MISHAPS = 3


def digest(run: Run, *, verdict: Score | None = None, tokens: int = 1_500) -> str:
    """Return a digest of a run.

    Args:
        verdict: The score to show instead of the run's own. Its reason is shown only if it differs
            from that of the run's score. Then it comes from a judge, who does not know the
            reference answer.
    """
    most = tokens * CHARACTERS_PER_TOKEN
    head = "\n".join(_head(run, verdict, most))
    entries = _entries(run)
    shown, left = _that_fit([item.heading for item in entries], most - len(head))
    share = left // max(1, len(shown)) - len("  output: \n")
    lines = [head]
    for entry, heading in zip(entries, shown, strict=False):
        lines.append(heading)
        if entry.output and share >= SHORTEST_OUTPUT:
            lines.append(f"  output: {clip(entry.output, share)}")
    if rest := [agent for entry in entries[len(shown) :] for agent in entry.agents]:
        lines.append(f"and {counted(len(rest), 'agent')} more")
    return "\n".join(lines)[:most]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Entry:
    """Agents with the same outcome and output.

    Attributes:
        rank: The sort key: failures come first.
    """

    agents: Sequence[str]
    heading: str
    output: str
    rank: int


def _head(run: Run, verdict: Score | None, most: int) -> Iterator[str]:
    usage = run.usage  # without its time: operators' questions must not depend on it
    consumed = [
        counted(usage.calls, "call"),
        counted(usage.tokens, "token"),
    ]
    yield f"run: {run.status}; {', '.join(consumed)}"
    if run.error:
        yield f"error: {clip(on_one_line(run.error), LONGEST_ERROR)}"
    if score := verdict or run.score:
        yield f"score: {score.value:.3g}"
    if verdict and verdict.reason and (not run.score or verdict.reason != run.score.reason):
        yield f"judge: {clip(on_one_line(verdict.reason), most // 5)}"
    if run.answer is not None:
        yield f"answer: {clip(on_one_line(run.answer), most // 5)}"


def _entries(run: Run) -> list[_Entry]:
    """Group the agents by outcome, failures first."""
    last = [*run.agents][-1:]
    alike: dict[tuple[str, str, int], list[str]] = {}
    for agent, outcome in run.agents.items():
        ended = _ended(outcome)
        output = speakable(outcome.result.content).strip() if outcome.result else ""
        rank = _rank(outcome, is_last=agent in last)
        alike.setdefault((ended, on_one_line(output), rank), []).append(agent)
    entries = [
        _Entry(agents=agents, heading=f"{span(agents)}: {ended}", output=output, rank=rank)
        for (ended, output, rank), agents in alike.items()
    ]
    return sorted(entries, key=lambda entry: entry.rank)


def _rank(outcome: AgentOutcome, *, is_last: bool) -> int:
    if outcome.status == "failed":
        return 0
    if outcome.status != "done":
        return 1
    return 2 if outcome.mishaps else 3 if is_last else 4


def _ended(outcome: AgentOutcome) -> str:
    texts: list[str] = [outcome.status]
    if outcome.error:
        texts.append(clip(on_one_line(outcome.error), LONGEST_ERROR))
    texts += [clip(on_one_line(mishap), LONGEST_ERROR) for mishap in outcome.mishaps[:MOST_MISHAPS]]
    if (more := len(outcome.mishaps) - MOST_MISHAPS) > 0:
        texts.append(f"and {more} more of such")
    return "; ".join(texts)


def _that_fit(headings: Sequence[str], most: int) -> tuple[list[str], int]:
    """Return the leading headings that fit, and the number of characters left."""
    shown: list[str] = []
    left = most - len("\nand 1000 agents more")
    for heading in headings:
        if len(heading) >= left:
            break
        shown.append(heading)
        left -= len(heading) + 1
    return shown, max(left, 0)
