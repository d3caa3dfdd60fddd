"""Outcomes of a run and of its agents, and how they are written and read.

All records use this form: the journal of a run, result.json, the journal of an evolution. Each may
omit fields that it does not need; a missing field reads as its default.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from ...schema.values.codec import OMITTED, SKIPPED, Form, stored, to_value
from ..gateway import Message
from ..repository.changes import RepositoryChange
from ..values.operator_answers import OperatorAnswers
from ..values.usage import NOTHING, Usage
from ..values.warnings import CUT_OFF, SUBSTITUTED
from .runner import AgentResult

ROUNDED = Form(write=functools.partial(round, ndigits=6))
"""The encoding of seconds."""
Status = Literal["done", "failed", "skipped", "cancelled"]

Kind = Literal[
    "task",
    "message",
    "answer",
    "start",
    "stop",
    "finalize",
    "terminate",
    "failed",
    "refused",
    "unsent",
]
"""The kind of message: the task to the lead; agents' acts; a failure, to the agents that wrote to
the failed one; a refusal, to the agent that tried; a message beyond the limit, to nobody."""

Why = Literal[
    "finalized", "terminated", "silence", "messages", "turns", "seconds", "cost", "failed"
]
"""Why a run ended."""

INFRASTRUCTURE = frozenset(
    {
        "busy", "denied", "down", "jail", "malformed", "memory", "scorer", "slow", "timeout",
        "unknown",
    }
)  # fmt: skip
"""Faults that are not the team's; a prompt that is too long, or that no model accepts, is."""
MISCONFIGURED = frozenset({"denied", "unknown"})
"""Faults that repeating the command does not change, until the host's configuration is mended."""


@stored()
class ToolCall:
    """A tool call of an agent, with its result.

    Attributes:
        arguments: The model's arguments, JSON-able.
    """

    tool: str
    arguments: Any
    error: str | None = None


@stored()
class AgentOutcome:
    """The outcome of an agent in a run.

    Attributes:
        status: `done`; `failed`; `skipped`, because an agent that it depends on failed, or because
            it was not needed; `cancelled`, because the run ended first, or met a limit.
        result: Its result, if done.
        error: Why it failed or was skipped, in words.
        unneeded: Whether the team's own conditions skipped it: nothing failed.
        fault: The cause of the failure: `agent` for its own; `jail`, `memory`, or the kind of a
            `CallError`.
        usage: What its model calls consumed, failed attempts included.
        seconds: From its start to its end, including waits for models, tools and retries; for
            several rounds or turns, their sum.
        attempts: How often it was run.
        tool_calls: The tool calls of its last attempt, in order.
        mishaps: Problems in all of its attempts: failed tools, attempts and formats, conversations
            that were too long. Each once, the most frequent first.
        dialogue: Its conversation in its last attempt, after the conversation that it continued, as
            messages of text; see `Context.dialogue`. Empty if it called no model or nothing is
            kept.
        recalled: The number of entries of a pool's memory that it was shown.
        changes: The repository changes that it passes on. They follow from its result and its
            predecessors' changes, and are not recorded.
    """

    status: Status
    result: Annotated[AgentResult | None, Form(flat=True)] = None
    error: str | None = None
    fault: str | None = None
    usage: Usage = NOTHING
    seconds: Annotated[float, ROUNDED] = 0.0
    attempts: int = 0
    tool_calls: tuple[ToolCall, ...] = ()
    mishaps: tuple[str, ...] = ()
    dialogue: tuple[Message, ...] = ()
    recalled: Annotated[int, OMITTED] = 0
    unneeded: Annotated[bool, OMITTED] = False
    changes: Annotated[tuple[RepositoryChange, ...], SKIPPED] = field(
        default=(), compare=False, repr=False
    )


@stored()
class JournaledOutcome(AgentOutcome):
    """An agent's outcome in a journal, with fields that a later run adds.

    Attributes:
        saved: The cost that was not paid again because an earlier run had the answers.
        drawn: Whether its answers involved chance.
    """

    saved: Usage | None = None
    drawn: bool = False


@stored()
class Posted:
    """A message on the bus.

    Attributes:
        number: Its number on the bus, from 1.
        sender: Its sender; for a failure, the failed agent; empty for the team itself.
        to: Its recipient or subject; empty for all.
        turn: The sender's turn in which it was posted; 0 for the team itself.
    """

    number: int
    sender: str
    to: str
    kind: Kind
    text: str = ""
    turn: int = 0


@stored()
class Ending:
    """The end of an open roster's run.

    Attributes:
        why: Why its work ended. Unless this is an answer or giving up, the lead had to hand in.
        by: The agent that ended it, if one did.
        turns: The number of turns that each active agent has begun.
        unread: The number of unread messages.
    """

    why: Why
    by: str | None = None
    turns: Mapping[str, int] = field(default_factory=dict[str, int])
    sent: int = 0
    unread: int = 0


@stored(closed=True)
class Score:
    """How good an answer is.

    Attributes:
        value: From 0 (wrong) to 1 (right).
        measures: Other measurements, by name, such as `side_effects`.
        log: Details for people, such as the output of tests. At most some hundred kilobytes: there
            is one for every trial.
    """

    value: float
    reason: str
    measures: Mapping[str, float] = field(default_factory=dict[str, float])
    log: str = ""


@stored()
class Run:
    """One execution of a plan on a task.

    Attributes:
        status: `done` with an answer; `failed` without; `stopped` by a limit of the user's.
        answer: The output agent's answer; None without one.
        answered_by: The agent that gave it.
        said: That agent's text beside the answer, if the answer is a repository patch that other
            agents made, or that it chose.
        score: The answer's score against the reference answer, if the task has one.
        usage: What all model calls consumed, in all rounds.
        saved: The part of it that was not paid again, because a parent's run had the answers: see
            `ParentRunReuse`.
        agents: Each agent's outcome by id, in Kahn order.
        over_budget: Whether a budget stopped it, rather than the team's own timeout.
        fault: Why there is no score, for a reason outside the team's control: `jail` or `scorer` if
            the answer could not be scored; `slow` if waiting for others stopped the run.
        operators: The outcomes of questions by operators that adapted the team, by their names.
        recruited: The recruited agents with their descriptions, if the team recruits.
        bus: The posted messages, if the roster is open.
        ending: Its end, if the roster is open.
        folder: Its folder, if `runtime.run` created one. It is not recorded.
    """

    status: Literal["done", "failed", "stopped"]
    answer: str | None = None
    answered_by: str | None = None
    said: Annotated[str | None, OMITTED] = None
    score: Score | None = None
    error: str | None = None
    usage: Usage = NOTHING
    saved: Annotated[Usage, OMITTED] = NOTHING
    seconds: float = 0.0
    agents: Mapping[str, AgentOutcome] = field(default_factory=dict[str, AgentOutcome])
    over_budget: bool = False
    fault: str | None = None
    rounds: int = 1
    operators: Annotated[Mapping[str, OperatorAnswers], OMITTED] = field(
        default_factory=dict[str, OperatorAnswers]
    )
    recruited: Annotated[Mapping[str, str], OMITTED] = field(default_factory=dict[str, str])
    ending: Annotated[Ending | None, OMITTED] = None
    bus: Annotated[tuple[Posted, ...], OMITTED] = ()
    folder: Annotated[Path | None, SKIPPED] = field(default=None, compare=False)

    @property
    def cost(self) -> str:
        """The price for people: `$0.0123`, `unpriced`, `free`."""
        return self.usage.cost

    @property
    def usd(self) -> float | None:
        """The price in USD; None if that of any call is unknown."""
        return None if self.usage.unpriced_calls else self.usage.usd

    @property
    def why_unanswered(self) -> str:
        """Why it has no answer; empty with one."""
        return "" if self.answer is not None else self.error or "it gave no answer."

    def to_dict(self) -> dict[str, Any]:
        """Return the run as JSON-able values: those of result.json, with each agent's dialogue."""
        return to_value(self)

    def to_frame(self) -> Any:
        """Return its agents as a pandas DataFrame, one a row, in Kahn order.

        Raises:
            InputError: pandas is not installed.
        """
        from .notebook import frame_of

        return frame_of(self)

    def _repr_html_(self) -> str:
        from .notebook import html_of

        return html_of(self)

    @property
    def cut_off(self) -> tuple[str, ...]:
        """The agents whose answer counts although it was cut off."""
        return self._warned(CUT_OFF)

    @property
    def substituted(self) -> tuple[str, ...]:
        """The agents for which a fallback answered instead of the model that they name."""
        return self._warned(SUBSTITUTED)

    def _warned(self, begun: str) -> tuple[str, ...]:
        return tuple(
            agent_id
            for agent_id, agent in self.agents.items()
            if any(mishap.startswith(begun) for mishap in agent.mishaps)
        )

    @property
    def infrastructure_failures(self) -> int:
        """The number of its agents that a provider or a jail failed."""
        failed = (agent for agent in self.agents.values() if agent.status == "failed")
        return sum(outcome.fault in INFRASTRUCTURE for outcome in failed)

    @property
    def is_misconfigured(self) -> bool:
        """Whether a wrong key, address or model name stopped it before it cost anything."""
        failed = {agent.fault for agent in self.agents.values() if agent.status == "failed"}
        is_refused = not failed.isdisjoint(MISCONFIGURED)
        return self.status == "failed" and is_refused and self.usage.calls == 0

    @property
    def is_too_slow(self) -> bool:
        """Whether only its models' time kept it from an answer."""
        failed = {agent.fault for agent in self.agents.values() if agent.status == "failed"}
        return {self.fault, *failed} - {None} == {"slow"}

    @property
    def is_infrastructure_failure(self) -> bool:
        """Whether a provider or this host failed it, so that it says nothing about the team.

        It may still have an answer: a team that continues without an agent that its provider failed
        is a different team. Evolution, credit and evaluations all use this.
        """
        no_answer = self.answer is None and self.fault in INFRASTRUCTURE
        return not self.over_budget and (no_answer or self.infrastructure_failures > 0)

    @property
    def why_failed(self) -> str:
        """Why it failed; or else why the first agent failed that it continued without."""
        of_agents = (agent.error for agent in self.agents.values() if agent.fault in INFRASTRUCTURE)
        return self.error or next(filter(None, of_agents), "")


def without_cost(outcome: AgentOutcome) -> AgentOutcome:
    """Return the outcome of an agent that does not run, without cost, which would count twice."""
    return replace(outcome, usage=Usage(), seconds=0.0, attempts=0)


def skipped(why: str) -> AgentOutcome:
    """Return the outcome of an agent that the team's own conditions skip."""
    return AgentOutcome(status="skipped", error=why, unneeded=True)


def after(drafted: AgentOutcome, outcome: AgentOutcome) -> AgentOutcome:
    """Return an agent's outcome after its draft, with the cost of both."""
    return replace(
        outcome,
        usage=drafted.usage + outcome.usage,
        seconds=drafted.seconds + outcome.seconds,
        mishaps=tuple(dict.fromkeys((*drafted.mishaps, *outcome.mishaps))),
    )
