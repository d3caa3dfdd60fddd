"""A small population that works on one task with scripted models, and what is kept of it."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from coterie.operators.evolution.context import EvolutionContext
from coterie.operators.evolution.episode import Episode
from coterie.operators.evolution.evolution import Evolution
from coterie.operators.evolution.strategy import Strategy
from coterie.operators.methods.evochamber.attempts import MemberAttempt
from coterie.operators.methods.evochamber.seating import Seated
from coterie.operators.methods.evochamber.settings import PopulationSettings
from coterie.pool import Pool
from coterie.pool.ledger.changes import Added
from coterie.pool.ledger.learnt import Learnt
from coterie.pool.view import events
from coterie.runtime import Run
from coterie.runtime.doubles import Replies, ScriptedModel
from coterie.schema import Agent, Lineage, Task, Team
from coterie.schema.loading.recipe import Recipe

from ...evolution.test_episode import done
from ...rounds import did

TASK = Task(id="sum-1", query="What is 3 + 4?", niche="sums", answer="7")
SEATS = ("anchor", "complement", "scout")
MEMBERS = ("ada", "ben", "cyn")
OTHERS = ("dan", "eve", "fay", "gus")


def person(name: str) -> Agent:
    return Agent(id=name, prompt=f"You are called {name}.")


def seated(*members: str) -> Seated:
    """A vote of members, in the order of their seats."""
    seats: dict[str, str] = dict(zip(SEATS, members or MEMBERS, strict=False))
    agents = {
        seat: Agent(id=seat, prompt=f"You are called {name}. Now add.", member=name)
        for seat, name in seats.items()
    }
    vote = Agent(id="vote", function="majority", agent_type="Function")
    team = Team(
        name="voting", agents={**agents, "vote": vote}, reports_to=dict.fromkeys(agents, ("vote",))
    )
    return Seated(structure="voting", team=team, seats=seats)


def tried(of: Seated, scores: Mapping[str, float | None], **message: str) -> list[MemberAttempt]:
    """What members answered: "7" where that was right, else "8", or what is said."""
    return [
        MemberAttempt(
            agent=name,
            seat=seat,
            position=seat,
            answer=message.get(name, "7" if scores[name] else "8"),
            score=scores[name],
        )
        for seat, name in of.seats.items()
        if name in scores
    ]


def ran(of: Seated, answer: str | None = "8", **message: str) -> Run:
    """A run in which members said something."""
    agents = {
        seat: did(message.get(name, f"I, {name}, think so.")) for seat, name in of.seats.items()
    }
    status: Any = "failed" if answer is None else "done"
    return Run(status=status, answer=answer, agents={**agents, "vote": did(answer or "")})


@dataclass
class Lived:
    """What came of an episode.

    Attributes:
        model: Who was asked.
        lines: The lines of its episodes.
        pool: What it left.
    """

    model: ScriptedModel
    lines: list[dict[str, Any]]
    pool: Pool

    @property
    def line(self) -> dict[str, Any]:
        """The line of its only episode."""
        [line] = self.lines
        return line

    def of(self, name: str, kind: str) -> list[str]:
        """The texts of an agent's own entries that stand."""
        entries = self.pool.learnt
        return [
            entry.text
            for entry in entries.values()
            if entry.kind == kind and name in entry.owners and entries.stands(entry.id, owner=name)
        ]

    def event(self, label: str) -> Any:
        """What is told of the only event of a name."""
        [report] = events(self.pool.folder, label)
        return report.about


Doing = Callable[[Episode], Coroutine[Any, Any, None]]


def lived(
    folder: Path,
    replies: Replies,
    work: Doing,
    *,
    known: Sequence[Learnt] = (),
    is_test: bool = False,
    tasks: Sequence[Task] = (TASK,),
    **settings: Any,
) -> Lived:
    """Let a strategy do something with a task, in a population of seven that knows something."""
    recipe = Recipe(strategy="fixed", settings=PopulationSettings(**settings))

    async def act(episode: Episode) -> None:
        episode.learning = not is_test
        await work(episode)
        team = episode.context.pool.members["pair"].team
        episode.answered(await episode.run(team, "run"))
        episode.learning = True

    async def until_done(context: EvolutionContext) -> list[Any]:
        for name in (*MEMBERS, *OTHERS):
            born = Added(member=person(name), lineage=Lineage(operator="genesis"))
            context.pool.commit(born, op=f"begin/{name}")
        for number, entry in enumerate(known):
            context.pool.commit(replace(entry, id=""), op=f"known {number}")
        strategy = Strategy(name="tried", episode=act)
        result = Evolution(
            context=context, strategy=strategy, tasks=tasks, folder=folder / "evolution"
        )
        await result.to_the_end()
        return result.lines()

    with ScriptedModel(replies) as model:
        lines = done(folder, model.api_base, until_done, recipe, recalls=True, embedder="hashing")
    return Lived(model=model, lines=lines, pool=Pool.open(folder / "pool"))
