"""A child's run reuses answers of its parents' runs on the same task where it asks the same.

The same means the same path in the run and the same question: of an agent that ended, or of a
single model call. A result of a tool or of code also depends on earlier actions in the same
workspace, so it is never reused alone.

A call's question includes its seed. A first run draws seeds from its own paths. A child's agent
uses the seeds of the parent that it has the agent from, as if it worked in that run. An endpoint
that honors seeds would therefore give the reused answer again, so reuse changes the bill and
nothing else. Everything else has its own seeds: other agents, attempts and calls, and other samples
of the same candidate.

Answers come only from runs that had ended when the child was made. So reuse depends on the teams
and the answers, never on timing.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from ..record.branch import WHOLE
from ..record.journal import Journal
from ..values.usage import COUNT_NAMES, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..plan.plan import Plan, PlannedAgent
    from ..record._entries import JournalEntry
    from ..record.journal import Value

PARENT = "parent"
"""The source, in events, of an answer that a parent's run received."""
SOURCE = "source"
SAVED = "saved"
DRAWN = "drawn"
"""Marks an agent whose model might answer differently the next time."""


@dataclass(kw_only=True, eq=False)
class ParentRunReuse(Journal):
    """The journal of one candidate's run. It is open as long as the evolution's own journal is.

    Reused answers are not written again: a resumed run finds them at the parent once more.

    Attributes:
        place: The run's path, ending with a slash.
        parents: The runs of the team's parents; the first parent supplied its topology.
        always: Whether to reuse answers even if no seed or temperature makes them repeatable.
        takes_seed: Returns whether a seed makes the model of an alias repeatable.
    """

    place: str
    plan: Plan
    parents: Sequence[ParentRunReuse] = ()
    always: bool = False
    takes_seed: Callable[[str], bool]
    _saved: defaultdict[str, dict[str, Usage]] = field(
        default_factory=lambda: defaultdict(dict[str, Usage])
    )
    _drawn: set[str] = field(default_factory=set[str])

    @classmethod
    def of(
        cls,
        own: Journal,
        place: str,
        plan: Plan,
        parents: Sequence[ParentRunReuse],
        *,
        takes_seed: Callable[[str], bool],
        always: bool = False,
    ) -> Self:
        """Begin a run; see the attributes for the arguments. `own` holds its entries."""
        return cls(
            place=place,
            plan=plan,
            parents=parents,
            always=always,
            takes_seed=takes_seed,
            **own._shared(),
        )

    def __post_init__(self) -> None:
        """Choose each agent's parent run: the first with the same agent, or else the first."""
        self._heirs: dict[str, ParentRunReuse] = {}
        for agent_id, planned in self.plan.agents.items():
            if self.parents and planned.calls_at_most and self._repeats(planned):
                alike = (parent for parent in self.parents if parent.has(planned))
                heir = next(alike, self.parents[0])
                if heir.has_no_more_time(self.plan, agent_id):
                    self._heirs[agent_id] = heir

    def close(self) -> None:
        """Do nothing: the file belongs to the evolution's own journal."""

    @property
    def saved(self) -> Usage:
        """The cost of all answers that it reused from its parents' runs."""
        return sum((usage for part in self._saved.values() for usage in part.values()), Usage())

    def has(self, planned: PlannedAgent) -> bool:
        """Return whether this run has the same agent: its id, shape and prompt."""
        own = self.plan.agents.get(planned.agent.id)
        return own is not None and (own.shape, own.prompt) == (planned.shape, planned.prompt)

    def has_no_more_time(self, plan: Plan, agent_id: str) -> bool:
        """Return whether an agent had at most the time here that another plan gives it.

        An answer that took longer cannot serve an agent with less time.
        """
        whole, most = self.plan.team.execution.timeout, plan.team.execution.timeout
        own = self.plan.agents.get(agent_id)
        had = (own.agent.timeout if own else None) or whole
        return whole <= most and had <= (plan.agents[agent_id].agent.timeout or most)

    def origin(self, path: str) -> str:
        """Return the path that a call's seed is drawn from: the parent run's, if it has one."""
        heir = self._heir(path)
        return path if heir is None else heir.origin(heir.placed(path, self.place))

    def placed(self, path: str, place: str) -> str:
        """Translate another run's path into this run's."""
        return f"{self.place}{path.removeprefix(place)}"

    def get(self, path: str, key: str) -> Value | None:
        """Return the recorded answer to this question, from this run or a parent's."""
        own = self.entry(path, key)
        entry = own or self._inherited(path, key)
        if entry is None:
            return None
        self.recorded_answers += 1
        if own is not None:
            self._count(path, entry.kind, entry.value)
            return entry.value
        usage = _usage(entry.value) if "usage" in entry.value else Usage()
        self._saved[_agent(path)][path] = usage
        return {**entry.value, SOURCE: PARENT}

    async def put(
        self, path: str, kind: str, key: str, value: Value, *, at_once: bool = True
    ) -> None:
        """Record an entry, as `Journal` does; for an agent, add the cost that reuse saved."""
        if kind == "agent":
            value = {**value, **self._reuse_fields(path)}
        else:
            self._count(path, kind, value)
        await super().put(path, kind, key, value, at_once=at_once)

    def answer_for(self, path: str, key: str) -> JournalEntry | None:
        """Return the entry that a child's run may reuse; never one that might differ the next time.

        Args:
            path: The entry's path in this run.
        """
        entry = self.entry(path, key)
        if entry is None:
            return self._inherited(path, key)
        is_free = self.always or not (
            DRAWN in entry.value or self._is_drawn(path, entry.kind, entry.value)
        )
        return entry if entry.kind in WHOLE and is_free else None

    def _inherited(self, path: str, key: str) -> JournalEntry | None:
        heir = self._heir(path)
        return None if heir is None else heir.answer_for(heir.placed(path, self.place), key)

    def _heir(self, path: str) -> ParentRunReuse | None:
        """Return the parent run of a path's agent; None if the agent reuses nothing."""
        within = path.removeprefix(self.place).split("/")
        agent = next((name for name in within if name in self.plan.agents), "")
        return self._heirs.get(agent)

    def _repeats(self, planned: PlannedAgent) -> bool:
        """Return whether an agent's model is repeatable, as far as is known."""
        agent = planned.agent
        return self.always or agent.temperature == 0 or self.takes_seed(agent.model_id)

    def _is_drawn(self, path: str, kind: str, answer: Value) -> bool:
        """Return whether a model might answer differently the next time.

        This includes a model that refused the seed or the temperature, and a fallback.
        """
        if kind != "model" or self.always:
            return False
        within = path.removeprefix(self.place).split("/")
        agent = next(self.plan.agents[name].agent for name in within if name in self.plan.agents)
        refused = answer.get("adapted", {})
        greedy = agent.temperature == 0 and "temperature" not in refused
        seeded = self.takes_seed(agent.model_id) and "seed" not in refused
        return answer["alias"] != agent.model_id or not (greedy or seeded)

    def _count(self, path: str, kind: str, value: Value) -> None:
        """Record the cost that an answer saved, and whether it involved chance."""
        if kind == "agent" and SAVED in value:
            self._saved[path][path] = _usage({"usage": value[SAVED]})
        if self._is_drawn(path, kind, value):
            self._drawn.add(_agent(path))

    def _reuse_fields(self, path: str) -> Mapping[str, Any]:
        """Return an agent's saved cost, and whether its answers involved chance."""
        saved = sum(self._saved[path].values(), Usage())
        return {
            **({SAVED: saved.value()} if saved != Usage() else {}),
            **({DRAWN: True} if path in self._drawn else {}),
        }


def _agent(path: str) -> str:
    """Return the path of the agent that an entry belongs to; an agent's own path unchanged."""
    return path.partition("/attempt ")[0]


def _usage(value: Value) -> Usage:
    counts = value["usage"]
    return Usage(**{name: counts[name] for name in COUNT_NAMES if name in counts})
