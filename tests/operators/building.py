"""Experience that is built with scripted doctors, and what may end that at any moment."""

import inspect
import itertools
from collections.abc import Callable, Coroutine, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from coterie.operators.evolution.context import EvolutionContext
from coterie.operators.evolution.evolution import Evolution
from coterie.operators.evolution.strategy import strategy_of
from coterie.operators.methods.mattrl.experience import ExperienceSettings
from coterie.pool import Pool
from coterie.pool.ledger.learnt import Learnt
from coterie.pool.ledger.ledger import Ledger
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.doubles.script import Request
from coterie.runtime.record.journal import Journal
from coterie.runtime.values.budget import NO_CAPS, Caps
from coterie.schema.loading.recipe import Recipe
from coterie.schema.team.task import Task

from .consulting import WARD, doctors
from .evolution.test_episode import done

TASKS = [Task(id=f"case-{n}", query=f"What is {n} + {7 - n}?", answer="7") for n in range(4)]
MATTRL = strategy_of("mattrl")


def recipe(workers: int = 1, **settings: Any) -> Recipe:
    return Recipe(strategy="mattrl", settings=ExperienceSettings(**settings), workers=workers)


def evolution(
    context: EvolutionContext, tasks: Sequence[Task] = TASKS, *, is_final: bool = False
) -> Evolution:
    folder = context.pool.folder.parent / "evolution"
    return Evolution(
        context=context, strategy=MATTRL, tasks=tasks, folder=folder, is_final=is_final
    )


@dataclass
class Built:
    """What an evolution came to.

    Attributes:
        folder: Where it is.
        entries: What was learnt.
        lines: What the episodes say of themselves.
        model: Who was asked.
        result: What came of what was done after it.
    """

    folder: Path
    entries: list[Learnt]
    lines: list[dict[str, Any]]
    model: ScriptedModel
    result: Any = None

    @property
    def utterance_events(self) -> list[dict[str, Any]]:
        """What is told of the utterances of each episode."""
        stories = (event for line in self.lines for event in line["story"])
        return [event for event in stories if event["event"] == "utterances"]


def learnt(
    folder: Path,
    of: Recipe,
    *,
    script: Callable[[Request], Reply] = doctors,
    after: Callable[[EvolutionContext], Coroutine[Any, Any, Any]] | None = None,
    cases: int = len(TASKS),
    budget: Caps = NO_CAPS,
) -> Built:
    """Evolve on the first cases; a budget is final."""

    async def work(context: EvolutionContext) -> tuple[list[Any], Any]:
        result = evolution(context, TASKS[:cases], is_final=budget is not NO_CAPS)
        await result.to_the_end()
        return result.lines(), await after(context) if after else None

    with ScriptedModel(script) as model:
        how: Any = {"recalls": True, "embedder": "hashing", "budget": budget}
        lines, outcome = done(folder, model.api_base, work, of, pair=WARD, **how)
    entries = list(Pool.open(folder / "pool").learnt.values())
    return Built(folder=folder, entries=entries, lines=lines, model=model, result=outcome)


class Killed(BaseException):
    """Ends an evolution as a signal would."""


@contextmanager
def dying(writes: int, *, is_written: bool = True) -> Generator[None]:
    """Let nothing more be written after so many lines of journal and ledgers."""
    left = itertools.count(writes, -1)

    def mortal(write: Any) -> Any:
        def written(*args: Any, **how: Any) -> Any:
            alive = next(left)
            if alive < 0 or (alive == 0 and not is_written):
                raise Killed
            result = write(*args, **how)
            if alive == 0 and not inspect.iscoroutine(result):
                raise Killed
            return result

        return written

    with pytest.MonkeyPatch.context() as patch:
        for where, name in ((Journal, "put"), (Ledger, "append"), (Ledger, "commit")):
            patch.setattr(where, name, mortal(getattr(where, name)))
        yield
