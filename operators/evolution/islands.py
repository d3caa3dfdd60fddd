"""Islands: evolutions on parts of a stream, with their own pools, that exchange their best teams.

After every `every` of its tasks, each island publishes its most promising team as a small pool,
with all the team's ancestors. It waits for the other islands and imports their teams in the order
of the islands. What an island sees therefore never depends on speed: the same islands with the
same answers yield the same pools. Published teams stay, so an island that crashed resumes where it
was, and the others wait for it.
"""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from ...pool.expectation.expectation import most_promising
from ...pool.ledger.changes import EventNoted
from ...pool.teams.exchange import import_teams
from ...pool.teams.pool import Pool
from ...runtime.gateway.stream_sink import unheard
from ...runtime.record.journal import digest
from ...runtime.runs.record import read_value
from ...schema.values.errors import InputError, RunError
from ...schema.values.files import make_folders, rename, write_atomically
from ...schema.values.json_text import dumps
from ...schema.values.terminal import counted
from .strategy import strategy_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from ...schema.loading.recipe import Recipe
    from ...schema.team.task import Task
    from ...schema.values.part import Part

SEALED = "islands.json"
"""The inputs that the islands of a folder share, written by the first of them."""
MET = "islands.met"
"""The ledger's event of an exchange."""
SECONDS = 1.0
"""The interval between two checks for other islands' teams."""


class NotYet(RunError):
    """Another island is behind, and this one does not wait for it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Islands:
    """One of several evolutions that exchange their best teams.

    Attributes:
        part: Its number, and the number of islands.
        every: The number of its own tasks between two meetings.
        place: The folder of the exchange, shared by all islands.
        waits: Whether it waits for slower islands; else it stops, and can be resumed.
    """

    part: Part
    every: int
    stream: Sequence[Task]
    place: Path
    waits: bool = True
    say: Callable[[str], None] = unheard

    def __str__(self) -> str:
        often = (len(self.stream) // self.part.of - 1) // self.every
        return (
            f"island {self.part}: they meet {counted(often, 'time')}, after each"
            f" {counted(self.every, 'task')} of their own, in {self.place}"
        )

    def value(self) -> dict[str, int]:
        """Return the fields that identify this island."""
        return {**asdict(self.part), "every": self.every, "tasks": len(self.stream)}

    def tasks(self) -> list[Task]:
        """Return this island's tasks of the stream."""
        return self.part.take(self.stream)

    def seeded(self, recipe: Recipe) -> Recipe:
        """Return the recipe with this island's random seed: counted up from the first island's."""
        return replace(recipe, seed=recipe.seed + self.part.which - 1)

    def meeting_after(self, episode: int) -> int | None:
        """Return the number of the meeting after an episode, from 1; None if no meeting is due.

        Meetings end with the tasks of the smallest island, so all islands meet equally often.
        """
        meeting, rest = divmod(episode + 1, self.every)
        return meeting if not rest and episode + 1 < len(self.stream) // self.part.of else None

    def check(self, recipe: Recipe) -> None:
        """Check that the islands in this folder belong together.

        Args:
            recipe: The recipe, with this island's seed.

        Raises:
            InputError: Other islands meet here, or the strategy learns more than teams.
        """
        strategy = strategy_of(recipe.strategy)
        if not strategy.leaves_team or strategy.scaffold:
            raise InputError(
                f"--island: islands exchange only teams, but {recipe.strategy} learns more than"
                " teams. Evolve parts of the stream separately, or use another strategy."
            )
        path = self.place / SEALED
        fields = read_value(path) if path.exists() else {}
        for name, item in self._alike(recipe).items():
            if fields.get(name, item) != item:
                shown = name if name == "recipe" else f"{name} ({fields.get(name)}, here {item})"
                raise InputError(
                    f"{self.place}: other islands meet there, with another {shown}. Choose another"
                    " --meet."
                )

    def claim(self, recipe: Recipe) -> None:
        """Record the shared inputs as the first island, or check them against the record."""
        if not (self.place / SEALED).exists():
            make_folders(self.place)
            write_atomically(self.place / SEALED, dumps(self._alike(recipe)) + "\n")
        self.check(recipe)

    def _alike(self, recipe: Recipe) -> dict[str, Any]:
        first = asdict(replace(recipe, seed=recipe.seed - self.part.which + 1))
        fields = {"of": self.part.of, "every": self.every, "tasks": len(self.stream)}
        return {**fields, "recipe": digest(first)}

    async def meet(self, pool: Pool, meeting: int, op: Callable[[str], str]) -> None:
        """Publish the most promising team, wait for the other islands, and import their teams.

        Steps that were done before a crash are not repeated.

        Args:
            meeting: The number of the meeting, from 1.
            op: Returns the unique name of a pool update, so that it counts once.
        """
        noted = EventNoted(what=MET, about={"meeting": meeting, "islands": self.part.of})
        pool.commit(noted, op=op(f"met {meeting}"))
        self._send(pool, meeting)
        others = [which for which in range(1, self.part.of + 1) if which != self.part.which]
        await self._all(meeting, others)
        for which in others:
            source = Pool.open(self._sent(meeting, which), catalogue=pool.catalogue)
            best, _ = most_promising(source)
            import_teams(pool, source, [best.name], op=op(f"met {meeting} {which:06d}"))

    def _sent(self, meeting: int, which: int) -> Path:
        return self.place / f"{meeting:06d}" / f"{which:06d}"

    def _send(self, pool: Pool, meeting: int) -> None:
        """Publish the best team, as a whole or not at all."""
        target = self._sent(meeting, self.part.which)
        if target.exists():
            return
        make_folders(target.parent)
        best, _ = most_promising(pool)
        folder = target.parent / f".{uuid4().hex}"  # with the modes of folders, unlike mkdtemp
        try:
            sent = Pool.init(folder, catalogue=pool.catalogue)
            import_teams(sent, pool, [best.name], op=f"sent {meeting}")
            rename(folder, target)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    async def _all(self, meeting: int, others: Sequence[int]) -> None:
        word = ""
        while away := [number for number in others if not self._sent(meeting, number).exists()]:
            who = ", ".join(f"{number}/{self.part.of}" for number in away)
            if not self.waits:
                raise NotYet(f"meeting {meeting}: the islands {who} are not ready yet.")
            if word != who:
                word = who
                self.say(f"meeting {meeting}: waiting for the islands {who}")
            await asyncio.sleep(SECONDS)
