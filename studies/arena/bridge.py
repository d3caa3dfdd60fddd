"""The common part of the optimizers of others as methods of an arena: tasks, operator, and pool.

They have their usual settings, and propose on and validate with 16 tasks, as GEPA does in
`studies.race.gepa`. They ask the arena's operator, whose answer is held to texts. The cap is the
cell's: an iteration in which it is met counts for nothing, and what is deployed is the best
candidate until then by validation score.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

from coterie.operators.core.answers import structured
from coterie.operators.core.meta import Question
from coterie.operators.core.proposal import RejectedProposal
from coterie.operators.evolution.episode import Episode
from coterie.operators.evolution.strategy import Strategy
from coterie.pool.ledger.changes import Added
from coterie.runtime.agents.outcomes import Score
from coterie.runtime.values.caps import Caps
from coterie.schema.edits import RejectedEdits, SetPrompt, apply
from coterie.schema.edits.offer.strict import closed
from coterie.schema.team.team import Lineage
from coterie.schema.values.errors import LimitError
from coterie.schema.values.files import write_atomically
from coterie.schema.values.json_text import dumps, loads

from ..race.gepa import VALIDATED

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence
    from pathlib import Path

    from coterie.operators.evolution.strategy import Need
    from coterie.operators.evolution.stream import TaskStream
    from coterie.pool.ledger.members import Member
    from coterie.runtime.values.usage import Usage
    from coterie.schema.loading.ceiling import CapabilityPolicy
    from coterie.schema.team.task import Task
    from coterie.schema.team.team import Team

Answered = tuple[str, float]
"""An answer, and its score in [0, 1]."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Status:
    """The deployed team, and the number of invalid operator answers."""

    deployed: str
    dropped: int
    is_over: bool = True
    caps: Caps = field(default_factory=Caps)
    spending: Mapping[str, Usage] = field(default_factory=dict[str, "Usage"])

    @classmethod
    def read(cls, file: str, folder: Path) -> Self | None:
        """Return the status in a file of a folder; None if absent."""
        path = folder / file
        return cls(**loads(path.read_text(encoding="utf-8"))) if path.exists() else None

    def value(self) -> Mapping[str, Any]:
        """Return it as a JSON object."""
        return {"deployed": self.deployed, "dropped": self.dropped}


@dataclass(kw_only=True, eq=False)
class Bridge(ABC):
    """The arena, as an optimizer in a thread of its own uses it.

    Attributes:
        name: The optimizer's name, as an operator and in paths.
        instructions: The operator's instructions, which precede the optimizer's question.
        loop: The event loop in which teams run and the operator answers.
        error: The exception that ended the optimization: the cap, or a failure.
        dropped: The number of invalid operator answers.
    """

    name: ClassVar[str]
    instructions: ClassVar[str]

    stream: TaskStream
    loop: asyncio.AbstractEventLoop
    error: Exception | None = None
    dropped: int = 0
    _steps: int = 0

    @abstractmethod
    def best(self) -> Team:
        """Optimize until the cap is met, and return the best team."""

    @classmethod
    def file(cls) -> str:
        """Return the name of the file in which the result is kept."""
        return f"{cls.name}.json"

    @property
    def original(self) -> Member:
        """The team to optimize."""
        return next(iter(self.stream.context.pool.teams.values()))

    @property
    def tasks(self) -> Sequence[Task]:
        """The tasks to propose on and to validate with."""
        return self.stream.tasks[:VALIDATED]

    def is_stopped(self, _state: object) -> bool:
        """Return whether the cap is met, or something failed."""
        return self.error is not None

    def trial(self, team: Team, task: Task) -> Answered:
        """Run a team on a task."""
        return self._waited(self._tried(team, task))

    def answer(self, question: object, *keys: str) -> Mapping[str, str] | None:
        """Ask the operator for texts by key; return None if its answer is invalid."""
        texts = self._waited(self._asked(str(question), keys))
        self.dropped += texts is None
        return texts

    def with_prompts(self, prompts: Mapping[str, str]) -> Team | None:
        """Return the team with the prompts of a candidate; None where there can be none."""
        edits = [SetPrompt(agent=name, prompt=text) for name, text in prompts.items()]
        team = apply(self.original.team, edits, self.stream.context.catalogue)
        return None if isinstance(team, RejectedEdits) else team

    def _waited(self, doing: Coroutine[Any, Any, Any]) -> Any:
        """Wait for a coroutine in the event loop; after an error, raise that instead."""
        if self.error is not None:
            doing.close()
            raise self.error
        try:
            return asyncio.run_coroutine_threadsafe(doing, self.loop).result()
        except Exception as error:
            self.error = error
            raise

    async def _tried(self, team: Team, task: Task) -> Answered:
        episode = self._episode(task)
        run = await episode.run(team, "run")
        score = await episode.score(run, "run")
        return run.answer or "", score.value if isinstance(score, Score) else 0.0

    async def _asked(self, text: str, keys: Sequence[str]) -> Mapping[str, str] | None:
        episode = self._episode(self.stream.tasks[0])
        question = Question(
            operator=self.name,
            instructions=self.instructions,
            material=text,
            schema=form(*keys),
            read=partial(structured, schema=form(*keys), bounds=episode.meta_model.limits),
        )
        answer = await episode.meta_model.ask(f"{episode.path}reflection", question)
        return None if isinstance(answer, RejectedProposal) else answer

    def _episode(self, task: Task) -> Episode:
        """Return the episode of the next step, with a journal path of its own."""
        self._steps += 1
        context = self.stream.context
        path = f"{self.name}/{self._steps:06d}/"
        return Episode(context=context, number=0, task=task, view=context.view(), path=path)


def form(*keys: str) -> Mapping[str, Any]:
    """Return the schema of an answer that consists of texts."""
    return closed(**{key: {"type": "string", "minLength": 1} for key in keys})


def method(
    kind: type[Bridge],
    *needs: Need,
    name: str = "",
    ceiling: Callable[[Team], CapabilityPolicy] | None = None,
) -> Strategy:
    """Return an optimizer as a strategy.

    Args:
        needs: Its needs besides teams and an operator.
        name: The strategy's name, if it is not the optimizer's.
        ceiling: As of a strategy.
    """
    return Strategy(
        name=name or kind.name,
        whole=partial(_optimized, kind),
        ceiling=ceiling,
        needs=lambda _settings: frozenset({"teams", "meta_model", *needs}),
        status=partial(Status.read, kind.file()),
        leaves_team=True,
    )


async def _optimized(kind: type[Bridge], stream: TaskStream) -> None:
    """Optimize the pool's team, and keep the result in the pool.

    Raises:
        Exception: A failure other than the cap ended it.
    """
    bridge = kind(stream=stream, loop=asyncio.get_running_loop())
    original, pool, name = bridge.original, stream.context.pool, stream.context.name
    team = await asyncio.to_thread(bridge.best)
    if bridge.error is not None and not isinstance(bridge.error, LimitError):
        raise bridge.error
    deployed = original.name
    if team != original.team:
        lineage = Lineage(operator=kind.name, parents=(original.name,), run=name)
        deployed = pool.commit(Added(member=team, lineage=lineage), op=f"{name}/best").name
    value = Status(deployed=deployed, dropped=bridge.dropped).value()
    write_atomically(stream.folder / kind.file(), dumps(value) + "\n")
