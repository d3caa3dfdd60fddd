"""A verdict in its printed form: with the step's text and its place in the run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from ...runtime.record.trace import EVENTS
from ...runtime.values.usage import Usage
from ...schema.values.terminal import counted, on_one_line, speakable
from ..core.material import clip
from .trace import FailedRun, RunStep
from .verdict import BlameVerdict

VERSION = 1
"""Version of the format of `blame/<scheme>.json`."""
LONGEST_STEP = 1_200
"""The most characters of a step's text for people; JSON has the whole text."""
MOST_VOTES = 8
BLAMED = ("agent", "step", "kind", "where", "line", "text", "why")
"""The fields of a verdict about the blamed agent and step."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """The result of an attribution of a failed run.

    Attributes:
        rounds: The most rounds of looking again; 0 in a scheme without rounds.
        usage: The usage behind all answers that led to the verdict.
        recorded: The number of answers that were recorded before, and cost nothing now.
        dropped: The number of questions without a valid answer.
    """

    trace: FailedRun
    verdict: BlameVerdict
    model: str
    rounds: int
    usage: Usage
    recorded: int
    dropped: int

    @property
    def step(self) -> RunStep:
        """The blamed step."""
        return self.trace.step(self.verdict.step)

    def value(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        verdict, step = self.verdict, self.step
        value = {
            "v": VERSION,
            "scheme": verdict.scheme,
            "agent": verdict.agent,
            "step": verdict.step,
            "kind": step.kind,
            "where": step.where,
            "line": f"{EVENTS}:{step.number}",
            "text": step.text,
            "why": verdict.why,
            "confidence": verdict.confidence,
            "by_default": verdict.by_default,
            "votes": [asdict(vote) for vote in verdict.votes],
            "submissions": [
                {
                    "analyzer": submission.analyzer,
                    "accuses": None
                    if submission.accuses is None
                    else {"agent": submission.accuses[0], "step": submission.accuses[1]},
                    "confidence": submission.confidence,
                    "countered": submission.countered,
                    "why": submission.why,
                }
                for submission in verdict.submissions
            ],
            "lost": list(verdict.lost),
            "model": self.model,
            "rounds": self.rounds,
            "knew_answer": bool(self.trace.expected),
            "dropped": self.dropped,
            "usage": {**self.usage.value(), "cost": self.usage.cost},
        }
        return value if verdict.is_decided else value | dict.fromkeys(BLAMED)

    def text(self) -> str:
        """Return it as text for people."""
        return speakable("\n".join(self._lines()))

    def _lines(self) -> Iterator[str]:
        if not self.verdict.is_decided:
            yield f"no verdict: {self._undecided()}"
            yield from self._votes()
            yield self._cost()
            return
        verdict, step = self.verdict, self.step
        words = f"{EVENTS}:{step.number}"
        place = "; ".join(filter(None, (", ".join(filter(None, (step.kind, step.where))), words)))
        yield f"{verdict.agent}, step {verdict.step}, sure {verdict.confidence:.3g}"
        yield f"why: {on_one_line(verdict.why)}"
        yield f"step {step.number} ({place}):"
        yield from (f"  {line}" for line in _shown(step.text))
        yield from self._votes()
        yield self._cost()

    def _undecided(self) -> str:
        verdict = self.verdict
        charged = f"{verdict.agent}, step {verdict.step}"
        if not verdict.by_default:
            return f"who accuses {charged} is not sure of it at all."
        if not verdict.confidence:
            return "nobody accuses anybody, and all are sure of having made no mistake."
        return f"nobody accuses anybody. The least sure of having made no mistake is {charged}."

    def _votes(self) -> Iterator[str]:
        votes = self.verdict.votes
        if self.verdict.submissions:
            yield "votes:" if votes else "votes: none"
            for vote in votes[:MOST_VOTES]:
                words = f"{vote.weight:.3g}  {vote.agent}, step {vote.step}"
                yield f"  {words}, by {', '.join(vote.by)}"
            if len(votes) > MOST_VOTES:
                yield f"  and {len(votes) - MOST_VOTES} more"
        if denied := [
            submission.analyzer
            for submission in self.verdict.submissions
            if submission.accuses is None
        ]:
            yield f"accuse nobody: {', '.join(denied)}"
        if self.verdict.lost:
            yield f"say nothing of use: {', '.join(self.verdict.lost)}"
        if self.dropped:
            yield f"dropped: {counted(self.dropped, 'answer')}, no good after one repair either"

    def _cost(self) -> str:
        usage, verdict = self.usage, self.verdict
        scheme = (
            f"{verdict.scheme}, {counted(self.rounds, 'round')}"
            if self.rounds
            else (verdict.scheme)
        )
        calls = counted(usage.calls + usage.cached_calls, "call")
        answered = f", {self.recorded} of them answered before" if self.recorded else ""
        tokens = counted(usage.tokens, "token")
        return f"{scheme}: {calls} to {self.model}{answered}, {tokens}, {usage.cost}"


def _shown(text: str) -> list[str]:
    return clip(text.strip(), LONGEST_STEP).splitlines() or ["(nothing)"]
