"""A team of agents as an immutable value: the genotype."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from graphlib import TopologicalSorter
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from ..values.codec import stored
from ..values.values import equal_numbers_alike, is_mapping, nothing, unlike_default

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..host.models import Effort
    from .conditions import Each, When

Context = Literal["predecessors", "ancestors", "all"]
OnError = Literal["fail", "skip", "degrade"]
OnOverflow = Literal["fail", "trim"]
Until = Literal["unchanged", "finalized", "converged", "accepted", "never"]

Hears = Literal["reports", "others"] | tuple[str, ...]

NewIds = Mapping[str, str | None]
"""The new ids of agents by their old ids; None for removed agents."""

IMPLIED_BACKENDS: Mapping[str, str] = MappingProxyType(
    {
        "LLM": "llm",
        "Function": "function",
        "Person": "person",
        "CodeAgent": "smolagents",
        "ToolCallingAgent": "smolagents",
        "DefaultAgent": "mini-swe-agent",
        "SWEAgent": "swe-agent",
    }
)
"""The backend that each agent type implies (EvoMAS App. B.3, plus our three plain types)."""

DEFAULT_BACKEND = "llm"

MODEL_FREE = frozenset({"function", "person"})
"""The backends whose agents call no model, so they have neither a prompt nor a model to choose."""

OF_OTHERS = ("teammates", "pairs")
"""The fields of an agent's notes that are keyed by other agents."""

READ_SKILL = "read_skill"
"""The tool with which an agent reads one of its skills."""

ACTS = ("list_pool", "start_agent", "stop_agent", "send", "finalize", "terminate")
"""The tools with which an agent of an open roster acts on its team (Meta-Team App. D)."""

_PROMPT_ID = re.compile(r"[a-z][a-z0-9_]{0,63}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Skill:
    """A skill: an agent reads `body` when its `description` fits the work.

    The other fields are provenance, as in the Agent Skills convention.
    """

    description: str
    body: str
    license: str = field(default="", compare=False)
    compatibility: str = field(default="", compare=False)
    metadata: Mapping[str, str] = field(default_factory=nothing, compare=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Notes:
    """What an agent has learnt (Meta-Team's scaffold), shown to it after its prompt.

    Attributes:
        patches: Rules of conduct, by name.
        teammates: Profiles of other agents, by their ids or by their names in the pool. Profiles of
            agents outside the team are stored but not shown.
        pairs: Notes on working with one other agent, by the same names.
        skills: Skills by name. The agent sees their names and descriptions.
        coaching: Advice for its next round.
        taught: The id of the task that taught each note, by place: `patches/units` or `coaching`.
            This is provenance, like `member`: no agent sees it, and comparisons ignore it.
    """

    patches: Mapping[str, str] = field(default_factory=nothing, hash=False)
    teammates: Mapping[str, str] = field(default_factory=nothing, hash=False)
    pairs: Mapping[str, str] = field(default_factory=nothing, hash=False)
    skills: Mapping[str, Skill] = field(default_factory=nothing, hash=False)
    coaching: str = ""
    taught: Mapping[str, str] = field(default_factory=nothing, compare=False)

    @property
    def places(self) -> tuple[str, ...]:
        """The place of each note: `patches/units`, `coaching`."""
        named = ("patches", *OF_OTHERS, "skills")
        places = [f"{word}/{name}" for word in named for name in getattr(self, word)]
        return (*places, *(["coaching"] if self.coaching else []))

    @property
    def untaught(self) -> Notes:
        """The notes without provenance: the tasks that taught them, and the origin of skills."""
        if not self.taught and not self.skills:
            return self
        skills = {
            name: Skill(description=skill.description, body=skill.body)
            for name, skill in self.skills.items()
        }
        return replace(self, taught=nothing(), skills=MappingProxyType(skills))

    def following(self, new_ids: Mapping[str, str | None]) -> Notes:
        """Return the notes with the agents' new ids, without notes on removed agents."""
        moved: dict[str, Mapping[str, str]] = {}
        taught = {place: task for place, task in self.taught.items() if not _is_of_other(place)}
        for kind in OF_OTHERS:
            texts: Mapping[str, str] = getattr(self, kind)
            names = _names_before(texts, new_ids)
            moved[kind] = MappingProxyType({new: texts[old] for new, old in names.items()})
            tasks = {new: self.taught.get(f"{kind}/{old}") for new, old in names.items()}
            taught |= {f"{kind}/{new}": task for new, task in tasks.items() if task is not None}
        return replace(self, **moved, taught=MappingProxyType(taught))


def _is_of_other(place: str) -> bool:
    return place.partition("/")[0] in OF_OTHERS


def _names_before(names: Iterable[str], new_ids: NewIds) -> Mapping[str, str]:
    """Return the old names by the new ones. A renamed agent replaces one that had its new name."""
    now = {name: new_ids.get(name, name) for name in names}
    stayed = {name: name for name, new in now.items() if new == name}
    return stayed | {new: old for old, new in now.items() if new is not None and new != old}


@dataclass(frozen=True, kw_only=True, slots=True)
class Recall:
    """The entries of a pool's memory that an agent is shown with a task.

    Attributes:
        k: The maximum number of entries; the most similar are taken.
        of: `own`: only the agent's own entries; `pool`: entries of all agents of the pool.
        kinds: The accepted kinds of entries. Empty: all kinds.
        by: The search text: the task alone, or with the agent's last answer (`opinion`), or with a
            draft that it writes without any entries.
        room: The maximum number of characters of all entries together in the prompt. None: no
            limit.
        niche: Whether to search only entries of the task's niche and entries without a niche. A
            task without a niche searches all.
        each: Whether `k` applies to each of `kinds`, not to all together.
        first: Which entries come first in the prompt: the most similar, or those of runs with the
            highest reward.
    """

    k: int = 3
    of: Literal["own", "pool"] = "pool"
    kinds: tuple[str, ...] = ()
    by: Literal["task", "opinion", "draft"] = "task"
    room: int | None = None
    niche: bool = False
    each: bool = False
    first: Literal["similar", "successful"] = "similar"


@dataclass(frozen=True, kw_only=True, slots=True)
class Agent:
    """One agent of a team. The team file has the fields; `mas dev explain agents` shows them.

    Units: `max_tokens` in tokens per answer, `timeout` in seconds, `max_steps` and
    `planning_interval` in steps. None means the default of the backend or of the endpoint. `member`
    is provenance, like a team's lineage: no edit changes it, and comparisons ignore it.
    """

    id: str
    role: str = ""
    agent_type: str | None = None
    model_id: str = "default"
    prompt: str = ""
    tools: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    files: tuple[str, ...] | None = None
    function: str | None = None
    max_tokens: int = 4096
    temperature: float | None = None
    top_p: float | None = None
    effort: Effort | None = None
    max_steps: int | None = None
    planning_interval: int | None = None
    timeout: float | None = None
    output_schema: Mapping[str, Any] | None = None
    backend: str | None = None
    when: When | None = None
    reads: Mapping[str, When] = field(default_factory=nothing, hash=False)
    each: Each | None = None
    notes: Notes = Notes()
    recall: Recall | None = None
    member: str | None = field(default=None, compare=False)

    def renamed(self, name: str, new_ids: Mapping[str, str | None]) -> Agent:
        """Return the agent with another id, and its notes with the new ids of others.

        Args:
            new_ids: The new ids of other agents by the old ones; None for absent agents.
        """
        followed = self.following(new_ids)
        return replace(followed, id=name, notes=followed.notes.following({name: None}))

    def following(self, new_ids: NewIds) -> Agent:
        """Return the agent with the new ids of all agents that its fields name."""
        from .conditions import readings_following

        return replace(
            self,
            when=self.when and self.when.following(new_ids),
            reads=readings_following(self.reads, new_ids),
            each=self.each and self.each.following(new_ids),
            notes=self.notes.following(new_ids),
        )

    def is_shown(self, name: str) -> bool:
        """Return whether the agent is shown a file of the task, if its model accepts that file."""
        return self.files is None or any(fnmatchcase(name, pattern) for pattern in self.files)

    def plans(self, steps: int) -> int:
        """Return the maximum number of plans in `steps` steps: one before each interval."""
        return -(-steps // self.planning_interval) if self.planning_interval else 0

    @property
    def drafts(self) -> bool:
        """Whether the agent first drafts an answer without memory and searches memory with it."""
        return self.recall is not None and self.recall.by == "draft"

    @property
    def is_conditional(self) -> bool:
        """Whether its work depends on other agents' answers: by a condition or a list."""
        return bool(self.when or self.reads or self.each)

    @property
    def can_finalize(self) -> bool:
        """Whether its output schema has a boolean `final`, which marks its answer as final."""
        return self._says("final", "boolean")

    @property
    def consults(self) -> bool:
        """Whether its output schema has an array `increment`, the new points of its opinion.

        Rounds with `until: converged` count these points.
        """
        return self._says("increment", "array")

    @property
    def reviews(self) -> bool:
        """Whether its output schema has an array `reviews`."""
        return self._says("reviews", "array")

    @property
    def chooses(self) -> bool:
        """Whether its output schema has a text `chosen`, the colleague whose work counts.

        This matters if several agents report changes of a task's repository.
        """
        return self._says("chosen", "string")

    def _says(self, name: str, kind: str) -> bool:
        if self.each is not None:  # its answer is a list of the items' answers
            return False
        properties = (self.output_schema or {}).get("properties")
        schema = properties.get(name) if is_mapping(properties) else None
        return is_mapping(schema) and schema.get("type") == kind


@dataclass(frozen=True, kw_only=True, slots=True)
class Rounds:
    """How often a team's agents work in a run, and which agents work before and after.

    Attributes:
        until: The event that ends the rounds early. `unchanged`: no contribution changed in a
            round; `finalized`: all who can say so call theirs final; `converged`: nobody who
            consults has a new point (MATTRL §3.1); `accepted`: all work is accepted (MATTRL App.
            B.4); `never`: none.
        hears: The answers that an agent reads from the second round on: of the agents that report
            to it, of all others in the rounds, or of the named agents.
        opening: The agents that work once, before the first round.
        meeting: The agent that works between two rounds of those who consult.
        closing: The agents that work once, after the last round.
    """

    most: int
    until: Until = "unchanged"
    hears: Hears = "reports"
    opening: tuple[str, ...] = ()
    meeting: str | None = None
    closing: tuple[str, ...] = ()

    def following(self, new_ids: NewIds) -> Rounds:
        """Return the rounds with new ids, without removed agents."""
        hears = self.hears if isinstance(self.hears, str) else _followed(self.hears, new_ids)
        return replace(
            self,
            hears=hears or "reports",
            opening=_followed(self.opening, new_ids),
            meeting=next(iter(_followed(filter(None, [self.meeting]), new_ids)), None),
            closing=_followed(self.closing, new_ids),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Recruit:
    """A rule by which one agent chooses who takes part in each task (MATTRL §3.1, stage I).

    Attributes:
        by: The agent that chooses.
        among: The agents to choose from, in the order in which the recruiter reads them.
        most: The maximum number of agents to choose.
        free: Whether the recruiter names the roles of the chosen seats itself (MATTRL App. B.2).
    """

    by: str
    among: tuple[str, ...]
    most: int = 3
    free: bool = False

    def following(self, new_ids: NewIds) -> Recruit | None:
        """Return the rule with new ids; None if no recruiter or no candidate remains."""
        by, among = _followed([self.by], new_ids), _followed(self.among, new_ids)
        return replace(self, by=by[0], among=among) if by and among else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Roster:
    """An open roster: the lead starts agents during the run, and agents write to each other.

    Every agent of the team is a candidate (Meta-Team App. D; limits as its Tables 5 and 6).

    Attributes:
        lead: The agent that starts alone. It gives the answer if no agent has finalized.
        alive: The maximum number of agents active at the same time.
        messages: The maximum number of messages in a run.
        turns: The maximum number of turns of each agent.
        wrap_up: Seconds for the lead's answer if no agent has finalized.
        memory: The maximum number of its own messages that an agent is shown.
    """

    lead: str
    alive: int = 8
    messages: int = 600
    turns: int = 50
    wrap_up: float = 240
    memory: int = 150

    def following(self, new_ids: NewIds) -> Roster:
        """Return the roster with the lead's new id; a removed lead's name stays."""
        return replace(self, lead=new_ids.get(self.lead, self.lead) or self.lead)


def _followed(agents: Iterable[str], new_ids: NewIds) -> tuple[str, ...]:
    now = (new_ids.get(agent, agent) for agent in agents)
    return tuple(name for name in now if name is not None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Execution:
    """How a team runs. `timeout` is in seconds for the whole run."""

    parallel_workers: bool | int = True
    timeout: float = 600
    max_retries: int = 2
    on_error: OnError = "fail"
    on_overflow: OnOverflow = "fail"
    context: Context = "predecessors"
    recruit: Recruit | None = None
    rounds: Rounds | None = None
    roster: Roster | None = None

    def following(self, new_ids: NewIds) -> Execution:
        """Return the settings with the new ids of all agents that they name."""
        return replace(
            self,
            recruit=self.recruit and self.recruit.following(new_ids),
            rounds=self.rounds and self.rounds.following(new_ids),
            roster=self.roster and self.roster.following(new_ids),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class SolvedTask:
    """A task that the team solved, as a hint for operators."""

    q: str
    notes: str = ""


@stored(omit=True, closed=True)
class LineageStep:
    """One of several steps that lead from a team's parents to it.

    Attributes:
        fields: The fields of the team that this step set, dotted: `agents.judge.prompt`.
    """

    operator: str
    edits: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    reason: str = ""


@stored(omit=True, closed=True)
class Lineage:
    """The origin of a team, as its pool recorded it.

    Attributes:
        operator: The operator that made it, `seed` or `import`. Of several steps, the last one's.
        parents: The parent teams. In a crossover, the first parent gave the topology.
        edits: The differences from the first parent, in words.
        task: The id of the task on which the team was made.
        steps: The steps from the parents to this team, in order, if there were several.
    """

    operator: str
    parents: tuple[str, ...] = ()
    edits: tuple[str, ...] = ()
    reason: str = ""
    task: str = ""
    run: str = ""
    steps: tuple[LineageStep, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Team:
    """A team: agents, and who reports to whom (EvoMAS Def. 2.1).

    Attributes:
        description: What the team does, for people and operators.
        backend: The backend of agents that neither name nor imply one.
        constitution: Rules that every agent sees.
        agents: The agents by id, in written order.
        reports_to: For each agent with receivers, the agents that receive its output.
        declared_output: `topology.output` as written; `output` is the resolved agent.
        successful_tasks: Tasks that the team solved. Never executed.
        lineage: The team's origin. No edit changes it, and comparisons ignore it.
    """

    name: str
    description: str = ""
    backend: str | None = None
    constitution: str = ""
    agents: Mapping[str, Agent]
    reports_to: Mapping[str, tuple[str, ...]] = field(default_factory=nothing)
    declared_output: str | None = None
    execution: Execution = Execution()
    successful_tasks: tuple[SolvedTask, ...] = ()
    lineage: Lineage | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        """Return the names of the team and its agents; `mas dev fmt` shows all of it."""
        return f"<Team {self.name}: {', '.join(self.agents)}>"

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """All edges, as pairs of sender and receiver."""
        return tuple((u, v) for u, receivers in self.reports_to.items() for v in receivers)

    @property
    def predecessors(self) -> Mapping[str, tuple[str, ...]]:
        """For every agent, the agents that report to it, in natural order."""
        reporters: dict[str, list[str]] = {agent_id: [] for agent_id in self.agents}
        for u, v in self.edges:
            reporters[v].append(u)
        return {v: tuple(sorted(us, key=natural)) for v, us in reporters.items()}

    @property
    def levels(self) -> tuple[tuple[str, ...], ...]:
        """Kahn's levels: each holds the agents whose predecessors are all in earlier levels.

        Raises:
            graphlib.CycleError: The topology has a cycle. A loaded team has none.
        """
        sorter = TopologicalSorter(self.predecessors)
        sorter.prepare()
        levels: list[tuple[str, ...]] = []
        while sorter.is_active():
            ready = tuple(sorted(sorter.get_ready(), key=natural))
            levels.append(ready)
            sorter.done(*ready)
        return tuple(levels)

    @property
    def output(self) -> str:
        """The agent whose output is the answer: as declared, else the lead, else Kahn's last."""
        lead = self.execution.roster.lead if self.execution.roster else None
        return self.declared_output or lead or self.levels[-1][-1]

    @property
    def direct_inputs(self) -> Mapping[str, Sequence[str]]:
        """For every agent, the agents whose outputs it sees directly."""
        if self.execution.context != "all":
            return self.predecessors
        earlier: list[str] = []
        inputs: dict[str, Sequence[str]] = {}
        for level in self.levels:
            inputs |= dict.fromkeys(level, tuple(earlier))
            earlier += level
        return inputs

    @property
    def ancestors(self) -> Mapping[str, frozenset[str]]:
        """For every agent, the agents that report to it directly or through others."""
        reporters = self.predecessors
        fields: dict[str, frozenset[str]] = {}
        for agent_id in chain.from_iterable(self.levels):
            fields[agent_id] = frozenset(reporters[agent_id]).union(
                *(fields[near] for near in reporters[agent_id])
            )
        return fields

    @property
    def visible(self) -> Mapping[str, frozenset[str]]:
        """For every agent, the agents whose outputs it sees, by the team's rule for context."""
        if self.execution.context == "ancestors":
            return self.ancestors
        return {agent_id: frozenset(others) for agent_id, others in self.direct_inputs.items()}

    @property
    def recalls(self) -> bool:
        """Whether any of its agents recalls memories."""
        return any(agent.recall is not None for agent in self.agents.values())

    @property
    def opening(self) -> frozenset[str]:
        """The agents that work once, before the others, and all agents that they hear."""
        rounds, recruit = self.execution.rounds, self.execution.recruit
        waiting = [*(rounds.opening if rounds else ()), *([recruit.by] if recruit else ())]
        inputs = self.direct_inputs if waiting else {}
        texts: set[str] = set()
        while waiting:
            item = waiting.pop()
            if item not in texts:
                texts.add(item)
                waiting += inputs.get(item, ())
        return frozenset(texts)

    def backend_of(self, agent: Agent) -> str:
        """Return an agent's backend: its own, else its type's, else the team's, else `llm`."""
        implied = IMPLIED_BACKENDS.get(agent.agent_type or "")
        return agent.backend or implied or self.backend or DEFAULT_BACKEND

    def asks_model(self, agent: Agent) -> bool:
        """Return whether an agent calls a model; functions and persons do not."""
        return self.backend_of(agent) not in MODEL_FREE

    def known_to(self, agent: Agent) -> Iterator[tuple[str, str]]:
        """Yield an agent's profile of each other agent: that agent's id, and the text."""
        return self._on_others(agent, agent.notes.teammates)

    def paired_with(self, agent: Agent) -> Iterator[tuple[str, str]]:
        """Yield an agent's note on working with each other agent: that agent's id, and the text."""
        return self._on_others(agent, agent.notes.pairs)

    def _on_others(self, agent: Agent, noted: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        if not noted:
            return
        for item in self.agents.values():
            names = (name for name in (item.id, item.member) if name is not None and name in noted)
            if item.id != agent.id and (name := next(names, None)) is not None:
                yield item.id, noted[name]

    @property
    def content_hash(self) -> str:
        """SHA-256 over all executed fields; order and metadata do not count."""
        from hashlib import sha256

        executed: dict[str, Any] = {
            "backend": self.backend,
            "constitution": self.constitution,
            "execution": unlike_default(self.execution),
        }
        executed = {key: item for key, item in executed.items() if item}
        executed["agents"] = {agent_id: _executed(agent) for agent_id, agent in self.agents.items()}
        executed["topology"] = {"edges": sorted(self.edges), "output": self.output}
        text = json.dumps(equal_numbers_alike(executed), sort_keys=True, separators=(",", ":"))
        return sha256(text.encode()).hexdigest()


def _executed(agent: Agent) -> dict[str, Any]:
    fields = unlike_default(replace(agent, notes=agent.notes.untaught))
    fields["tools"] = sorted(agent.tools)
    if agent.imports:
        fields["imports"] = sorted(agent.imports)
    return {name: item for name, item in fields.items() if name not in {"id", "member"}}


@functools.lru_cache(maxsize=4096)
def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key for natural order, in which `worker_2` comes before `worker_10`."""
    parts = re.findall(r"\d+|\D+", text)
    return tuple((0, int(part), part) if part.isdecimal() else (1, 0, part) for part in parts)


def is_prompt_id(prompt: str) -> bool:
    """Return whether a prompt is the id of a prompt file, not the text itself."""
    return _PROMPT_ID.fullmatch(prompt) is not None
