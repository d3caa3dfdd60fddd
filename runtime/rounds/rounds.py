"""Rounds: the agents of a team work repeatedly, and each reads the results of the last round.

A round is a superstep: one pass, in which agents work in Kahn's order and each works once, to its
end. Their messages arrive within the pass along the topology, and as letters in the next pass. So
an agent's input depends on earlier rounds only, never on which agent was quicker.
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

    from ...schema.team.team import Team
    from ..plan.plan import Plan

Kind = Literal["opening", "round", "meeting", "closing"]
"""The purpose of a pass: opening and closing agents work once, the others in every round."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ablation:
    """The silent agents of a run, or of a round of it (MATTRL §5.1).

    Colleagues work as if silent agents did not exist: they read no report and no message of them,
    and are not told that one is missing. They still read what others noted of silent agents. So an
    agent that does not read a silent one asks the same question, under the same path, as in the run
    without silence. That run's journal answers it.

    Attributes:
        agents: Silent in the whole run.
        turns: Silent in one round only, as (agent, number of the round). A team without rounds has
            one.
    """

    agents: frozenset[str] = frozenset()
    turns: frozenset[tuple[str, int]] = frozenset()

    def during(self, number: int) -> frozenset[str]:
        """Return the agents that are silent in a round."""
        return self.agents | {agent for agent, round_ in self.turns if round_ == number}

    @property
    def names(self) -> frozenset[str]:
        """The agents that are silent at any time."""
        return self.agents | {agent for agent, _ in self.turns}


NOBODY_SILENT = Ablation()


@dataclass(frozen=True, kw_only=True, slots=True)
class Next:
    """A pass to make.

    Attributes:
        state: What its agents read of earlier passes.
        preset: Outcomes of agents that are not run.
        kind: Its purpose. No pass follows a closing one.
    """

    plan: Plan
    state: RoundState = NOTHING
    preset: Mapping[str, AgentOutcome] = field(default_factory=dict[str, AgentOutcome])
    kind: Kind = "round"

    def place(self, number: int) -> str:
        """Return the name of the pass: `opening`, `round 2`, `meeting 2`, `closing`."""
        return f"{self.kind} {number}" if self.kind in {"round", "meeting"} else self.kind

    def label(self, number: int) -> int | str:
        """Return the name of the pass in events, where a round is its number."""
        return number if self.kind == "round" else self.place(number)


@dataclass(frozen=True, kw_only=True, slots=True)
class Round:
    """A finished pass.

    Attributes:
        number: The number of the round, from 1; for another pass, the number of rounds before it.
        state: What its agents read of earlier passes.
    """

    number: int
    plan: Plan
    state: RoundState = NOTHING
    preset: Mapping[str, AgentOutcome] = field(default_factory=dict[str, AgentOutcome])
    kind: Kind = "round"
    run: Run


def declares(team: Team) -> bool:
    """Return whether a team declares passes; otherwise all its agents work once."""
    return team.execution.rounds is not None or team.execution.recruit is not None


class Between(Protocol):
    """Decides which pass follows a round.

    * Must be a function of the rounds that it receives and of its own journaled calls: a run that
      is resumed or replayed makes the same rounds again.
    * Must not score a run: there is one score, at the end.
    """

    async def __call__(self, past: Sequence[Round], /) -> Next | None:
        """Return the next pass, or None to end the rounds. The last round may have failed."""
        ...


async def rounds(
    first: Next,
    one_pass: Callable[[Next, int], Awaitable[Run]],
    between: Between,
    *,
    most: int,
) -> tuple[Round, ...]:
    """Make passes until none follows.

    A pass that was stopped by a limit of the user's is the last: nothing more may be spent.

    Args:
        one_pass: Makes a pass. It receives the number that the pass has as a `Round`.
        most: The largest number of passes, other passes than rounds included.

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
    """Combine passes into one run, with the last pass's status and the usage of all of them.

    The answer is the last pass's or None: an answer of an earlier round never stands in for it.

    Args:
        plan: The whole team. An agent that no pass reached counts as cancelled; if all passes were
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
    """Return a note on an earlier answer that does not count; empty if there is none."""
    answered = [item.number for item in past[:-1] if item.run.answer is not None]
    if past[-1].run.answer is not None or not answered:
        return ""
    return f" What round {answered[-1]} answered is no answer of the run; its events have it."


def _outcome(agent_id: str, runs: Sequence[Run]) -> AgentOutcome:
    """Return an agent's last outcome, with the usage of all its passes."""
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
