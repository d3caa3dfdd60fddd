"""What comes of a run and of its agents, and how both are written down and read again.

Every record of them is in this form: the journal of a run, result.json, the journal of an
evolution. Each may leave out what it has no use for; what is left out reads as nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from ...schema.values.codec import OMITTED, SKIPPED, Form, kept, to_value
from ..gateway import Message
from ..repository.changes import RepositoryChange
from ..tools import ToolCall
from ..values.operator_answers import OperatorAnswers
from ..values.score import Score
from ..values.usage import NOTHING, Usage
from ..values.warnings import CUT_OFF, SUBSTITUTED
from .posted import Posted, Why
from .runner import AgentResult

ROUNDED = Form(write=functools.partial(round, ndigits=6))
"""The form of seconds."""
Status = Literal["done", "failed", "skipped", "cancelled"]

INFRASTRUCTURE = frozenset(
    {
        "busy", "denied", "down", "jail", "malformed", "memory", "scorer", "slow", "timeout",
        "unknown",
    }
)  # fmt: skip
"""Faults that are not the team's; a prompt that is too long, or that no model takes, is."""
MISCONFIGURED = frozenset({"denied", "unknown"})
"""Faults that the same command meets again, until the host's configuration is mended."""


@kept()
class AgentOutcome:
    """How an agent's part of a run ended.

    Attributes:
        status: `done`; `failed`; `skipped`, because someone it depends on failed, or because it
            was not needed; `cancelled`, because the run ended first, or met a limit.
        result: Its result, when done.
        error: Why it failed or was skipped, in words.
        unneeded: Whether it was skipped by the team's own conditions: nothing failed.
        fault: Whose failure it was: `agent` for its own; `jail`, `memory`, or the kind of a
            `CallError`.
        usage: What its model calls consumed, failed attempts included.
        seconds: From its start to its end, with what it waited for models, tools and retries; of
            several rounds or turns, their sum.
        attempts: How often it was run.
        tool_calls: What it had its tools do in its last attempt, in order.
        mishaps: What went wrong on the way, in all of its attempts: failed tools, attempts and
            forms, conversations that were too long. Each once, the most frequent first.
        dialogue: What it read and said in its last attempt, with the conversation that it went on
            with before it, as messages that hold text only; see `Context.dialogue`. Nothing, where
            it asked no model or nobody wants to know.
        recalled: How many entries of a pool's memory it was shown.
        changes: What it passes on of the repository's changes. It follows from its result and from
            what those before it passed on, and is not written down.
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


@kept()
class JournaledOutcome(AgentOutcome):
    """An agent's outcome as a journal has it, with what a later run makes of it.

    Attributes:
        saved: What nobody paid again, where an earlier run had the answers.
        drawn: Whether its answers were drawn anew.
    """

    saved: Usage | None = None
    drawn: bool = False


@kept()
class Ending:
    """How the run of an open roster ended.

    Attributes:
        why: Why its work ended. Where that is no answer and no giving up, the lead had to hand in.
        by: The agent whose doing it was, where it was one's.
        turns: How many turns each agent has begun that was active.
        unread: How many of them nobody has read.
    """

    why: Why
    by: str | None = None
    turns: Mapping[str, int] = field(default_factory=dict[str, int])
    sent: int = 0
    unread: int = 0


@kept()
class Run:
    """One execution of a plan on a task.

    Attributes:
        status: `done` with an answer; `failed` without; `stopped` by a limit of the user's.
        answer: The output agent's answer, where it got that far.
        answered_by: That agent.
        said: What that agent said beside the answer, where the answer is the patch of a repository
            that others made, or that it chose.
        score: How it compares with the reference answer, where the task has one.
        error: Why there is no answer.
        usage: What all model calls consumed, in all rounds.
        saved: The part of it that nobody paid again: a parent's run had the answers; see `Descent`.
        seconds: From start to end.
        agents: Each agent's outcome by id, in Kahn order.
        over_budget: Whether it was stopped by a budget, not by the team's own timeout.
        fault: Why there is no score, where the team could not help it: `jail` or `scorer`, where
            the answer could not be scored; `slow`, where it was stopped for what it waited for.
        rounds: How many rounds its agents worked.
        operators: The outcome of the questions of operators that adapted the team, by their names.
        recruited: Who was recruited, where somebody recruits, and what each of them is.
        bus: What was posted, where the roster is open.
        ending: How it ended, where the roster is open.
        folder: Where it is kept, where it is and `runtime.run` made it. It is not written down.
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
        """The price in USD; None where that of a call is unknown."""
        return None if self.usage.unpriced_calls else self.usage.usd

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
        """The agents for whom another model answered than the one that they name."""
        return self._warned(SUBSTITUTED)

    def _warned(self, begun: str) -> tuple[str, ...]:
        return tuple(
            agent_id
            for agent_id, agent in self.agents.items()
            if any(mishap.startswith(begun) for mishap in agent.mishaps)
        )

    @property
    def infrastructure_failures(self) -> int:
        """How many of its agents failed for something that is not theirs: a provider, a jail."""
        failed = (agent for agent in self.agents.values() if agent.status == "failed")
        return sum(outcome.fault in INFRASTRUCTURE for outcome in failed)

    @property
    def is_misconfigured(self) -> bool:
        """Whether a key, an address or a model's name kept it from anything that costs."""
        failed = {agent.fault for agent in self.agents.values() if agent.status == "failed"}
        is_refused = not failed.isdisjoint(MISCONFIGURED)
        return self.status == "failed" and is_refused and self.usage.calls == 0

    @property
    def is_too_slow(self) -> bool:
        """Whether nothing but the time that its model took kept it from an answer."""
        failed = {agent.fault for agent in self.agents.values() if agent.status == "failed"}
        return {self.fault, *failed} - {None} == {"slow"}

    @property
    def is_infrastructure_failure(self) -> bool:
        """Whether a provider or this host failed it, so that it says nothing about the team.

        It may have an answer: who goes on without an agent that its provider failed is another
        team. Evolution, credit and evaluations all ask here.
        """
        no_answer = self.answer is None and self.fault in INFRASTRUCTURE
        return not self.over_budget and (no_answer or self.infrastructure_failures > 0)

    @property
    def why_failed(self) -> str:
        """Why it failed, or else why the first agent did that it went on without."""
        of_agents = (agent.error for agent in self.agents.values() if agent.fault in INFRASTRUCTURE)
        return self.error or next(filter(None, of_agents), "")


def without_cost(outcome: AgentOutcome) -> AgentOutcome:
    """Let an outcome stand whose agent is not run: it costs nothing, or it would count twice."""
    return replace(outcome, usage=Usage(), seconds=0.0, attempts=0)


def skipped(why: str) -> AgentOutcome:
    """Return the outcome of an agent that the team's own conditions leave out."""
    return AgentOutcome(status="skipped", error=why, unneeded=True)


def after(drafted: AgentOutcome, outcome: AgentOutcome) -> AgentOutcome:
    """Return the result of an agent after its draft, with what both took."""
    return replace(
        outcome,
        usage=drafted.usage + outcome.usage,
        seconds=drafted.seconds + outcome.seconds,
        mishaps=tuple(dict.fromkeys((*drafted.mishaps, *outcome.mishaps))),
    )
