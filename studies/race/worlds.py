"""The rules of the worlds. They and their seeds were settled before any result.

**A team's worth** is its chance of a right answer, or, with graded scores, its mean score: the
world's base, plus the lift of every good sentence that stands in the prompt of one of its agents or
in its constitution, plus the lift of a check, if an agent that receives another agent's report is
asked to check or to verify. It is held within [0, 1]. A sentence counts once, whoever reads it.
Nothing else has an effect: no example, temperature, form of answer, or agent.

**Scores** of a team on a task are drawn by the world's seed, the task, the hypotheses that stand in
the team and the seed of the run, so that repeated runs and different teams draw independently.
Right or wrong: one draw with that chance. Graded: normal around the worth with a spread of 0.1,
clipped to [0, 1], in hundredths. Models take seeds, so answers of unchanged agents can be reused.

**The operator model** answers with one hypothesis of the world's list, drawn evenly among those
that its question can carry and that its question does not already show; where it shows all of them,
among all. It knows neither lifts nor scores. It makes no mistakes of form, whoever asks.

**Found** is a final team that has every lift of 0.2 or more that the world offers.

| world | hypotheses | budget |
|---|---|---|
| sentence | ten sentences for one agent; a drawn one is good: +0.4 on 0.4 | 320, graded 130 |
| structure | ten sentences, each +0 to +0.05, a checker: +0.3 on 0.4, a planner: +0 | 500 |
| two gains | six sentences for each of two agents; one of each is good: +0.2 each on 0.4 | 500 |
| null | ten sentences, +0 on 0.2, 0.5 or 0.8 | 320 |
| harm | ten sentences; a team that differs in anything from the original loses 0.2 of 0.5 | 320 |
| coverage | as sentence, but the lift is drawn from 0, 0.1, 0.2 and 0.4 | 320 |

The budget counts model calls of agents and operators together; the last word on held-back tasks
is apart. Every world has 80 tasks. What a rival holds back of them is up to it.
"""

from __future__ import annotations

import functools
import random
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from coterie.schema.host.catalogue import Catalogue
from coterie.schema.host.models import Model
from coterie.schema.loading.ceiling import CapabilityPolicy
from coterie.schema.team.task import ScorerChoice, Task
from coterie.schema.team.team import Agent, Team

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

AGENT = "agent"
"""The alias of the model that agents ask."""
META = "meta"
"""The alias of the model that operators ask."""
LETTERS = "ABCDE"
TASKS = 80
DEGREES = 100
SPREAD = 0.1
CHECKS = re.compile(r"\b(check|verify)\b", re.IGNORECASE)
SOUGHT = 0.2
"""The least lift that has to be found."""
SENTENCES = (
    "Read the question twice.",
    "Name the rule before you use it.",
    "Write down what is given.",
    "Leave out what is not asked.",
    "Begin with the simplest case.",
    "Answer in the fewest words.",
    "List every option before you choose.",
    "Think about the units.",
    "Work backwards from the goal.",
    "Explain the answer to a child.",
    "Draw a small table.",
    "Doubt the first idea.",
)
SOLVER = {"solver": "Solve the task."}
PAIR = {"writer": "Write a draft of the answer.", "editor": "Turn the draft into the answer."}
CHECKER = "Check the answer of your colleague, and give the right one."
PLANNER = "Plan how a colleague can solve the task."


@functools.cache
def catalogue() -> Catalogue:
    """Return the names that are known; made once a process."""
    models = {alias: Model(alias=alias, model=f"simulated/{alias}") for alias in (AGENT, META)}
    return Catalogue.of_host(models=models)


@dataclass(frozen=True, kw_only=True, slots=True)
class Hypothesis:
    """A change that the operator model can think of.

    Attributes:
        text: A sentence of a prompt, or the prompt of a new agent.
        agent: Whose prompt it joins, or whose neighbour the new agent is.
        lift: What it adds to a team's worth.
        place: Where it goes: into a prompt, or into an agent that stands after or before another.
    """

    text: str
    agent: str
    lift: float = 0.0
    place: Literal["prompt", "after", "before"] = "prompt"


@dataclass(frozen=True, kw_only=True, slots=True)
class World:
    """A world; see the rules of the module.

    Attributes:
        name: Which rules it follows.
        seed: What is drawn in it.
        hypotheses: What the operator model can think of.
        budget: How many model calls a strategy may make, without its last word.
        base: The worth of the original team.
        prompts: The original prompt of each agent; the first reports to the second.
        most_agents: How many agents a team may have.
        graded: Whether scores are degrees.
        harm: What any change of the original takes away.
        judged: Whether a judge gives the scores, who passes half of the answers whatever they are.
    """

    name: str
    seed: int
    hypotheses: tuple[Hypothesis, ...]
    budget: int = 320
    base: float = 0.4
    prompts: Mapping[str, str]
    most_agents: int = 1
    graded: bool = False
    harm: float = 0.0
    judged: bool = False

    @property
    def team(self) -> Team:
        """The original team."""
        agents = {
            name: Agent(id=name, model_id=AGENT, prompt=prompt)
            for name, prompt in self.prompts.items()
        }
        first, *rest = agents
        return Team(name="original", agents=agents, reports_to={first: tuple(rest)} if rest else {})

    @property
    def case(self) -> str:
        """What sets trials of the same world apart: base rates and scores, where nothing helps."""
        kind = "graded" if self.graded else "right or wrong"
        return f"{self.base}, {kind}" if self.name == "null" else ""

    @property
    def ceiling(self) -> CapabilityPolicy:
        """What teams may ask for."""
        return CapabilityPolicy(models=frozenset({AGENT}), agents=self.most_agents)

    @property
    def tasks(self) -> list[Task]:
        """The tasks, each with its reference answer, unless a judge gives the scores."""
        return [self._task(number) for number in range(TASKS)]

    def _task(self, number: int) -> Task:
        query = f"Sheet {self.seed}/{number}: which letters are right?"
        answer = "".join(right_letters(query, self.graded))
        scorer = ScorerChoice(name="race_letters")
        if self.judged:
            return Task(id=f"t{number}", query=query)
        return Task(id=f"t{number}", query=query, answer=answer, scorer=scorer)

    def effective(self, prompt: str, *, hears: bool) -> frozenset[int]:
        """Return the hypotheses, by number, that an agent with a prompt puts in force."""
        checks = hears and CHECKS.search(prompt) is not None
        return frozenset(
            number
            for number, each in enumerate(self.hypotheses)
            if (checks if each.place == "after" else each.text in prompt)
        )

    def worth(self, effective: Iterable[int], *, changed: bool = True) -> float:
        """Return what a team is worth with these hypotheses in force."""
        lifts = sum(self.hypotheses[number].lift for number in {*effective})
        return min(1.0, max(0.0, self.base + lifts - self.harm * changed))

    def worth_of(self, team: Team) -> float:
        """Return what a team is worth."""
        return self.worth(self.effects(team), changed=team.content_hash != self.team.content_hash)

    def effects(self, team: Team) -> frozenset[int]:
        """Return the hypotheses in force in a team."""
        hearing = {receiver for _, receiver in team.edges}
        each = (
            self.effective(f"{agent.prompt}\n{team.constitution}", hears=name in hearing)
            for name, agent in team.agents.items()
        )
        return frozenset[int]().union(*each)

    def is_found(self, team: Team) -> bool:
        """Return whether a team has all that is to be found."""
        sought = {n for n, each in enumerate(self.hypotheses) if each.lift >= SOUGHT}
        return bool(sought) and sought <= self.effects(team)

    def score(self, worth: float, effective: Iterable[int], query: str, seed: object) -> float:
        """Draw a score in [0, 1]."""
        key = f"{self.name}/{self.seed}/{query}/{sorted({*effective})}/{seed}"
        chance = random.Random(key)  # noqa: S311 - guards nothing
        if not self.graded:
            return float(chance.random() < worth)
        degree = min(1.0, max(0.0, chance.gauss(worth, SPREAD)))
        return round(degree * DEGREES) / DEGREES


@functools.lru_cache(maxsize=1_000)
def right_letters(query: str, graded: bool) -> tuple[str, ...]:
    """Return the letters that are right: one, or a hundred where scores are degrees."""
    chance = random.Random(query)  # noqa: S311 - guards nothing
    return tuple(chance.choice(LETTERS) for _ in range(DEGREES if graded else 1))


def _sentences(agent: str, texts: Iterable[str], lift: float, seed: object) -> list[Hypothesis]:
    """Return sentences for an agent, of which one that is drawn has a lift."""
    texts = [*texts]
    good = random.Random(f"good/{agent}/{seed}").choice(texts)  # noqa: S311 - guards nothing
    return [Hypothesis(text=each, agent=agent, lift=lift * (each == good)) for each in texts]


def sentence(seed: int, name: str = "sentence", *, lift: float = 0.4, **changes: Any) -> World:
    """One of ten sentences lifts an agent."""
    hypotheses = (*_sentences("solver", SENTENCES[:10], lift, seed),)
    return World(name=name, seed=seed, hypotheses=hypotheses, prompts=SOLVER, **changes)


def structure(seed: int) -> World:
    """A check by a second agent lifts; sentences hardly do."""
    chance = random.Random(f"structure/{seed}")  # noqa: S311 - guards nothing
    hypotheses = (
        *(
            Hypothesis(text=each, agent="solver", lift=chance.uniform(0, 0.05))
            for each in SENTENCES[:10]
        ),
        Hypothesis(text=CHECKER, agent="solver", lift=0.3, place="after"),
        Hypothesis(text=PLANNER, agent="solver", place="before"),
    )
    return replace(sentence(seed, "structure"), hypotheses=hypotheses, most_agents=2, budget=500)


def two_gains(seed: int) -> World:
    """Each of two agents has one good sentence among six."""
    writer = _sentences("writer", SENTENCES[:6], 0.2, seed)
    editor = _sentences("editor", SENTENCES[6:], 0.2, seed)
    pair = sentence(seed, "two gains", most_agents=2, budget=500)
    return replace(pair, hypotheses=(*writer, *editor), prompts=PAIR)


def null(seed: int) -> World:
    """Nothing helps: base rates and kinds of scores take turns."""
    base, graded = (0.2, 0.5, 0.8)[seed % 3], seed // 3 % 2 == 1
    return sentence(seed, "null", lift=0.0, base=base, graded=graded)


def harm(seed: int, *, judged: bool = False) -> World:
    """Every change hurts."""
    return sentence(seed, "harm", lift=0.0, base=0.5, harm=0.2, judged=judged)


def coverage(seed: int) -> World:
    """The sentence world with a lift that is drawn."""
    lift = random.Random(f"lift/{seed}").choice((0.0, 0.1, 0.2, 0.4))  # noqa: S311
    return sentence(seed, "coverage", lift=lift)


MAKERS: Mapping[str, Callable[[int], World]] = {
    "sentence": sentence,
    "graded": functools.partial(sentence, graded=True, budget=130),
    "structure": structure,
    "two-gains": two_gains,
    "null": null,
    "harm": harm,
    "judged-harm": functools.partial(harm, judged=True),
    "coverage": coverage,
}
"""The worlds by name, each made by its seed."""
