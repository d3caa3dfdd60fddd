"""A failed run as a sequence of steps, each of which can be blamed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, kw_only=True, slots=True)
class RunStep:
    """One step of an agent in a run.

    Attributes:
        number: Its unique number in the trace: `n` of the event in events.jsonl, or the place in
            the history of a published trace.
        agent: The agent's id. It need not be an agent that can be blamed: a user asks, too.
        kind: `answer`, `action`, `tool`, `message`, `outcome`, `failure`; empty for a trace without
            kinds.
        where: Its place in the run: `round 2`, `closing`, `turn 3, attempt 2`.
        read: Its input, as far as no step of the same agent contains it. Only the agent's own
            analyzer sees it: in the flat trace, it is part of other agents' steps.
    """

    number: int
    agent: str
    text: str
    kind: str = ""
    where: str = ""
    read: str = ""


@dataclass(frozen=True, kw_only=True)
class FailedRun:
    """A failed run.

    Attributes:
        agents: The agents that can be blamed, each once. An agent without steps is never blamed.
        steps: The steps, in order; their numbers increase.
        answer: The answer of the run; empty if it has none, or if it is unknown.
        expected: The right answer, if it may be shown; else empty.
        ended: Further information on the outcome: an error, a score.
    """

    question: str
    agents: tuple[str, ...]
    steps: tuple[RunStep, ...]
    answer: str = ""
    expected: str = ""
    ended: str = ""

    @cached_property
    def doers(self) -> tuple[str, ...]:
        """The agents that have steps and can be blamed, in the order of `agents`."""
        return tuple(agent for agent in self.agents if agent in self._numbers)

    def of(self, agent: str) -> tuple[RunStep, ...]:
        """Return the sub-trace of an agent: its own steps, in order."""
        return tuple(step for step in self.steps if step.agent == agent)

    def numbers(self, agent: str) -> tuple[int, ...]:
        """Return the numbers of an agent's steps, in order."""
        return self._numbers.get(agent, ())

    def step(self, number: int) -> RunStep:
        """Return the step with a number.

        Raises:
            KeyError: There is no such step.
        """
        return self._steps[number]

    @cached_property
    def _steps(self) -> dict[int, RunStep]:
        return {step.number: step for step in self.steps}

    @cached_property
    def _numbers(self) -> dict[str, tuple[int, ...]]:
        numbers: dict[str, list[int]] = {}
        for step in self.steps:
            numbers.setdefault(step.agent, []).append(step.number)
        return {agent: tuple(of) for agent, of in numbers.items()}
