"""A child's run is answered by its parents' runs on the same task where it asks the same.

The same is what stands in the same place of the run and is asked in the same words: an agent that
ended, or a single call of a model. What a tool or a piece of code gave also follows from
what was done before in the same workspace, so it is never taken alone.

What a call asks for includes its seed. A first run has the seeds of its own path. A child's agent
has those of the parent from which it has the agent, as if it worked in that run. So whoever would
be answered by the parent's run would have been given the same by an endpoint that heeds seeds, and
what is taken changes the bill and nothing else. Everything else has a seed of its own: other
agents, attempts and calls, and other samples of the same candidate.

Answers come only from runs that were over when the child was made. So what is taken follows from
the teams and the answers, and never from who was quicker.
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
"""Where an answer came from that a parent's run was given, as events tell it."""
SOURCE = "source"
SAVED = "saved"
DRAWN = "drawn"
"""What marks an agent whose model would answer otherwise the next time."""


@dataclass(kw_only=True, eq=False)
class ParentRunReuse(Journal):
    """The journal of the run of one candidate. It is open as long as the evolution's own one is.

    What it takes from a parent is not written again: who resumes finds it there once more.

    Attributes:
        place: Where the run stands: a path that ends with a slash.
        parents: The runs of those that the team was made of; the first gave its topology.
        always: Whether answers are taken that nothing would repeat.
        takes_seed: Tells of a model's alias whether a seed makes it repeat itself.
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
        """Begin a run; arguments are as the attributes, `own` is where its entries are kept."""
        return cls(
            place=place,
            plan=plan,
            parents=parents,
            always=always,
            takes_seed=takes_seed,
            **own._shared(),
        )

    def __post_init__(self) -> None:
        """Settle for each agent whose run it goes on with: where it is the same, else the first."""
        self._heirs: dict[str, ParentRunReuse] = {}
        for agent_id, planned in self.plan.agents.items():
            if self.parents and planned.calls_at_most and self._repeats(planned):
                alike = (parent for parent in self.parents if parent.has(planned))
                heir = next(alike, self.parents[0])
                if heir.has_no_more_time(self.plan, agent_id):
                    self._heirs[agent_id] = heir

    def close(self) -> None:
        """Leave the file to the journal that it belongs to."""

    @property
    def saved(self) -> Usage:
        """What all answers cost that it took from its parents' runs."""
        return sum((usage for part in self._saved.values() for usage in part.values()), Usage())

    def has(self, planned: PlannedAgent) -> bool:
        """Return whether an agent works here as well, under the same id and instructions."""
        own = self.plan.agents.get(planned.agent.id)
        return own is not None and (own.shape, own.prompt) == (planned.shape, planned.prompt)

    def has_no_more_time(self, plan: Plan, agent_id: str) -> bool:
        """Return whether nobody had more time here: what took longer is no answer to who has less.

        Args:
            plan: Another team.
        """
        whole, most = self.plan.team.execution.timeout, plan.team.execution.timeout
        own = self.plan.agents.get(agent_id)
        had = (own.agent.timeout if own else None) or whole
        return whole <= most and had <= (plan.agents[agent_id].agent.timeout or most)

    def origin(self, path: str) -> str:
        """Give the path that a call's seed is drawn from: that of the run that it goes on with."""
        heir = self._heir(path)
        return path if heir is None else heir.origin(heir.placed(path, self.place))

    def placed(self, path: str, place: str) -> str:
        """Return the path under which something stands here that stands there in another run."""
        return f"{self.place}{path.removeprefix(place)}"

    def get(self, path: str, key: str) -> Value | None:
        """Return what answers this question: of this run, or of a parent's."""
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
        """Record something, as `Journal` does; of an agent also what it did not have to pay."""
        if kind == "agent":
            value = {**value, **self._reuse_fields(path)}
        else:
            self._count(path, kind, value)
        await super().put(path, kind, key, value, at_once=at_once)

    def answer_for(self, path: str, key: str) -> JournalEntry | None:
        """Return what a child's run may take: nothing that another run might be answered otherwise.

        Args:
            path: Where it stands in this run.
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
        """Find the run that an agent's goes on with; None where it works anew."""
        within = path.removeprefix(self.place).split("/")
        agent = next((name for name in within if name in self.plan.agents), "")
        return self._heirs.get(agent)

    def _repeats(self, planned: PlannedAgent) -> bool:
        """Return whether an agent's model repeats itself, as far as anybody can know."""
        agent = planned.agent
        return self.always or agent.temperature == 0 or self.takes_seed(agent.model_id)

    def _is_drawn(self, path: str, kind: str, answer: Value) -> bool:
        """Return whether a model would answer otherwise the next time.

        So does one that refused the seed, or the temperature; and one that stood in for another.
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
        """Take note of an answer of this run: what it took, and whether chance was in it."""
        if kind == "agent" and SAVED in value:
            self._saved[path][path] = _usage({"usage": value[SAVED]})
        if self._is_drawn(path, kind, value):
            self._drawn.add(_agent(path))

    def _reuse_fields(self, path: str) -> Mapping[str, Any]:
        """Say of an agent what it did not have to pay, and whether chance was in its answers."""
        saved = sum(self._saved[path].values(), Usage())
        return {
            **({SAVED: saved.value()} if saved != Usage() else {}),
            **({DRAWN: True} if path in self._drawn else {}),
        }


def _agent(path: str) -> str:
    """Return the place of the agent that something is a part of, and of an agent its own."""
    return path.partition("/attempt ")[0]


def _usage(value: Value) -> Usage:
    counts = value["usage"]
    return Usage(**{name: counts[name] for name in COUNT_NAMES if name in counts})
