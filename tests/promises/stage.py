"""Runs in virtual time: the test decides what happens next, whenever nothing else can.

So every order of events can come up, none depends on the machine, and a run that waits for nothing
is seen at once.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from coterie.runtime import Calls, Context, Run, Toolbox, Trace, compile, perform
from coterie.runtime.gateway import CallError, ChatAnswer, Usage
from coterie.runtime.record.trace import Event
from coterie.schema import Catalogue, Task

from ..virtual_time import VirtualLoop, run_virtually
from .any_team import Case, heard, outcome

TASK = Task(id="apples", query="How many apples are left?")
UNUSED: Any = None
"""No agent of these teams writes code."""


class Stage:
    """Runs a case, ends its calls one at a time, and looks at the run between them.

    Args:
        stall_at: The step from which on no call ends any more.
        cancel_at: The step at which the run is cancelled.

    Attributes:
        steps: How often the test had to decide.
        asked: How many calls each agent has made.
        answered: How many calls got an answer.
    """

    def __init__(
        self, case: Case, *, stall_at: int | None = None, cancel_at: int | None = None
    ) -> None:
        self.case = case
        self.sees = heard(case)
        workers = case.execution.parallel_workers
        self.workers = len(case.behaviour) if workers is True else int(workers) or 1
        self.steps = 0
        self.asked = Counter[str]()
        self.answered = 0
        self.open: dict[str, asyncio.Future[ChatAnswer]] = {}
        self.events: list[Event] = []
        self.loop = VirtualLoop(self._idle)
        self._stall_at = stall_at
        self._cancel_at = cancel_at
        self._cancel: Callable[[], object] = lambda: None

    def run(self) -> Run:
        """Run the case to its end."""
        return run_virtually(self._executed(), self.loop)

    def left_over(self) -> int:
        """Run the case until it is cancelled or ends, and count the tasks that are left."""

        async def cancelled() -> int:
            running = asyncio.create_task(self._executed())
            self._cancel = running.cancel
            if self._cancel_at == 0:
                running.cancel()
            await asyncio.wait({running})
            return len(asyncio.all_tasks() - {asyncio.current_task()})

        return run_virtually(cancelled(), self.loop)

    def of(self, kind: str) -> list[str]:
        """Whom the events of a kind are about, in their order."""
        return [str(event.agent) for event in self.events if event.type == kind]

    async def chat(self, request: Any, *_: Any, **__: Any) -> ChatAnswer:
        """Be the gateway: a call stays open until the test ends it."""
        result = re.search(r"\[(a\d+)\]", str(request.messages))
        assert result is not None
        agent = result[1]
        self.asked[agent] += 1
        self.open[agent] = self.loop.create_future()
        try:
            async with asyncio.timeout(request.patience):
                return await self.open[agent]
        except TimeoutError:
            raise CallError("no answer", kind="slow") from None
        finally:
            del self.open[agent]

    async def _executed(self) -> Run:
        gateway: Any = self
        async with Toolbox() as toolbox:
            return await perform(
                compile(self.case.team(), Catalogue.of_host()),
                TASK,
                Context(
                    calls=Calls(gateway=gateway),
                    jails=UNUSED,
                    toolbox=toolbox,
                    trace=Trace(self._noted),
                ),
            )

    def _noted(self, event: Event) -> None:
        """No agent starts before those that it hears have ended, or beyond the bound."""
        self.events.append(event)
        if event.type == "agent_started":
            started, ended = {*self.of("agent_started")}, {*self.of("agent_finished")}
            assert self.sees[str(event.agent)] <= ended
            assert len(started - ended) <= self.workers

    def _idle(self, timeout: float | None) -> float:
        """Let something happen: an open call ends, or time passes."""
        self.steps += 1
        assert self.steps <= self._most_steps(), "it makes no progress"
        if self.steps == self._cancel_at:
            self._cancel()
            return 0
        self._look()
        assert self.open, "deadlock: nothing is under way"
        able = [name for name in self.open if self._can_end(name)]
        choices = len(able) + (len(able) < len(self.open))
        pick = self.case.order[self.steps % len(self.case.order)] % choices
        if pick < len(able):
            self._end(able[pick])
            return 0
        assert timeout is not None, "deadlock: what is under way has no end"
        return timeout

    def _most_steps(self) -> int:
        """Each step ends a call; two more are for the run's timeout and for being cancelled."""
        retries = self.case.execution.max_retries
        ends = (outcome(how, retries, reports=True) for how in self.case.behaviour.values())
        return sum(calls for _, calls in ends) + 2

    def _look(self) -> None:
        """When nothing moves, as many agents are at work as can be."""
        ended = {*self.of("agent_finished")}
        able = [name for name, before in self.sees.items() if name not in ended and before <= ended]
        assert len(self.open) == min(self.workers, len(able))

    def _can_end(self, agent: str) -> bool:
        stalled = self._stall_at is not None and self.steps >= self._stall_at
        return not stalled and self.case.behaviour[agent] != "hangs"

    def _end(self, agent: str) -> None:
        behaviour, call = self.case.behaviour[agent], self.open[agent]
        if behaviour == "refused":
            call.set_exception(CallError("no", kind="rejected"))
            return
        empty = behaviour == "empty" or (behaviour == "recovers" and self.asked[agent] == 1)
        text = "" if empty else f"words of {agent}"
        self.answered += 1
        call.set_result(ChatAnswer(text=text, usage=Usage(calls=1)))
