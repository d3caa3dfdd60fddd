"""Rounds: the agents of a team work again and again, and each reads what came of the round before.

A round is a superstep: one pass, in which agents work in Kahn's order and each works once, to its
end. What they say to each other arrives within the pass where the topology leads, and as letters in
the next. So what an agent reads follows from the rounds before, and never from who was quicker.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from .carry import NOTHING, Carry
from .outcomes import AgentOutcome, Run
from .usage import Usage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from .plan import Plan

__all__ = ["Between", "Next", "Round", "rounds", "summed"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Next:
    """A pass that is to be made.

    Attributes:
        plan: Whose agents work in it.
        carry: What they read of earlier passes.
        given: Outcomes of those of them that are not run.
        is_closing: Whether it comes after the rounds and is none of them. Nothing comes after it.
    """

    plan: Plan
    carry: Carry = NOTHING
    given: Mapping[str, AgentOutcome] = field(default_factory=dict[str, AgentOutcome])
    is_closing: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Round:
    """A pass that was made.

    Attributes:
        number: Which round it was, from 1; of a closing pass, how many rounds were before it.
        plan: Whose agents worked in it.
        carry: What they read of earlier passes.
        given: Outcomes of those of them that were not run.
        is_closing: Whether it came after the rounds.
        run: What came of it.
    """

    number: int
    plan: Plan
    carry: Carry = NOTHING
    given: Mapping[str, AgentOutcome] = field(default_factory=dict[str, AgentOutcome])
    is_closing: bool = False
    run: Run


class Between(Protocol):
    """Says what comes after a round.

    * Must be a function of the rounds that it is given, and of what it asks and has journaled: a
      run that is resumed or replayed makes the same rounds again.
    * Must not score a run: there is one score, at the end.
    """

    async def __call__(self, done: Sequence[Round], /) -> Next | None:
        """Give the next pass, or None where the rounds end. The last round may have failed."""
        ...


async def rounds(
    first: Plan,
    one_pass: Callable[[Next, int], Awaitable[Run]],
    between: Between,
    *,
    most: int,
) -> tuple[Round, ...]:
    """Make a pass, then the next, until nothing is to come.

    A pass that a limit of the user's stopped is the last: nothing more may be spent.

    Args:
        first: Whose agents work in the first round.
        one_pass: Makes a pass, which is given with the number that it has as a `Round`.
        between: Says what comes next.
        most: How many passes are made at most, a closing one included.

    Returns:
        All passes, in order; at least one.
    """
    done: list[Round] = []
    coming: Next | None = Next(plan=first)
    while coming is not None:
        number = len(done) if coming.is_closing else len(done) + 1
        made = Round(
            number=number,
            plan=coming.plan,
            carry=coming.carry,
            given=coming.given,
            is_closing=coming.is_closing,
            run=await one_pass(coming, number),
        )
        done.append(made)
        ends = made.is_closing or made.run.status == "stopped" or len(done) == most
        coming = None if ends else await between(tuple(done))
    return tuple(done)


def summed(done: Sequence[Round], plan: Plan) -> Run:
    """Sum up passes as one run: it ended as the last of them did, and took what all of them took.

    An answer is the last pass's or none: that of an earlier round is never taken for the run's,
    where a later one failed.

    Args:
        done: The passes, in order.
        plan: The whole team. An agent that no pass got to was cancelled.
    """
    last = done[-1].run
    runs = [one.run for one in done]
    return replace(
        last,
        error=None if last.error is None else f"{_place(done)}, {last.error}{_left(done)}",
        usage=sum((run.usage for run in runs), Usage()),
        seconds=sum(run.seconds for run in runs),
        agents={agent_id: _outcome(agent_id, runs) for agent_id in plan.agents},
        rounds=done[-1].number,
    )


def _place(done: Sequence[Round]) -> str:
    return "after the rounds" if done[-1].is_closing else f"in round {done[-1].number}"


def _left(done: Sequence[Round]) -> str:
    """Tell of an answer that there was and that does not count."""
    answered = [one.number for one in done[:-1] if one.run.answer is not None]
    if done[-1].run.answer is not None or not answered:
        return ""
    return f" What round {answered[-1]} answered is no answer of the run; its events have it."


def _outcome(agent_id: str, runs: Sequence[Run]) -> AgentOutcome:
    """Give an agent's last outcome, with what it took in all passes."""
    outcomes = [run.agents[agent_id] for run in runs if agent_id in run.agents]
    if not outcomes:
        return AgentOutcome(status="cancelled")
    return replace(
        outcomes[-1],
        usage=sum((one.usage for one in outcomes), Usage()),
        seconds=sum(one.seconds for one in outcomes),
        attempts=sum(one.attempts for one in outcomes),
        mishaps=tuple(dict.fromkeys(said for one in outcomes for said in one.mishaps)),
    )
