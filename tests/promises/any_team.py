"""Any team whose agents end in any way, and what must come of it by an independent small model."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from hypothesis import assume
from hypothesis import strategies as st

from coterie.runtime.values.bounds import LONGEST_CONTENT
from coterie.schema import Agent, Execution, Team
from coterie.schema.team.team import natural

RUN_SECONDS = 1000.0
AGENT_SECONDS = 10.0
MOST_AGENTS = 50

Behaviour = Literal[
    "answers",  # at once
    "recovers",  # answers with nothing, then with something
    "empty",  # answers with nothing, always
    "refused",  # by its model
    "hangs",  # until its timeout
    "joins",  # no model: gives what it received, and fails when it received nothing
    "raises",  # no model: fails whatever it received
]
SOUND: tuple[Behaviour, ...] = ("answers", "recovers", "joins")
ALL: tuple[Behaviour, ...] = (*SOUND, "empty", "refused", "hangs", "raises")
FUNCTIONS: Mapping[str, str] = {"joins": "concat", "raises": "calculate"}


@dataclass(frozen=True, kw_only=True)
class Case:
    """A team, how its agents behave, and in which order things happen.

    Attributes:
        behaviour: How each agent behaves, in an order of Kahn's.
        reporters: Who reports to each agent.
        execution: How the team is run.
        order: Numbers by which the test chooses what happens next.
    """

    behaviour: Mapping[str, Behaviour]
    reporters: Mapping[str, tuple[str, ...]]
    execution: Execution
    order: tuple[int, ...]

    def team(self) -> Team:
        """The team of this case."""
        receivers = {
            reporter: tuple(other for other, before in self.reporters.items() if reporter in before)
            for reporter in self.reporters
        }
        return Team(
            name="team",
            agents={name: _agent(name, how) for name, how in self.behaviour.items()},
            reports_to={name: others for name, others in receivers.items() if others},
            execution=self.execution,
        )


def _agent(agent_id: str, behaviour: Behaviour) -> Agent:
    if behaviour in FUNCTIONS:
        return Agent(id=agent_id, agent_type="Function", function=FUNCTIONS[behaviour])
    timeout = AGENT_SECONDS if behaviour == "hangs" else None
    return Agent(id=agent_id, prompt=f"You are [{agent_id}].", timeout=timeout)


@st.composite
def cases(draw: st.DrawFn, policies: tuple[Any, ...] = ("fail", "skip", "degrade")) -> Case:
    """Any acyclic team of up to 50 agents, of which any subset fails.

    None hears so much that it is shortened: texts double where agents join what others joined.
    """
    count = draw(st.one_of(st.integers(1, 6), st.integers(7, MOST_AGENTS)))
    # Neither the order of names nor that of the file may be the order in which agents can run.
    stride = draw(st.integers(1, 52))
    names = [f"a{number * stride % 53}" for number in range(count)]
    reach = draw(st.integers(1, MOST_AGENTS))
    reporters: dict[str, tuple[str, ...]] = {}
    for number, name in enumerate(names):
        earlier = names[max(0, number - reach) : number]
        heard = draw(st.sets(st.sampled_from(earlier), max_size=4)) if earlier else set[str]()
        reporters[name] = tuple(heard)
    some = st.sampled_from(ALL if draw(st.booleans()) else SOUND)
    behaviours = draw(st.lists(some, min_size=count, max_size=count))
    case = Case(
        behaviour=dict(zip(names, behaviours, strict=True)),
        reporters=dict(sorted(reporters.items())),
        execution=Execution(
            timeout=RUN_SECONDS,
            parallel_workers=draw(st.sampled_from([True, False, 1, 2, 3, 7])),
            max_retries=draw(st.integers(0, 2)),
            on_error=draw(st.sampled_from(policies)),
            context=draw(st.sampled_from(["predecessors", "ancestors", "all"])),
        ),
        order=tuple(draw(st.lists(st.integers(0, 99), min_size=1, max_size=20))),
    )
    assume(most_heard(case) <= LONGEST_CONTENT)
    return case


def kahn(reporters: Mapping[str, tuple[str, ...]]) -> list[list[str]]:
    """Kahn's levels, by his own algorithm."""
    levels: list[list[str]] = []
    placed: set[str] = set()
    while len(placed) < len(reporters):
        free = {name for name in reporters.keys() - placed if placed >= {*reporters[name]}}
        levels.append(sorted(free, key=natural))
        placed |= free
    return levels


def heard(case: Case) -> dict[str, set[str]]:
    """Whom every agent hears, by the rule for context, in an order of Kahn's."""
    sees: dict[str, set[str]] = {}
    earlier: set[str] = set()
    for level in kahn(case.reporters):
        for name in level:
            direct = {*case.reporters[name]}
            match case.execution.context:
                case "predecessors":
                    sees[name] = direct
                case "ancestors":
                    sees[name] = direct.union(*(sees[other] for other in direct))
                case "all":
                    sees[name] = set(earlier)
        earlier |= {*level}
    return sees


def outcome(behaviour: Behaviour, retries: int, *, reports: bool) -> tuple[str, int]:
    """How an agent that is started ends, and after how many calls."""
    match behaviour:
        case "answers":
            return "done", 1
        case "recovers":
            return ("done", 2) if retries else ("failed", 1)
        case "empty":
            return "failed", retries + 1
        case "refused" | "hangs":
            return "failed", 1
        case "joins":
            return "done" if reports else "failed", 0
        case "raises":
            return "failed", 0


def expected(case: Case) -> dict[str, tuple[str, int]]:
    """The status and the calls of every agent, if failures do not end the run."""
    ends: dict[str, tuple[str, int]] = {}
    for name, before in heard(case).items():
        lost = [other for other in before if ends[other][0] != "done"]
        if lost and case.execution.on_error == "skip":
            ends[name] = "skipped", 0
        elif before and len(lost) == len(before):
            ends[name] = "failed", 0
        else:
            retries = case.execution.max_retries
            ends[name] = outcome(case.behaviour[name], retries, reports=bool(before))
    return ends


def output_of(case: Case) -> str:
    """The agent whose output is the run's: the last one in Kahn's order."""
    return kahn(case.reporters)[-1][-1]


def said(case: Case, agent_id: str) -> str:
    """What an agent that is done has said."""
    ends, sees = expected(case), heard(case)
    order = [name for level in kahn(case.reporters) for name in level]
    words: dict[str, str] = {}
    for word in order:
        reports = [words[other] for other in order if other in sees[word] and other in words]
        if ends[word][0] == "done":
            joins = case.behaviour[word] == "joins"
            words[word] = "\n\n".join(reports) if joins else f"words of {word}"
    return words[agent_id]


def most_heard(case: Case) -> int:
    """Characters of the reports that one agent hears at most."""
    sees, length, most = heard(case), dict[str, int](), 0
    for name, before in sees.items():
        reported = sum(length[other] + 2 for other in before)
        length[name] = reported if case.behaviour[name] == "joins" else len(f"words of {name}")
        most = max(most, reported)
    return most
