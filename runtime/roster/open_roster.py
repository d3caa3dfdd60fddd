"""Runs a team with an open roster: agents are started during the work, and write to each other.

One place decides on events, one after the other: an agent takes its mail, a turn ends and
its acts are sent, the run ends. Each is journaled before it takes effect. Only turns run
side by side, and each is a pass of the engine with one agent. So nothing waits except for
running turns; if there are none and no agent has mail, the run ends.

A resumed run first repeats the events in the journal, in the same order, with their recorded turns,
whatever the timing was. Then it continues the unfinished turns.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..agents.acts import Finalize
from ..agents.outcomes import Run
from ..agents.posted import Ended, TurnDone, TurnStart
from ..engine.allowance import Allowance
from ..record.journal import NotRecorded
from .bus import Bus
from .log import RosterLog
from .outgoing import failing, outgoing
from .run import Accounts, ended_by, ending_of
from .turns import RunningTurn, TurnContext

if TYPE_CHECKING:
    from collections.abc import Collection

    from ...schema.team.task import Task
    from ..agents.outcomes import AgentOutcome, Posted
    from ..agents.posted import Event
    from ..engine.engine import Context
    from ..plan.plan import Plan
    from ..record.trace import Trace

OPEN_ENDED = frozenset({"cost", "failed"})
"""Ends after which a resumed run continues: with more to spend, or with another attempt."""
_SILENCE = Ended(why="silence")


async def open_roster(
    plan: Plan,
    task: Task,
    context: Context,
    *,
    path: str,
    silent: Collection[str],
) -> Run:
    """Run a team with an open roster on a task, without scoring it.

    Args:
        path: The run's path in its journal: empty, or ending with a slash.
        silent: Agents that can be neither started nor written to.

    Returns:
        The result. A run that fails or meets a limit is a result, not an exception.

    Raises:
        ValueError: The team's roster is not open.
        StorageError: An event can no longer be recorded.
        asyncio.CancelledError: The caller cancelled; everything has stopped.
    """
    roster = plan.team.execution.roster
    if roster is None:
        raise ValueError(f"{plan.team.name} has no open roster.")
    candidates = tuple(agent for agent in plan.team.agents if agent not in silent)
    if roster.lead not in candidates:
        error = f"{roster.lead}, whose output is the answer, took no part."
        return Run(status="failed", error=error, agents=Accounts().outcomes(plan.agents))
    bus = Bus(candidates=candidates, roster=roster)
    turns = TurnContext(plan=plan, task=task, context=context, path=path, bus=bus)
    return await _Working(plan=plan, context=context, bus=bus, turns=turns, path=path).to_the_end()


@dataclass(kw_only=True, eq=False)
class _Working:
    """An open roster at work.

    Attributes:
        finished: The finished turns, in the order in which they ended.
        halted: How the work ends by something that is no event of the bus.
        stopped: The pass that met a limit.
    """

    plan: Plan
    context: Context
    bus: Bus
    turns: TurnContext
    path: str
    under_way: dict[str, RunningTurn] = field(default_factory=dict[str, RunningTurn])
    accounts: Accounts = field(default_factory=Accounts)
    halted: Ended | None = None
    stopped: Run | None = None

    def __post_init__(self) -> None:
        self.started = time.monotonic()
        self.log = RosterLog(self.context.calls.journal, self.path)
        self.allowance = Allowance(self.plan.team.execution.timeout)
        self.finished: asyncio.Queue[asyncio.Task[Run]] = asyncio.Queue()

    async def to_the_end(self) -> Run:
        """Repeat the recorded events, continue from there, and let an agent hand in."""
        try:
            await self._repeat()
            while self.halted is None and self.bus.ending is None:
                await self._step()
            if self.halted is not None and self.halted.why == "cost":
                await self._drain()
            run = await self._end()
        except NotRecorded as missing:
            return self._run(status="failed", error=str(missing))
        finally:
            await self._stop_all()
        report_end(run, self.context.trace)
        self.context.trace.check()
        return run

    async def _repeat(self) -> None:
        """Apply the events in the journal, with their recorded turns."""
        # In the order of the journal: whatever the timing is today, each turn meets the same team.
        for event, outcome in self.log.past():
            if isinstance(event, TurnDone):
                turn = self.under_way.pop(event.agent)
                if event.status == "done":
                    await self._redo(turn, event)
                else:
                    self._settle(turn, outcome or turn.cut_off())
            self._happen(event)
        for turn in self.under_way.values():
            turn.spent = self.turns.paid(turn)

    async def _redo(self, turn: RunningTurn, end: TurnDone) -> None:
        outcome = (await self.turns.run_turn(turn, self.allowance)).agents[turn.agent]
        if self.log.is_replaying and self.turns.sends(turn, outcome) != end.posted:
            self.log.differs()
        self._settle(turn, outcome)

    async def _step(self) -> None:
        """Start the turns of agents with mail, as far as there is room, and wait for one to end."""
        for agent in self.bus.due[: max(0, self.plan.workers - len(self.under_way))]:
            start = self.bus.take(agent)
            await self.log.note(start)
            self._happen(start)
        for turn in self.under_way.values():
            if turn.part is None:
                work = self.turns.run_turn(turn, self.allowance)
                turn.part = asyncio.create_task(work, name=turn.agent)
                turn.part.add_done_callback(self.finished.put_nowait)
        await self._next()

    async def _drain(self) -> None:
        """Let running turns end: calls in flight are paid for, and one may hand in."""
        while any(turn.part is not None for turn in self.under_way.values()):
            await self._next()

    async def _next(self) -> None:
        """Wait for a turn's end."""
        part = await self.finished.get()
        turn = next(item for item in self.under_way.values() if item.part is part)
        await self._turn_ended(turn, part.result())

    async def _turn_ended(self, turn: RunningTurn, run: Run) -> None:
        """Apply the consequences of a turn that has ended."""
        outcome = run.agents[turn.agent]
        if run.status == "stopped":
            self.stopped, turn.part = run, None
            why = "cost" if run.over_budget else "seconds"
            self.halted = Ended(why=why, text=run.error or "")
        elif outcome.result is None:
            await self._failed(turn, outcome)
        else:
            posted = self.turns.sends(turn, outcome)
            end = TurnDone(agent=turn.agent, turn=turn.number, posted=posted)
            await self.log.note(end)
            self._settle(turn, outcome)
            self._happen(end)

    async def _failed(self, turn: RunningTurn, outcome: AgentOutcome) -> None:
        """Continue after a failed turn as the team declares; no team continues without its lead."""
        agent, number, policy = turn.agent, turn.number, self.plan.team.execution.on_error
        if policy == "fail" or agent == self.bus.roster.lead:
            error = f"agent {agent}, in its turn {number}: {outcome.error}"
            self.halted = Ended(why="failed", by=agent, text=error)
            self._settle(turn, outcome)
            return
        report = (
            failing(self.bus, agent, number, outcome.error or "") if policy == "degrade" else ()
        )
        end = TurnDone(agent=agent, turn=number, status="failed", posted=report)
        await self.log.note(end, outcome)
        self._settle(turn, outcome)
        self._happen(end)

    def _settle(self, turn: RunningTurn, outcome: AgentOutcome) -> None:
        """Count the result of a turn, and keep it for later turns."""
        self.under_way.pop(turn.agent, None)
        self.accounts.add(turn.agent, outcome)
        if outcome.result is not None:
            self.turns.keep(turn, outcome)

    def _happen(self, event: Event) -> None:
        happen(self.bus, event, self.context.trace)
        if isinstance(event, TurnStart) and self.bus.ended is None:
            self.under_way[event.agent] = self.turns.begin(event)

    async def _stop_all(self) -> None:
        """Cancel the running turns, and wait until they have stopped."""
        parts = [turn.part for turn in self.under_way.values() if turn.part is not None]
        for part in parts:
            part.cancel()
        await asyncio.gather(*parts, return_exceptions=True)

    async def _end(self) -> Run:
        """End the work, and let the lead hand in if no agent has and none gave up.

        An end after which the run may continue is journaled only together with the hand-in.
        """
        ended, is_new = self._ended(), self.bus.ended is None
        # A journaled end is final, and after these a later process may go on.
        is_open = ended.why in OPEN_ENDED
        if is_new and not is_open:
            await self.log.note(ended)
        await self._stop_all()
        self._happen(ended)
        cut = [(item, item.cut_off()) for item in self.under_way.values()]
        self.under_way.clear()
        for turn, outcome in cut:
            await self._cut_off(turn, outcome, is_noted=not is_open)
        run = await self._closed(ended)
        if is_new and is_open and run.status == "done":
            await self.log.note(ended)
            for turn, outcome in cut:
                await self.log.note(turn.cancelled, outcome)
        return run

    def _ended(self) -> Ended:
        """Return how the work ends: an answer counts even if a limit was met beside it."""
        happened = self.bus.ending or _SILENCE
        is_final = happened.why in {"finalized", "terminated"}
        return happened if is_final else self.halted or happened

    async def _cut_off(self, turn: RunningTurn, outcome: AgentOutcome, *, is_noted: bool) -> None:
        end = turn.cancelled
        if is_noted:
            await self.log.note(end, outcome)
        self.accounts.add(turn.agent, outcome)
        self._happen(end)

    async def _closed(self, ended: Ended) -> Run:
        match ended.why:
            case "finalized":
                return self._run(status="done", answer=ended.text, answered_by=ended.by)
            case "terminated":
                return self._run(status="failed", error=f"{ended.by} gave up: {ended.text}")
            case "failed":
                return self._run(status="failed", error=ended.text)
            case _:
                return await self._handed_in(ended)

    async def _handed_in(self, ended: Ended) -> Run:
        """Let the lead hand in the current result, in one turn without tools."""
        lead = self.bus.roster.lead
        start = self.bus.take(lead)
        self._happen(start)
        turn = self.turns.begin(start, hands_in=True)
        run = await self.turns.run_turn(turn, Allowance(self.bus.roster.wrap_up))
        outcome = run.agents[lead]
        self.accounts.add(lead, outcome)
        if run.status == "done" and outcome.result is not None:
            answer = self.turns.handed(turn, outcome)
            posted = outgoing(self.bus, lead, turn.number, [Finalize(answer=answer)])
            self._happen(TurnDone(agent=lead, turn=turn.number, posted=posted))
            return self._run(status="done", answer=answer, answered_by=lead)
        self._happen(turn.cancelled)
        why = ended_by(ended, self.bus.roster, self.allowance.timeout)
        error = f"{why}, and {lead} handed nothing in: {run.error or outcome.error}"
        return self._run(
            status=run.status,
            error=run.error if run.over_budget else error,
            over_budget=run.over_budget or ended.why == "cost",
            fault=run.fault or (self.stopped.fault if self.stopped else None),
        )

    def _run(self, **result: Any) -> Run:
        ended = self.bus.ended
        return Run(
            **result,
            usage=self.accounts.usage,
            seconds=time.monotonic() - self.started,
            agents=self.accounts.outcomes(self.plan.agents),
            bus=tuple(self.bus.posted),
            ending=ending_of(self.bus, ended) if ended else None,
        )


def happen(bus: Bus, event: Event, trace: Trace) -> None:
    """Apply an event to a roster, and report it."""
    before, at_work = dict(bus.active), dict(bus.at_work)
    bus.apply(event)
    match event:
        case TurnStart():
            messages = [_message_fields(bus.posted[number - 1]) for number in event.messages]
            trace.emit("mail_taken", event.agent, turn=event.turn, messages=messages)
        case TurnDone():
            if event.status != "done":
                messages = [*at_work[event.agent].messages]
                trace.emit("mail_returned", event.agent, turn=event.turn, messages=messages)
            for posted in event.posted:
                fields = _message_fields(posted)
                trace.emit("message_posted", posted.sender or None, **fields, text=posted.text)
            # Who left comes first: others may have got its place.
            for name in (agent for agent in before if agent not in bus.active):
                trace.emit("agent_left", name, failed=event.status == "failed")
            for name in (agent for agent in bus.active if agent not in before):
                trace.emit("agent_joined", name, by=bus.active[name])
        case Ended():
            pass


def report_end(run: Run, trace: Trace) -> None:
    """Report how a run ended."""
    if (ending := run.ending) is not None:
        counted = {"turns": dict(ending.turns), "sent": ending.sent, "unread": ending.unread}
        trace.emit("roster_ended", ending.by, why=ending.why, **counted)


def _message_fields(posted: Posted) -> dict[str, object]:
    return {"number": posted.number, "sender": posted.sender, "to": posted.to, "kind": posted.kind}
