"""GEPA in a world: the same operator model, the same scores, the same budget of calls.

`pip install gepa==0.1.4` makes it available; the project does not depend on it. GEPA has its usual
settings, and proposes on and validates with 16 tasks. It may finish the iteration in which its
budget ends. What it would deploy is its best candidate by validation score.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from coterie.schema.edits import AddAgent, SetPrompt, apply
from coterie.schema.loading.loading import parse_team
from coterie.schema.team.team import Agent, Team
from coterie.schema.team.writing import dump
from coterie.schema.values.errors import ConfigError, InputError

from .proposing import Proposer
from .trials import Outcome
from .worlds import AGENT, catalogue

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coterie.schema.team.task import Task

    from .worlds import Hypothesis, World

__all__ = ["PromptAdapter", "Scored", "on_prompts", "on_yaml"]

VALIDATED = 16
"""How many tasks it proposes on, and validates with."""


@dataclass(kw_only=True)
class Scored:
    """Teams' scores in a world, and the calls that they cost.

    Attributes:
        world: Where.
        agents: Calls of agents.
        operators: Calls of the operator model.
    """

    world: World
    agents: int = 0
    operators: int = 0

    def score(self, team: Team, task: Task) -> float:
        """Run a team on a task."""
        effects = self.world.effects(team)
        self.agents += len(team.agents)
        return self.world.score(self.world.worth_of(team), effects, task.query, self.agents)

    def is_spent(self, _state: object) -> bool:
        """Return whether the budget has ended."""
        return self.agents + self.operators >= self.world.budget

    def drawn(self, hypotheses: Sequence[Hypothesis], shown: str) -> Hypothesis:
        """Ask the operator model."""
        self.operators += 1
        key = f"gepa/{self.world.name}/{self.world.seed}/{self.operators}"
        chance = random.Random(key)  # noqa: S311 - guards nothing
        return Proposer(self.world).drawn(hypotheses, shown, chance)

    def outcome(self, team: Team) -> Outcome:
        """Measure what GEPA would deploy."""
        return Outcome(
            found=self.world.is_found(team),
            gain=self.world.worth_of(team) - self.world.base,
            agents=self.agents,
            operators=self.operators,
            claims=team.content_hash != self.world.team.content_hash,
        )


@dataclass(kw_only=True)
class PromptAdapter:
    """The prompts of a world's team, as GEPA evaluates and reflects on them."""

    scored: Scored
    propose_new_texts: None = None

    def evaluate(
        self, batch: Sequence[Task], candidate: Mapping[str, str], capture_traces: bool = False
    ) -> Any:
        """Run a candidate on tasks."""
        team = self.team(candidate)
        scores = [self.scored.score(team, task) for task in batch]
        traces = [*zip(batch, scores, strict=True)] if capture_traces else None
        return _part("gepa.core.adapter").EvaluationBatch(
            outputs=scores, scores=scores, trajectories=traces
        )

    def team(self, candidate: Mapping[str, str]) -> Team:
        """Return the team with the prompts of a candidate."""
        edits = [SetPrompt(agent=name, prompt=text) for name, text in candidate.items()]
        return _applied(self.scored.world.team, edits)

    def make_reflective_dataset(
        self, candidate: Mapping[str, str], eval_batch: Any, components_to_update: Sequence[str]
    ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Show tasks, reference answers and scores."""
        del candidate
        records = [
            {"Inputs": task.query, "Feedback": f"Right: {task.answer}. Score: {score}"}
            for task, score in eval_batch.trajectories
        ]
        return dict.fromkeys(components_to_update, records)

    def reflect(self, question: Any) -> str:
        """Answer GEPA's question with a sentence more for the prompt that it shows."""
        world, shown = self.scored.world, str(question)
        [agent] = [name for name, prompt in world.prompts.items() if prompt in shown]
        offered = [each for each in world.hypotheses if each.agent == agent]
        text = self.scored.drawn([each for each in offered if each.place == "prompt"], shown).text
        return f"```\n{_between(shown)}\n{text}\n```"


def on_prompts(world: World) -> Outcome:
    """Let GEPA optimize the prompts of a world's team."""
    adapter = PromptAdapter(scored=Scored(world=world))
    tasks = world.tasks[:VALIDATED]
    result = _part("gepa.api").optimize(
        seed_candidate={**world.prompts},
        trainset=tasks,
        valset=tasks,
        adapter=adapter,
        reflection_lm=adapter.reflect,
        stop_callbacks=adapter.scored.is_spent,
        seed=world.seed,
        logger=_Silent(),
    )
    return adapter.scored.outcome(adapter.team(result.best_candidate))


def on_yaml(world: World) -> Outcome:
    """Let GEPA's `optimize_anything` optimize the file of a world's team."""
    parts = _part("gepa.optimize_anything")
    scored = Scored(world=world)

    def evaluate(candidate: str, example: Task) -> tuple[float, dict[str, str]]:
        team, problems = _read(candidate, world)
        if team is None:
            return 0.0, {"Validator": problems}
        score = scored.score(team, example)
        return score, {"Input": example.query, "Right": str(example.answer), "Validator": "valid"}

    def reflect(question: Any) -> str:
        shown = str(question)
        team, _ = _read(_between(shown), world)
        room = team is not None and len(team.agents) < world.most_agents
        offered = [each for each in world.hypotheses if each.place == "prompt" or room]
        hypothesis = scored.drawn(offered, shown)
        return f"```\n{dump(_edited(team or world.team, hypothesis))}\n```"

    tasks = world.tasks[:VALIDATED]
    result = parts.optimize_anything(
        dump(world.team),
        evaluator=evaluate,
        dataset=tasks,
        valset=tasks,
        objective="A team of agents that answers the tasks right.",
        config=parts.GEPAConfig(
            engine=parts.EngineConfig(seed=world.seed, parallel=False),
            reflection=parts.ReflectionConfig(reflection_lm=reflect),
            tracking=parts.TrackingConfig(logger=_Silent()),
            stop_callbacks=scored.is_spent,
        ),
    )
    team, _ = _read(str(result.best_candidate), world)
    return scored.outcome(team or world.team)


def _part(name: str) -> Any:
    """Return a module of GEPA.

    Raises:
        InputError: It is not installed.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        message = "GEPA is not installed. pip install gepa==0.1.4, or choose other --rows."
        raise InputError(message) from error


class _Silent:
    """A log that nobody reads."""

    def log(self, message: str) -> None:
        """Drop a message."""


def _read(text: str, world: World) -> tuple[Team | None, str]:
    """Read a team file within the world's ceiling, or return what the validator reports."""
    try:
        team = parse_team(text.encode(), "team.yaml", catalogue())
    except ConfigError as error:
        return None, str(error)
    problems = world.ceiling.problems(team)
    return (None, "\n".join(map(str, problems))) if problems else (team, "")


def _edited(team: Team, hypothesis: Hypothesis) -> Team:
    """Return a team with a hypothesis."""
    if hypothesis.place == "prompt":
        prompt = f"{(team.agents[hypothesis.agent].prompt or '').strip()}\n{hypothesis.text}"
        return _applied(team, [SetPrompt(agent=hypothesis.agent, prompt=prompt)])
    agent = Agent(id="helper", model_id=AGENT, prompt=hypothesis.text)
    if hypothesis.place == "after":
        return _applied(team, [AddAgent(agent=agent, receives_from=(hypothesis.agent,))])
    return _applied(team, [AddAgent(agent=agent, reports_to=(hypothesis.agent,))])


def _applied(team: Team, edits: Sequence[Any]) -> Team:
    child = apply(team, edits, catalogue())
    if not isinstance(child, Team):
        raise TypeError(f"{edits} make no team: {child}")
    return child


def _between(shown: str) -> str:
    """Return what a question shows between its first fences."""
    return shown.split("```")[1].strip()
