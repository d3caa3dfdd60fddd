"""Estimate what runs consume, before they spend anything: calls, tokens and USD, as a range.

The least: every agent that must work calls its model once, reads its prompt and the task, and
writes next to nothing. The most: it calls as often as it may, writes `max_tokens` each time, and
reads everything that it and its colleagues can have written. Retries and results of tools come on
top.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..gateway.metering import tokens_in
from ..gateway.prices import batch_price_of, rates_of
from ..messages.attached import shown_files
from ..messages.messages import system
from ..values.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ...schema.host.models import Model
    from ...schema.team.task import Task
    from ..plan.plan import Plan

BYTES_PER_TOKEN = 6
"""More than usual, so that the least is not too high. `tokens_in` does the same for the most."""
FRAME = 200
"""The most tokens of our own text around a task."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Range:
    """A number between `least` and `most`; None for no upper bound."""

    least: float = 0
    most: float | None = 0

    def __add__(self, other: Range) -> Range:
        most = None if self.most is None or other.most is None else self.most + other.most
        return Range(least=self.least + other.least, most=most)

    def __mul__(self, other: Range) -> Range:
        most = None if self.most is None or other.most is None else self.most * other.most
        if 0 in {self.most, other.most}:
            most = 0  # infinity times 0 is 0 here
        return Range(least=self.least * other.least, most=most)

    def as_text(self, form: str) -> str:
        """Return the range as text, each end in the given form."""
        least = form.format(self.least)
        if self.most is None:
            return f"{least} or more"
        most = form.format(self.most)
        return least if least == most else f"{least} to {most}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """The estimated consumption of runs.

    Attributes:
        usd: USD, for the models with known prices.
        unpriced: The models without known prices.
    """

    calls: Range = Range()
    tokens: Range = Range()
    usd: Range = Range()
    unpriced: frozenset[str] = field(default_factory=frozenset[str])

    def __add__(self, other: Estimate) -> Estimate:
        return Estimate(
            calls=self.calls + other.calls,
            tokens=self.tokens + other.tokens,
            usd=self.usd + other.usd,
            unpriced=self.unpriced | other.unpriced,
        )

    def __mul__(self, often: Range) -> Estimate:
        return Estimate(
            calls=self.calls * often,
            tokens=self.tokens * often,
            usd=self.usd * often,
            unpriced=self.unpriced,
        )

    def in_batches(self, models: Iterable[Model]) -> Estimate:
        """Return the estimate at batch prices, for the model with the dearest batches."""
        part = max((batch_price_of(model) or 1.0 for model in models), default=1.0)
        return replace(self, usd=self.usd * Range(least=part, most=part))

    def __str__(self) -> str:
        calls, tokens = self.calls.as_text("{:,.0f}"), self.tokens.as_text("{:,.0f}")
        return f"{calls} calls, {tokens} tokens, {self._cost}, without retries and tools' results"

    @property
    def _cost(self) -> str:
        priced = self.usd.as_text("${:,.4f}") if self.usd.most != 0 else ""
        if not self.unpriced:
            return priced or "free"
        names = ", ".join(sorted(self.unpriced))
        unpriced = f"the price of {names} is unknown"
        return f"{priced}, and {unpriced}" if priced else unpriced

    def value(self) -> dict[str, Any]:
        """Return the estimate as a JSON object, each range as a list of its ends."""
        ranges = {"calls": self.calls, "tokens": self.tokens, "usd": self.usd}
        fields = {name: [item.least, item.most] for name, item in ranges.items()}
        return {**fields, "unpriced": sorted(self.unpriced)}


def of_call(model: Model | None, read: Range, written: Range) -> Estimate:
    """Estimate one call of a model."""
    once = Range(least=1, most=1)
    rates = None if model is None else rates_of(model)
    if rates is None:
        name = "an unknown model" if model is None else model.model
        return Estimate(calls=once, tokens=read + written, unpriced=frozenset({name}))
    least = Usage(prompt_tokens=int(read.least), completion_tokens=int(written.least))
    most = rates.highest(int(read.most or 0), int(written.most or 0))
    usd = Range(least=rates.usd(least), most=most)
    return Estimate(calls=once, tokens=read + written, usd=usd)


def any_of(ones: Iterable[Estimate]) -> Estimate:
    """Return the estimate of any one of these: from the lowest least to the highest most."""
    estimates = [*ones]

    def widest(ranges: list[Range]) -> Range:
        ends = [item.most for item in ranges if item.most is not None]
        most = max(ends, default=0) if len(ends) == len(ranges) else None
        return Range(least=min((item.least for item in ranges), default=0), most=most)

    return Estimate(
        calls=widest([item.calls for item in estimates]),
        tokens=widest([item.tokens for item in estimates]),
        usd=widest([item.usd for item in estimates]),
        unpriced=frozenset[str]().union(*(item.unpriced for item in estimates)),
    )


def estimate(plan: Plan, tasks: Sequence[Task]) -> Estimate:
    """Estimate running a plan once on each of these tasks."""
    agents = {
        agent: sum(
            (call * _calls(plan, agent) for call in _each_call(plan, agent, tasks)), Estimate()
        )
        for agent, planned in plan.agents.items()
        if planned.calls_at_most
    }
    recruit, roster = plan.team.execution.recruit, plan.team.execution.roster
    perhaps = Range(least=0, most=1)
    if roster is not None:
        agents = {
            agent: each if agent == roster.lead else each * perhaps
            for agent, each in agents.items()
        }
    among = [agents.pop(name) for name in (recruit.among if recruit else ()) if name in agents]
    among.sort(key=lambda each: each.tokens.most or 0, reverse=True)
    recruited = [each * perhaps for each in among[: recruit.most if recruit else 0]]
    return sum([*agents.values(), *recruited], Estimate())


def any_call(plan: Plan, tasks: Sequence[Task]) -> Estimate:
    """Estimate any one call of a plan, by any of its agents on any of the tasks."""
    calling = [agent for agent, planned in plan.agents.items() if planned.calls_at_most]
    return any_of(call for name in calling for call in _each_call(plan, name, tasks))


def _calls(plan: Plan, agent_id: str) -> Range:
    most = plan.agents[agent_id].calls_at_most * plan.turns_at_most(agent_id)
    return Range(least=0 if agent_id in plan.optional else 1, most=most)


def _each_call(plan: Plan, agent_id: str, tasks: Sequence[Task]) -> Iterator[Estimate]:
    planned, team = plan.agents[agent_id], plan.team
    number = _bytes(system(planned, team.constitution, has_reports=bool(planned.sees)))
    talks = team.execution.rounds is not None or team.execution.roster is not None
    colleagues = plan.agents if talks else planned.sees
    written = planned.agent.max_tokens
    reports = sum(plan.written_at_most(colleague) for colleague in colleagues)
    reports += (planned.calls_at_most - 1) * written + FRAME
    for task in tasks:
        files = shown_files(planned, task).values()
        texts = (task.query, task.context, task.briefs.get(agent_id, ""), *files)
        size = number + sum(map(_bytes, texts))
        read = Range(least=size // BYTES_PER_TOKEN, most=tokens_in(size) + reports)
        yield of_call(planned.model, read, Range(least=1, most=written))


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
