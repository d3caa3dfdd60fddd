"""What comes of a run and of its agents, and how both are written down and read again.

Every record of them is in this form: the journal of a run, result.json, the journal of an
evolution. Each may leave out what it has no use for; what is left out reads as nothing.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from ..schema.values import parts
from .mishaps import CUT_OFF
from .posted import Posted, Why
from .runners.protocol import AgentResult
from .score import Score
from .tools import ToolCall
from .usage import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from .changes import Change
    from .gateway import Message

__all__ = [
    "INFRASTRUCTURE",
    "AgentOutcome",
    "Ending",
    "Run",
    "Status",
    "after",
    "as_given",
    "outcome_of",
    "outcome_value",
    "roster_value",
    "run_of",
    "run_value",
]

Status = Literal["done", "failed", "skipped", "cancelled"]

INFRASTRUCTURE = frozenset(
    {
        "busy", "denied", "down", "jail", "malformed", "memory", "scorer", "slow", "timeout",
        "unknown",
    }
)  # fmt: skip
"""Faults that are not the team's; a prompt that is too long, or that no model takes, is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentOutcome:
    """How an agent's part of a run ended.

    Attributes:
        status: `done`; `failed`; `skipped`, because someone it depends on failed; `cancelled`,
            because the run ended first, or met a limit.
        result: What it came to, when done.
        error: Why it failed, in words.
        fault: Whose failure it was: `agent` for its own; `jail`, `memory`, or the kind of a
            `CallError`.
        usage: What its model calls consumed, failed attempts included.
        seconds: From its first attempt to its end.
        attempts: How often it was run.
        tool_calls: What it had its tools do in its last attempt, in order.
        mishaps: What went wrong on the way, in all of its attempts: failed tools, attempts and
            forms, conversations that were too long. Each once, the most frequent first.
        dialogue: What it read and said in its last attempt, with the conversation that it went on
            with before it, as messages that hold text only; see `Context.dialogue`. Nothing, where
            it asked no model or nobody wants to know.
        changes: What it passes on of the repository's changes. It follows from its result and from
            what those before it passed on, and is not written down.
    """

    status: Status
    result: AgentResult | None = None
    error: str | None = None
    fault: str | None = None
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    attempts: int = 0
    tool_calls: tuple[ToolCall, ...] = ()
    mishaps: tuple[str, ...] = ()
    dialogue: tuple[Message, ...] = ()
    changes: tuple[Change, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Ending:
    """How the run of an open roster ended.

    Attributes:
        why: Why its work ended. Where that is no answer and no giving up, the lead had to hand in.
        by: The agent whose doing it was, where it was one's.
        turns: How many turns each agent has begun that was active.
        sent: How many messages were sent.
        unread: How many of them nobody has read.
    """

    why: Why
    by: str | None = None
    turns: Mapping[str, int] = field(default_factory=dict[str, int])
    sent: int = 0
    unread: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
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
        recruited: Who was recruited, where somebody recruits, and what each of them is.
        bus: What was posted, where the roster is open.
        ending: How it ended, where the roster is open.
        folder: Where it is kept, where it is and `runtime.run` made it. It is not written down.
    """

    status: Literal["done", "failed", "stopped"]
    answer: str | None = None
    answered_by: str | None = None
    score: Score | None = None
    said: str | None = None
    error: str | None = None
    usage: Usage = field(default_factory=Usage)
    saved: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    agents: Mapping[str, AgentOutcome] = field(default_factory=dict[str, AgentOutcome])
    over_budget: bool = False
    fault: str | None = None
    rounds: int = 1
    recruited: Mapping[str, str] = field(default_factory=dict[str, str])
    bus: tuple[Posted, ...] = ()
    ending: Ending | None = None
    folder: Path | None = field(default=None, compare=False)

    @property
    def cost(self) -> str:
        """The price for people: `$0.0123`, `unpriced`, `free`. In USD, it is `usage.usd`."""
        return self.usage.cost

    def to_dict(self) -> dict[str, Any]:
        """Give the run as JSON-able values: those of result.json, with each agent's dialogue."""
        return run_value(self)

    def to_frame(self) -> Any:
        """Give its agents as a pandas DataFrame, one a row, in Kahn order.

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
        return tuple(
            agent_id
            for agent_id, one in self.agents.items()
            if any(mishap.startswith(CUT_OFF) for mishap in one.mishaps)
        )

    @property
    def infrastructure_failures(self) -> int:
        """How many of its agents failed for something that is not theirs: a provider, a jail."""
        failed = (one for one in self.agents.values() if one.status == "failed")
        return sum(one.fault in INFRASTRUCTURE for one in failed)

    @property
    def was_let_in(self) -> bool:
        """Whether it did not fail for a key alone, before anything was spent."""
        failed = {one.fault for one in self.agents.values() if one.status == "failed"}
        return self.status != "failed" or "denied" not in failed or self.usage.calls > 0

    @property
    def is_too_slow(self) -> bool:
        """Whether nothing but the time that its model took kept it from an answer."""
        failed = {one.fault for one in self.agents.values() if one.status == "failed"}
        return {self.fault, *failed} - {None} == {"slow"}

    @property
    def is_infrastructure_failure(self) -> bool:
        """Whether it failed for something that says nothing about the team."""
        not_the_teams = self.fault in INFRASTRUCTURE or self.infrastructure_failures > 0
        return self.answer is None and not self.over_budget and not_the_teams


def as_given(outcome: AgentOutcome) -> AgentOutcome:
    """Let an outcome stand whose agent is not run: it costs nothing, or it would count twice."""
    return replace(outcome, usage=Usage(), seconds=0.0, attempts=0)


def after(drafted: AgentOutcome, outcome: AgentOutcome) -> AgentOutcome:
    """Give what an agent came to after its draft, with what both took."""
    return replace(
        outcome,
        usage=drafted.usage + outcome.usage,
        seconds=drafted.seconds + outcome.seconds,
        mishaps=tuple(dict.fromkeys((*drafted.mishaps, *outcome.mishaps))),
    )


def run_value(run: Run) -> dict[str, Any]:
    """Write a run as a JSON object."""
    return {
        "status": run.status,
        "answer": run.answer,
        "answered_by": run.answered_by,
        **({} if run.said is None else {"said": run.said}),
        "score": None if run.score is None else asdict(run.score),
        "error": run.error,
        "usage": run.usage.value(),
        **({} if run.saved == Usage() else {"saved": run.saved.value()}),
        "seconds": run.seconds,
        "agents": {agent_id: outcome_value(one) for agent_id, one in run.agents.items()},
        "over_budget": run.over_budget,
        "fault": run.fault,
        "rounds": run.rounds,
        **({"recruited": dict(run.recruited)} if run.recruited else {}),
        **roster_value(run),
    }


def roster_value(run: Run) -> dict[str, Any]:
    """Write what there is to say of a run whose roster is open; nothing of others."""
    if run.ending is None:
        return {}
    return {"ending": asdict(run.ending), "bus": [asdict(one) for one in run.bus]}


def run_of(value: Mapping[str, Any]) -> Run:
    """Read a run.

    Raises:
        KeyError: The JSON object is no run; a `TypeError` or `AttributeError` may say so, too.
    """
    score = value["score"]
    return Run(
        status=value["status"],
        answer=value["answer"],
        answered_by=value.get("answered_by"),
        said=value.get("said"),
        score=None if score is None else Score(**score),
        error=value["error"],
        usage=_usage(value["usage"]),
        saved=_usage(value.get("saved", {})),
        seconds=value["seconds"],
        agents={agent_id: outcome_of(one) for agent_id, one in value["agents"].items()},
        over_budget=value.get("over_budget", False),
        fault=value.get("fault"),
        rounds=value.get("rounds", 1),
        recruited=value.get("recruited", {}),
        bus=tuple(Posted(**one) for one in value.get("bus", ())),
        ending=Ending(**value["ending"]) if "ending" in value else None,
    )


def outcome_value(outcome: AgentOutcome) -> dict[str, Any]:
    """Write an agent's outcome as a JSON object."""
    result = outcome.result
    return {
        "status": outcome.status,
        "content": result.content if result else None,
        "answer": result.answer if result else None,
        "patch": result.patch if result else None,
        "steps": list(result.steps) if result else [],
        "error": outcome.error,
        "fault": outcome.fault,
        "usage": outcome.usage.value(),
        "seconds": round(outcome.seconds, 6),
        "attempts": outcome.attempts,
        "tool_calls": [parts(one) for one in outcome.tool_calls],
        "mishaps": list(outcome.mishaps),
        "dialogue": list(outcome.dialogue),
    }


def outcome_of(value: Mapping[str, Any]) -> AgentOutcome:
    """Read an agent's outcome.

    Raises:
        KeyError: The JSON object is none; a `TypeError` may say so, too.
    """
    return AgentOutcome(
        status=value["status"],
        result=_result(value) if value["content"] is not None else None,
        error=value["error"],
        fault=value.get("fault"),
        usage=_usage(value["usage"]),
        seconds=value["seconds"],
        attempts=value["attempts"],
        tool_calls=tuple(ToolCall(**one) for one in value.get("tool_calls", ())),
        mishaps=tuple(value["mishaps"]),
        dialogue=tuple(value.get("dialogue", ())),
    )


def _result(value: Mapping[str, Any]) -> AgentResult:
    return AgentResult(
        content=value["content"],
        answer=value.get("answer"),
        patch=value.get("patch"),
        steps=tuple(value.get("steps", ())),
    )


def _usage(value: Mapping[str, Any]) -> Usage:
    """Take the counts; a result also has the price in words."""
    return Usage(**{name: value[name] for name in Usage.__slots__ if name in value})
