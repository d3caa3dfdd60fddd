"""Rounds: the agents of a team work again and again, and each reads the results of the last round.

A round is a superstep: one pass, in which agents work in Kahn's order and each works once, to its
end. What they say to each other arrives within the pass where the topology leads, and as letters in
the next. So what an agent reads follows from the rounds before, and never from who was quicker.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from ...schema.values.values import replaced
from ..agents.outcomes import AgentOutcome, Run
from ..agents.round_state import NOTHING, RoundState
from ..values.usage import total

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from ..plan.plan import Plan

Kind = Literal["opening", "round", "meeting", "closing"]
"""What a pass is for: those who open or close work once, and the others in every round."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Next:
    """A pass that is to be made.

    Attributes:
        state: What they read of earlier passes.
        preset: Outcomes of those of them that are not run.
        kind: What it is for. Nothing comes after a closing one.
    """

    plan: Plan
    state: RoundState = NOTHING
    preset: Mapping[str, AgentOutcome] = field(default_factory=dict[str, AgentOutcome])
    kind: Kind = "round"

    def place(self, number: int) -> str:
        """Name the pass by what it is for: `opening`, `round 2`, `meeting 2`, `closing`."""
        return f"{self.kind} {number}" if self.kind in {"round", "meeting"} else self.kind

    def label(self, number: int) -> int | str:
        """Name the pass as events do, where a round is its number."""
        return number if self.kind == "round" else self.place(number)


@dataclass(frozen=True, kw_only=True, slots=True)
class Round:
    """A pass that was made.

    Attributes:
        number: Which round it was, from 1; of another pass, how many rounds were before it.
        state: What they read of earlier passes.
        preset: Outcomes of those of them that were not run.
    """

    number: int
    plan: Plan
    state: RoundState = NOTHING
    preset: Mapping[str, AgentOutcome] = field(default_factory=dict[str, AgentOutcome])
    kind: Kind = "round"
    run: Run


class Between(Protocol):
    """Says what comes after a round.

    * Must be a function of the rounds that it is given, and of what it asks and has journaled: a
      run that is resumed or replayed makes the same rounds again.
    * Must not score a run: there is one score, at the end.
    """

    async def __call__(self, past: Sequence[Round], /) -> Next | None:
        """Return the next pass, or None where the rounds end. The last round may have failed."""
        ...


async def rounds(
    first: Next,
    one_pass: Callable[[Next, int], Awaitable[Run]],
    between: Between,
    *,
    most: int,
) -> tuple[Round, ...]:
    """Make a pass, then the next, until nothing is to come.

    A pass that a limit of the user's stopped is the last: nothing more may be spent.

    Args:
        one_pass: Makes a pass, which is given with the number that it has as a `Round`.
        most: How many passes are made at most, those that are no round included.

    Returns:
        All passes, in order; at least one.
    """
    past: list[Round] = []
    coming: Next | None = first
    while coming is not None:
        before = sum(item.kind == "round" for item in past)
        number = before + 1 if coming.kind == "round" else before
        result = Round(
            number=number,
            plan=coming.plan,
            state=coming.state,
            preset=coming.preset,
            kind=coming.kind,
            run=await one_pass(coming, number),
        )
        past.append(result)
        ends = result.kind == "closing" or result.run.status == "stopped" or len(past) == most
        coming = None if ends else await between(tuple(past))
    return tuple(past)


def summed(past: Sequence[Round], plan: Plan) -> Run:
    """Sum up passes as one run: it ended as the last of them did, and took what all of them took.

    An answer is the last pass's or none: that of an earlier round is never taken for the run's,
    where a later one failed.

    Args:
        plan: The whole team. An agent that no pass got to was cancelled; where all passes were
            made, it took no part.
    """
    last = past[-1].run
    runs = [item.run for item in past]
    return replaced(
        last,
        error=None if last.error is None else f"{_place(past)}, {last.error}{_left(past)}",
        usage=total(run.usage for run in runs),
        seconds=sum(run.seconds for run in runs),
        agents={agent_id: _outcome(agent_id, runs) for agent_id in plan.agents},
        rounds=past[-1].number,
    )


def _place(past: Sequence[Round]) -> str:
    match past[-1].kind:
        case "opening":
            return "before all others"
        case "round":
            return f"in round {past[-1].number}"
        case "meeting":
            return f"in the meeting after round {past[-1].number}"
        case "closing":
            return "after the rounds"


def _left(past: Sequence[Round]) -> str:
    """Tell of an answer that there was and that does not count."""
    answered = [item.number for item in past[:-1] if item.run.answer is not None]
    if past[-1].run.answer is not None or not answered:
        return ""
    return f" What round {answered[-1]} answered is no answer of the run; its events have it."


def _outcome(agent_id: str, runs: Sequence[Run]) -> AgentOutcome:
    """Return an agent's last outcome, with what it took in all passes."""
    outcomes = [run.agents[agent_id] for run in runs if agent_id in run.agents]
    if not outcomes:
        return AgentOutcome(status="skipped" if runs[-1].status == "done" else "cancelled")
    if len(outcomes) == 1:
        return outcomes[0]
    return replaced(
        outcomes[-1],
        usage=total(outcome.usage for outcome in outcomes),
        seconds=sum(outcome.seconds for outcome in outcomes),
        attempts=sum(outcome.attempts for outcome in outcomes),
        mishaps=tuple(dict.fromkeys(mishap for outcome in outcomes for mishap in outcome.mishaps)),
        recalled=max(outcome.recalled for outcome in outcomes),
    )
