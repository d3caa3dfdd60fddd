"""The turns of an open roster: an agent's input, the pass that it makes, and the acts it sends."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ...schema.values.errors import AgentError
from ..agents.acts import Finalize, acts
from ..agents.outcomes import AgentOutcome
from ..agents.posted import TurnDone
from ..agents.round_state import RoundState
from ..agents.runner import AgentReport
from ..engine.engine import execute
from ..engine.handing_in import handed_in
from ..messages.conversation import earlier
from ..plan.plan import part_of
from ..repository.changes import newest
from ..repository.workspace import Workspaces
from ..values.budget import Budget
from ..values.usage import Usage
from .outgoing import outgoing

if TYPE_CHECKING:
    import asyncio

    from ...schema.team.task import Task
    from ..agents.outcomes import Posted, Run
    from ..agents.posted import Mail, TurnStart
    from ..engine.allowance import Allowance
    from ..engine.engine import Context
    from ..plan.plan import Plan
    from ..repository.changes import RepositoryChange
    from .bus import Bus

CONVERSATION = 400_000
"""Characters that are kept of an agent's conversation, unless more are requested."""


@dataclass(kw_only=True, eq=False)
class RunningTurn:
    """A running turn of an agent.

    Attributes:
        budget: Counts its spending in this process.
        spent: Its spending in earlier processes.
        patch: The patch that it hands in, if it handed in.
    """

    start: TurnStart
    mail: Mail
    state: RoundState
    budget: Budget
    spent: Usage = field(default_factory=Usage)
    part: asyncio.Task[Run] | None = None
    patch: str | None = None
    started: float = field(default_factory=time.monotonic)

    @property
    def agent(self) -> str:
        """The agent."""
        return self.start.agent

    @property
    def number(self) -> int:
        """The number of the agent's turn, from 1."""
        return self.start.turn

    @property
    def cancelled(self) -> TurnDone:
        """The event of the turn if the run ends first."""
        return TurnDone(agent=self.agent, turn=self.number, status="cancelled")

    def cut_off(self) -> AgentOutcome:
        """Return the outcome of the turn if the run ends first."""
        return AgentOutcome(
            status="cancelled",
            usage=self.spent + self.budget.spent,
            seconds=time.monotonic() - self.started,
        )


@dataclass(kw_only=True, eq=False)
class TurnContext:
    """What the turns of one run share, and what they leave to later ones."""

    plan: Plan
    task: Task
    context: Context
    path: str
    bus: Bus
    _parts: dict[str, Plan] = field(default_factory=dict[str, "Plan"])
    _last_outcomes: dict[str, AgentOutcome] = field(default_factory=dict[str, AgentOutcome])
    _changes: dict[str, tuple[RepositoryChange, ...]] = field(
        default_factory=dict[str, "tuple[RepositoryChange, ...]"]
    )

    def begin(self, start: TurnStart, *, hands_in: bool = False) -> RunningTurn:
        """Return the turn of an agent that has just taken its mail."""
        mail = self.bus.mail(start, hands_in=hands_in)
        budget = (self.context.budget or Budget()).child(name=f"agent {start.agent}")
        return RunningTurn(
            start=start, mail=mail, state=self._turn_state(start.agent, mail), budget=budget
        )

    async def run_turn(self, turn: RunningTurn, allowance: Allowance) -> Run:
        """Run the turn as a pass of the engine."""
        agent, place = turn.agent, f"turn {turn.number}"
        if agent not in self._parts:
            self._parts[agent] = part_of(self.plan, {agent})
        context = replace(
            self.context,
            trace=self.context.trace.within(turn=turn.number),
            budget=turn.budget,
            dialogue=max(CONVERSATION, self.context.dialogue),
        )
        run = await execute(
            self._parts[agent],
            self.task,
            context,
            path=f"{self.path}{'handing in' if turn.mail.hands_in else place}/",
            state=turn.state,
            allowance=allowance,
        )
        return await self._with_patch(turn, run)

    async def _with_patch(self, turn: RunningTurn, run: Run) -> Run:
        """Add the patch that a turn hands in; the turn fails if there is none."""
        outcome = run.agents[turn.agent]
        if outcome.result is None:
            return run
        finalizes = (isinstance(act, Finalize) for act in acts(outcome, turn.mail.messages))
        if turn.mail.hands_in or any(finalizes):
            try:
                with Workspaces(self.task) as workspaces:
                    turn.patch = await handed_in(workspaces, outcome.changes)
            except AgentError as error:
                failed = replace(
                    outcome, status="failed", result=None, error=str(error), fault="agent"
                )
                return replace(run, status="failed", error=str(error), agents={turn.agent: failed})
        return run

    def sends(self, turn: RunningTurn, outcome: AgentOutcome) -> tuple[Posted, ...]:
        """Return the acts that a finished turn sends.

        If the team works on a repository, the answer is the agent's patch.
        """
        actions, patch = acts(outcome, turn.mail.messages), turn.patch
        if patch is not None:
            actions = tuple(
                replace(act, answer=patch) if isinstance(act, Finalize) else act for act in actions
            )
        return outgoing(self.bus, turn.agent, turn.number, actions)

    def handed(self, turn: RunningTurn, outcome: AgentOutcome) -> str:
        """Return what was handed in: the text of `finalize`, a patch, or the result of the turn."""
        posted = self.sends(turn, outcome)
        named = next((message.text for message in posted if message.kind == "finalize"), None)
        text = outcome.result.answer or outcome.result.content if outcome.result else ""
        return named or turn.patch or text

    def keep(self, turn: RunningTurn, outcome: AgentOutcome) -> None:
        """Keep the result of a turn for later ones."""
        self._last_outcomes[turn.agent] = outcome
        self._changes[turn.agent] = outcome.changes

    def paid(self, turn: RunningTurn) -> Usage:
        """Return the spending of a turn in earlier processes."""
        journal = self.context.calls.journal
        if journal is None:
            return Usage()
        return journal.spent(f"{self.path}turn {turn.number}/{turn.agent}/")

    def _turn_state(self, agent: str, mail: Mail) -> RoundState:
        """Give an agent its mail, its conversation, and the changes to continue from.

        These are its own, and those of all agents that wrote to it.
        """
        whose = dict.fromkeys((agent, *(message.sender for message in mail.messages)))
        changes = newest(change for who in whose for change in self._changes.get(who, ()))
        outcome = self._last_outcomes.get(agent)
        patch = changes[0].patch if len(changes) == 1 else None
        own = AgentReport(agent_id=agent, role="", content="", patch=patch, changes=changes)
        return RoundState(
            own={agent: own} if changes else {},
            mail={agent: mail},
            earlier={agent: earlier(outcome.dialogue, self.bus.roster.memory)} if outcome else {},
        )
