"""The teams that are run: who waits for whom, and how long each model call takes.

Standard library only: subjects import this file in environments where coterie is not installed.
"""

from __future__ import annotations

from dataclasses import dataclass

SYSTEM = "You are agent [[a={agent}]]. Solve the task; weigh your colleagues' answers."
TASK = "Task [[r={run}]]: what is six times seven? Answer shortly."


@dataclass(frozen=True)
class Workload:
    """A team.

    Attributes:
        name: What tables call it.
        agents: For each agent, in topological order, the seconds of its call and its predecessors.
    """

    name: str
    agents: dict[str, tuple[float, tuple[str, ...]]]

    @property
    def output(self) -> str:
        """The last agent, whose answer is the team's."""
        return list(self.agents)[-1]

    @property
    def critical_path(self) -> float:
        """Seconds that no engine can beat."""
        ends: dict[str, float] = {}
        for agent, (seconds, before) in self.agents.items():
            ends[agent] = seconds + max((ends[word] for word in before), default=0.0)
        return max(ends.values())


def model(seconds: float) -> str:
    """Name the simulated model that takes this long."""
    return f"sim-{seconds * 1000:g}"


def prompt(run: str, outputs: dict[str, str]) -> str:
    """Write what an agent is asked: the task and its predecessors' outputs."""
    words = "".join(f"\n\n{agent} said:\n{text}" for agent, text in outputs.items())
    return TASK.format(run=run) + words


def vote(seconds: float, workers: int = 6) -> Workload:
    """Workers who answer alone, and one who decides."""
    names = tuple(f"w{number}" for number in range(workers))
    agents = dict.fromkeys(names, (seconds, ()))
    return Workload("vote" if workers == 6 else "wide", {**agents, "judge": (seconds, names)})


def debate(seconds: float, debaters: int = 6, rounds: int = 3) -> Workload:
    """Rounds in which everyone hears everyone, and a moderator: 19 agents, 78 edges."""
    agents: dict[str, tuple[float, tuple[str, ...]]] = {}
    before: tuple[str, ...] = ()
    for turn in range(rounds):
        names = tuple(f"r{turn}d{number}" for number in range(debaters))
        agents |= dict.fromkeys(names, (seconds, before))
        before = names
    return Workload("debate", {**agents, "moderator": (seconds, before)})


def chain(seconds: float, length: int = 10) -> Workload:
    """One after the other."""
    before = [(), *((f"c{number}",) for number in range(length - 1))]
    return Workload("chain", {f"c{number}": (seconds, before[number]) for number in range(length)})


def uneven(seconds: float, length: int = 6) -> Workload:
    """Two chains whose slow agents alternate: whoever waits for whole levels pays 1.75 times."""
    agents: dict[str, tuple[float, tuple[str, ...]]] = {}
    for number in range(length):
        for side, parity in (("x", 0), ("y", 1)):
            slow = number % 2 == parity
            before = (f"{side}{number - 1}",) if number else ()
            agents[f"{side}{number}"] = (8 * seconds if slow else seconds, before)
    return Workload("uneven", {**agents, "join": (seconds, (f"x{length - 1}", f"y{length - 1}"))})


def workload(name: str, seconds: float) -> Workload:
    """Make a workload by its name."""
    if name == "wide":
        return vote(seconds, workers=200)
    return {"vote": vote, "debate": debate, "chain": chain, "uneven": uneven}[name](seconds)
