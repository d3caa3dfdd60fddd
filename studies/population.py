"""Measures what a population costs by itself for each task, no model waited for.

    python -m studies.population

A task of a population is seen, manned, reminded of what its members learnt, and kept; all of it is
as `evochamber` does it, on a pool on disk, with no model asked.
"""

from __future__ import annotations

import platform
import random
import statistics
import time
import zlib
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeVar

import click

from coterie.operators.methods.evochamber.compose import compose, seats
from coterie.operators.methods.evochamber.settings import PopulationSettings
from coterie.pool.embedding import choose_embedder
from coterie.pool.ledger.changes import Evaluated, EventNoted, Learnt
from coterie.pool.ledger.ledger import line_of
from coterie.pool.memory.memory import Memory
from coterie.pool.memory.shards import VectorShards
from coterie.pool.population.population import Population, Rates
from coterie.pool.teams.pool import Pool
from coterie.pool.values.layout import LEDGER
from coterie.pool.values.statistics import Trial, TrialPart
from coterie.pool.view import Views, op
from coterie.runtime.values.usage import Usage
from coterie.schema.command import Command
from coterie.schema.team.team import Agent, Lineage, Team

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from coterie.pool.embedding import Embedder, Vector
    from coterie.pool.view import PoolView

T = TypeVar("T")

EVOLUTION = "evochamber"
PREPARED = "Prepared"
NICHES = 10
KINDS = ("lesson", "insight")
SETTINGS = PopulationSettings()
STRUCTURES = ("voting", "debate", "generator_critic", "decompose")
AROUND = 50
"""Tasks whose median is told, up to and with each checkpoint."""
MODEL_SECONDS = 1.0
LEAST_CALLS = 4
"""Model calls that a task waits for one after the other: the leader chooses, members answer,
members reflect, the leader notes why it went so. Other structures, and dreams, take more."""
BEFORE = ("see", "compose", "remind", "embed the task")
AFTER = ("compare", "embed the lessons", "keep")


@dataclass(frozen=True, kw_only=True, slots=True)
class Size:
    """A population that has come some way.

    Attributes:
        agents: How many there are.
        trials: On how many tasks teams of three of them worked.
        lessons: How many lessons and insights they have, all together.
        checkpoints: After how many tasks more it is told what one costs.
    """

    agents: int
    trials: int
    lessons: int
    checkpoints: tuple[int, ...]


QUICK = (Size(agents=4, trials=6, lessons=12, checkpoints=(2, 4)),)
SIZES = (
    Size(agents=20, trials=0, lessons=0, checkpoints=(100, 400, 1_000)),
    Size(agents=1_000, trials=30_000, lessons=100_000, checkpoints=(100,)),
)


@dataclass(frozen=True, slots=True)
class Seconds:
    """What something takes: processor time, all threads together, and how long one waits for it."""

    cpu: float
    wall: float

    @classmethod
    def now(cls) -> Seconds:
        """Read both clocks."""
        return cls(time.process_time(), time.perf_counter())

    def __add__(self, other: Seconds) -> Seconds:
        return Seconds(self.cpu + other.cpu, self.wall + other.wall)

    def __sub__(self, other: Seconds) -> Seconds:
        return Seconds(self.cpu - other.cpu, self.wall - other.wall)


NOTHING = Seconds(0.0, 0.0)


class Prepared:
    """An embedder that draws vectors for what was prepared, which would take it an hour.

    Attributes:
        spent: What the rest has taken.
    """

    def __init__(self, real: Embedder) -> None:
        self._real = real
        self.spent = NOTHING

    @property
    def name(self) -> str:
        """The name of the embedder."""
        return self._real.name

    @property
    def dimension(self) -> int:
        """How long its vectors are."""
        return self._real.dimension

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Make a vector of each text."""
        mine = [text for text in texts if not text.startswith(PREPARED)]
        started = Seconds.now()
        real = iter(self._real.embed(mine) if mine else [])
        self.spent += Seconds.now() - started
        return [self._drawn(text) if text.startswith(PREPARED) else next(real) for text in texts]

    def _drawn(self, text: str) -> Vector:
        import numpy as np

        chance = np.random.default_rng(zlib.crc32(text.encode()))  # the same numbers every time
        vector = chance.standard_normal(self.dimension)
        return (vector / np.linalg.norm(vector)).tolist()


@click.command(cls=Command)
@click.option("--embedder", default="minilm", show_default=True, help="What finds lessons.")
@click.option("--quick", is_flag=True, help="Small sizes: does everything work?")
def main(embedder: str, quick: bool) -> None:
    """Measure what a task of a population costs by itself; print Markdown."""
    click.echo(f"{platform.machine()}, Python {platform.python_version()}, {embedder}.\n")
    heads = ("agents", "lessons", "open, s", "task", *BEFORE, "before", *AFTER, "all", "of calls")
    click.echo(f"| {' | '.join(heads)} |")
    click.echo("|" + "---|" * len(heads))
    for size in QUICK if quick else SIZES:
        for row in measured(size, Prepared(choose_embedder(embedder))):
            click.echo(row)
    click.echo(
        f"\nMilliseconds of the processor, all threads together: medians of the last {AROUND}"
        " tasks. In (): how long one waits, in the median and at most. 'of calls' compares with the"
        f" {LEAST_CALLS} model calls of {MODEL_SECONDS:g} s that a task waits for at least."
    )


def measured(size: Size, embedder: Prepared) -> Iterator[str]:
    """Yield a row for each checkpoint of a population that works on."""
    with TemporaryDirectory() as folder:
        pool = Pool.init(folder)
        for structure in STRUCTURES:
            pool.add(_team(structure), Lineage(operator="seed"), op=f"seed/{structure}")
        with (Path(folder) / LEDGER).open("ab") as stream:
            stream.writelines(_prepared(size))
        pool = Pool.open(folder)
        memory = Memory(pool, embedder, VectorShards())
        memory.search("", 1)  # fills the cache, and so does what follows
        for name in pool.agents:
            memory.alike("", name, over=1.0)
        started = Seconds.now()
        pool = Pool.open(folder)
        memory = Memory(pool, embedder, VectorShards())
        memory.search("", 1)
        views = Views(pool, EVOLUTION, memory, Population(rates=Rates.of(SETTINGS)))
        views.upto(-1)
        opened = Seconds.now() - started
        taken: list[Mapping[str, Seconds]] = []
        for number in range(max(size.checkpoints)):
            taken.append(worked(pool, views, number, embedder))
            if number + 1 in size.checkpoints:
                yield _row(size, opened, number + 1, taken[-AROUND:])


def worked(pool: Pool, views: Views, number: int, embedder: Prepared) -> Mapping[str, Seconds]:
    """Work on a task; give what each step took, those of `BEFORE` and of `AFTER`."""
    chance, clock = random.Random(number), Clock(embedder)  # noqa: S311
    niche, text = f"niche_{number % NICHES}", _task(number)
    view = clock("see", lambda: views.upto(number - 1))
    size = SETTINGS.team_size
    team = clock("compose", lambda: compose(view.folded, niche, size, SETTINGS, chance))
    clock("remind", lambda: _reminded(view, team, niche, text), "embed the task")
    learnt = list(_learnt(number, team, niche, text, chance))
    clock("compare", lambda: [_compared(view, item) for item in learnt], "embed the lessons")
    changes = [*_told(f"t{number}", team, niche, chance), *learnt]
    clock("keep", lambda: _kept(pool, number, changes))
    return clock.steps


class Clock:
    """Times one step after the other, and apart from them how long texts are embedded.

    Attributes:
        steps: What each step took.
    """

    def __init__(self, embedder: Prepared) -> None:
        self._embedder = embedder
        self.steps: dict[str, Seconds] = {}

    def __call__(self, step: str, work: Callable[[], T], embedding: str = "") -> T:
        """Do a piece of work."""
        started, embedded = Seconds.now(), self._embedder.spent
        done = work()
        apart = self._embedder.spent - embedded
        self.steps[step] = Seconds.now() - started - apart
        if embedding:
            self.steps[embedding] = apart
        return done


def _reminded(view: PoolView, team: Mapping[str, str], niche: str, text: str) -> None:
    for owner in team.values():
        for kind in KINDS:
            of = niche if kind == "lesson" else None
            view.search(text, SETTINGS.lessons, kind=kind, owner=owner, niche=of)


def _compared(view: PoolView, entry: Learnt) -> None:
    """Look for what is nearly the same in the archive."""
    owner = entry.owner or ""
    view.alike(entry.text, owner, kind=entry.kind, niche=entry.niche, over=SETTINGS.dedup)


def _learnt(
    number: int, team: Mapping[str, str], niche: str, text: str, chance: random.Random
) -> Iterator[Learnt]:
    for owner in team.values():
        for kind in KINDS:
            words = f"In task {number}, {owner} should have checked step {chance.random():.4f}."
            of = niche if kind == "lesson" else None
            yield Learnt(kind=kind, task=text, text=words, niche=of, owner=owner, case=f"t{number}")


def _kept(pool: Pool, number: int, changes: Sequence[Evaluated | EventNoted | Learnt]) -> None:
    for place, change in enumerate(changes):
        pool.commit(change, op=op(EVOLUTION, number, f"{place:03d}"))


def _told(
    task: str, team: Mapping[str, str], niche: str, chance: random.Random
) -> Iterator[Evaluated | EventNoted]:
    """Yield the result of a task, beside lessons."""
    reward, structure = float(chance.random() < 0.6), chance.choice(STRUCTURES)
    agents = {seat: TrialPart(member=name) for seat, name in team.items()}
    trial = Trial(
        task=task,
        niche=niche,
        score=reward,
        agents=agents,
        structure=structure,
        usage=Usage(calls=3, prompt_tokens=3_000, completion_tokens=900),
    )
    yield Evaluated(member=structure, trial=trial)
    profile = [round(chance.random(), 3) for _ in team]
    about = {"niche": niche, "structure": structure, "profile": profile, "reward": reward}
    reflection = "The members agreed at once, so that a vote was enough."
    yield EventNoted(what="leadership", about={**about, "reflection": reflection, "task": task})


def _row(size: Size, opened: Seconds, task: int, taken: Sequence[Mapping[str, Seconds]]) -> str:
    before, whole = _together(taken, BEFORE), _together(taken, (*BEFORE, *AFTER))
    place = (f"{size.agents:,}", f"{size.lessons:,}", f"{opened.cpu:.1f}", f"{task:,}")
    steps, after = (
        [_cpu([fields[step] for fields in taken]) for step in names] for names in (BEFORE, AFTER)
    )
    share = statistics.median(seconds.cpu for seconds in whole) / (LEAST_CALLS * MODEL_SECONDS)
    cells = (*place, *steps, _both(before), *after, _both(whole), f"{share:.1%}")
    return f"| {' | '.join(cells)} |"


def _together(taken: Sequence[Mapping[str, Seconds]], steps: Sequence[str]) -> Sequence[Seconds]:
    return [sum((fields[step] for step in steps), NOTHING) for fields in taken]


def _cpu(seconds: Sequence[Seconds]) -> str:
    return f"{1e3 * statistics.median(second.cpu for second in seconds):.1f}"


def _both(seconds: Sequence[Seconds]) -> str:
    """Write the processor's time, and how long one waits: mostly, and at most."""
    waits = [1e3 * second.wall for second in seconds]
    return f"**{_cpu(seconds)}** ({statistics.median(waits):.0f}, {max(waits):.0f})"


def _task(number: int) -> str:
    return f"Task {number}: how many of {number % 97} are left when {number % 13} are given away?"


def _prepared(size: Size) -> Iterator[bytes]:
    """Yield the lines of a population that has come some way."""
    chance = random.Random(size.agents)  # noqa: S311
    names = [f"agent_{number}" for number in range(size.agents)]
    for name in names:
        value = {"prompt": "You are a helpful assistant."}
        lineage = {"operator": "genesis"}
        yield line_of({"kind": "born", "agent": name, "value": value, "lineage": lineage}, name)
    for number in range(size.trials):
        team = dict(zip(seats(3), chance.sample(names, 3), strict=True))
        report = _told(f"{PREPARED} {number}", team, f"niche_{chance.randrange(NICHES)}", chance)
        for place, change in enumerate(report):
            yield line_of(change.value(), f"prepared-{number}-{place}")
    for number in range(size.lessons):
        task, text = f"{PREPARED} task {number}: {_task(number)}", f"{PREPARED} lesson {number}."
        kind = KINDS[number % len(KINDS)]
        niche = f"niche_{chance.randrange(NICHES)}" if kind == "lesson" else None
        owner = names[number % size.agents]
        entry = Learnt(kind=kind, task=task, text=text, niche=niche, owner=owner)
        yield line_of(entry.value(), f"prepared-lesson-{number}")


def _team(name: str) -> Team:
    """Return a team of a structure; what it is made of is not run here."""
    return Team(name=name, agents={"anchor": Agent(id="anchor", prompt=f"Work by {name}.")})


if __name__ == "__main__":
    main()
