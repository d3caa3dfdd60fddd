"""What a failure is blamed on: the steps of a run, each of which a person can point at."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, kw_only=True, slots=True)
class RunStep:
    """One thing that somebody did in a run.

    Attributes:
        number: What a person finds it by: `n` of the event in events.jsonl, or the place in the
            history of a published trace. No two steps of a trace have the same.
        agent: Who did it, by its id. It need not be one that can be blamed: a person asks, too.
        kind: What it is: `answer`, `action`, `tool`, `message`, `outcome`, `failure`; of a trace
            that does not tell, empty.
        where: What else tells where it is: `round 2`, `closing`, `turn 3, attempt 2`.
        read: What it was done upon, as far as no step of the same agent tells it. Only the agent's
            own analyzer is shown it: in the flat trace it stands where others did it.
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
        agents: Who can be blamed, each once. Who did no step is not blamed either.
        steps: What was done, in order; their numbers increase.
        answer: The result of the run; empty where it had no result, or nobody knows.
        expected: The right answer, where it may be shown; empty where not.
        ended: What else is known of how it ended: an error, a score.
    """

    question: str
    agents: tuple[str, ...]
    steps: tuple[RunStep, ...]
    answer: str = ""
    expected: str = ""
    ended: str = ""

    @cached_property
    def doers(self) -> tuple[str, ...]:
        """Who did something and can be blamed, in the order of `agents`."""
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
            KeyError: There is none.
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
