"""GEPA as a method of an arena: its own optimizer on the prompts of the arena's team.

As in `studies.race.gepa`, `pip install gepa==0.1.4` makes it available, it has its usual settings,
and it proposes on and validates with 16 tasks. It asks the arena's operator, whose answer is held
to one text. The cap is the cell's: an iteration in which it is met counts for nothing, and what is
deployed is the best candidate until then by validation score.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from coterie.operators.core.answers import structured
from coterie.operators.core.meta import Question
from coterie.operators.core.proposal import RejectedProposal
from coterie.operators.evolution.episode import Episode
from coterie.operators.evolution.strategy import Strategy
from coterie.pool.ledger.changes import Added
from coterie.runtime.values.caps import Caps
from coterie.runtime.values.score import Score
from coterie.schema.edits import RejectedEdits, SetPrompt, apply
from coterie.schema.edits.offer.strict import closed
from coterie.schema.team.team import Lineage, Team
from coterie.schema.values.errors import LimitError
from coterie.schema.values.files import write_atomically
from coterie.schema.values.json_text import dumps, loads

from ..race.gepa import VALIDATED, Silent, gepa_part

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping, Sequence
    from pathlib import Path

    from coterie.operators.evolution.stream import TaskStream
    from coterie.pool.ledger.members import Member
    from coterie.runtime.values.usage import Usage
    from coterie.schema.team.task import Task

FILE = "gepa.json"
WRITTEN = "instruction"
FORM = closed(**{WRITTEN: {"type": "string", "minLength": 1}})
Answered = tuple[str, float]
"""An answer, and its score in [0, 1]."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Status:
    """What it hands over, and how many answers of the operator were of no use."""

    deployed: str
    dropped: int
    is_over: bool = True
    caps: Caps = field(default_factory=Caps)
    spending: Mapping[str, Usage] = field(default_factory=dict[str, "Usage"])

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """Read it; None where there is none."""
        path = folder / FILE
        return cls(**loads(path.read_text(encoding="utf-8"))) if path.exists() else None

    def value(self) -> Mapping[str, Any]:
        """Return it as a JSON object."""
        return {"deployed": self.deployed, "dropped": self.dropped}


@dataclass(kw_only=True, eq=False)
class Adapter:
    """The arena's team as GEPA, in a thread of its own, evaluates it and reflects on it.

    Attributes:
        loop: Where teams run and the operator is asked.
        error: What ended it: the cap, or a failure. GEPA itself would only log a failure, and
            hand the original over.
    """

    stream: TaskStream
    loop: asyncio.AbstractEventLoop
    error: Exception | None = None
    dropped: int = 0
    propose_new_texts: None = None
    _steps: int = 0

    @property
    def original(self) -> Member:
        """The team that it begins with."""
        return next(iter(self.stream.context.pool.teams.values()))

    def best(self) -> Team:
        """Let GEPA optimize until the cap is met, and return its best team."""
        tasks = self.stream.tasks[:VALIDATED]
        prompts = {name: agent.prompt for name, agent in self.original.team.agents.items()}
        try:
            result = gepa_part("api").optimize(
                seed_candidate=prompts,
                trainset=tasks,
                valset=tasks,
                adapter=self,
                reflection_lm=self.reflect,
                stop_callbacks=lambda _state: self.error is not None,
                seed=self.stream.context.recipe.seed,
                logger=Silent(),
                raise_on_exception=False,
            )
        except LimitError:  # the original was not even validated
            return self.original.team
        return self._team(result.best_candidate) or self.original.team

    def evaluate(
        self, batch: Sequence[Task], candidate: Mapping[str, str], capture_traces: bool = False
    ) -> Any:
        """Run the prompts of a candidate on tasks; those that make no team score nothing."""
        team = self._team(candidate)
        trials = [self._waited(self._tried(team, task)) if team else ("", 0.0) for task in batch]
        return gepa_part("core.adapter").EvaluationBatch(
            outputs=[answer for answer, _ in trials],
            scores=[score for _, score in trials],
            trajectories=[*zip(batch, trials, strict=True)] if capture_traces else None,
        )

    def make_reflective_dataset(
        self, _candidate: object, eval_batch: Any, components_to_update: Sequence[str]
    ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Show tasks, answers, reference answers and scores, as an adapter does."""
        records = [
            {
                "Inputs": task.query,
                "Generated Outputs": answer,
                "Feedback": f"Right: {task.answer}. Score: {score}",
            }
            for task, (answer, score) in eval_batch.trajectories
        ]
        return dict.fromkeys(components_to_update, records)

    def reflect(self, question: Any) -> str:
        """Ask the operator GEPA's question.

        Raises:
            ValueError: It has no answer of use.
        """
        answer = self._waited(self._asked(str(question)))
        self.dropped += answer is None
        if answer is None:
            raise ValueError("the operator has no answer of use.")
        return f"```\n{answer}\n```"

    def _waited(self, doing: Coroutine[Any, Any, Any]) -> Any:
        """Wait for what is done in the loop; after an error nothing is done any more."""
        if self.error is not None:
            doing.close()
            raise self.error
        try:
            return asyncio.run_coroutine_threadsafe(doing, self.loop).result()
        except Exception as error:
            self.error = error
            raise

    def _team(self, prompts: Mapping[str, str]) -> Team | None:
        """Return the team with the prompts of a candidate; None where there can be none."""
        edits = [SetPrompt(agent=name, prompt=text) for name, text in prompts.items()]
        team = apply(self.original.team, edits, self.stream.context.catalogue)
        return None if isinstance(team, RejectedEdits) else team

    async def _tried(self, team: Team, task: Task) -> Answered:
        episode = self._episode(task)
        run = await episode.run(team, "run")
        score = await episode.score(run, "run")
        return run.answer or "", score.value if isinstance(score, Score) else 0.0

    async def _asked(self, text: str) -> str | None:
        episode = self._episode(self.stream.tasks[0])
        question = Question(
            operator="gepa",
            instructions="Write a new instruction for an assistant.",
            material=text,
            schema=FORM,
            read=partial(_written, bounds=episode.meta_model.limits),
        )
        answer = await episode.meta_model.ask(f"{episode.path}reflection", question)
        return None if isinstance(answer, RejectedProposal) else answer

    def _episode(self, task: Task) -> Episode:
        """Return where the next step stands in the journal."""
        self._steps += 1
        context = self.stream.context
        path = f"gepa/{self._steps:06d}/"
        return Episode(context=context, number=0, task=task, view=context.view(), path=path)


def _written(text: str, bounds: Any) -> str:
    return structured(text, FORM, bounds)[WRITTEN]


async def gepa(stream: TaskStream) -> None:
    """Optimize the prompts of the pool's team, and keep the result in the pool.

    Raises:
        Exception: Something else than the cap ended it.
    """
    adapter = Adapter(stream=stream, loop=asyncio.get_running_loop())
    original, pool, name = adapter.original, stream.context.pool, stream.context.name
    team = await asyncio.to_thread(adapter.best)
    if adapter.error is not None and not isinstance(adapter.error, LimitError):
        raise adapter.error
    deployed = original.name
    if team != original.team:
        lineage = Lineage(operator="gepa", parents=(original.name,), run=name)
        deployed = pool.commit(Added(member=team, lineage=lineage), op=f"{name}/best").name
    value = Status(deployed=deployed, dropped=adapter.dropped).value()
    write_atomically(stream.folder / FILE, dumps(value) + "\n")


GEPA = Strategy(
    name="gepa",
    whole=gepa,
    needs=lambda _settings: frozenset({"teams", "meta_model"}),
    status=Status.read,
    leaves_team=True,
)
