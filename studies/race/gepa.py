"""GEPA in a world: the same operator model, the same scores, the same budget of calls.

`pip install gepa==0.1.4` makes it available; the project does not depend on it. GEPA has its usual
settings, and proposes on and validates with 16 tasks: of 10, 16, 20, 24 and 40, measured in worlds
with other seeds, it did best with 10 to 20. It may finish the iteration in which its budget ends.
What it would deploy is its best candidate by validation score.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from coterie.schema.edits import AddAgent, RejectedEdits, SetPrompt, apply
from coterie.schema.loading.loading import parse_team
from coterie.schema.team.team import Agent, Team
from coterie.schema.team.writing import dump
from coterie.schema.values.errors import ConfigError, InputError

from .proposing import Proposer
from .trials import Outcome, outcome_of
from .worlds import AGENT, catalogue

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coterie.schema.team.task import Task

    from .worlds import Hypothesis, World

VALIDATED = 16
"""How many tasks it proposes on, and validates with."""


@dataclass(kw_only=True)
class Adapter:
    """A world's team as GEPA evaluates it and reflects on it: by its prompts, or by its file.

    Attributes:
        world: Where.
        agents: Calls of agents so far.
        operators: Calls of the operator model so far.
    """

    world: World
    agents: int = 0
    operators: int = 0
    propose_new_texts: None = None

    def is_spent(self, _state: object) -> bool:
        """Return whether the budget has ended."""
        return self.agents + self.operators >= self.world.budget

    def score(self, team: Team, task: Task) -> float:
        """Run a team on a task."""
        self.agents += len(team.agents)
        worth, effects = self.world.worth_of(team), self.world.effects(team)
        return self.world.score(worth, effects, task.query, f"gepa {self.agents}")

    def drawn(self, hypotheses: Sequence[Hypothesis], shown: str) -> Hypothesis:
        """Ask the operator model."""
        self.operators += 1
        key = f"gepa/{self.world.name}/{self.world.seed}/{self.operators}"
        chance = random.Random(key)  # noqa: S311 - guards nothing
        return Proposer(self.world).drawn(hypotheses, shown, chance)

    def outcome(self, team: Team) -> Outcome:
        """Measure what GEPA would deploy."""
        return outcome_of(self.world, team, self.agents, self.operators)

    def team(self, prompts: Mapping[str, str]) -> Team:
        """Return the team with the prompts of a candidate."""
        edits = [SetPrompt(agent=name, prompt=text) for name, text in prompts.items()]
        return _applied(self.world.team, *edits)

    def evaluate(
        self, batch: Sequence[Task], candidate: Mapping[str, str], capture_traces: bool = False
    ) -> Any:
        """Run the prompts of a candidate on tasks, as an adapter does."""
        team = self.team(candidate)
        scores = [self.score(team, task) for task in batch]
        traces = [*zip(batch, scores, strict=True)] if capture_traces else None
        return gepa_part("core.adapter").EvaluationBatch(
            outputs=scores, scores=scores, trajectories=traces
        )

    def make_reflective_dataset(
        self, _candidate: object, eval_batch: Any, components_to_update: Sequence[str]
    ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Show tasks, reference answers and scores, as an adapter does."""
        records = [
            {"Inputs": task.query, "Feedback": f"Right: {task.answer}. Score: {score}"}
            for task, score in eval_batch.trajectories
        ]
        return dict.fromkeys(components_to_update, records)

    def reflect(self, question: Any) -> str:
        """Answer GEPA's question with a sentence more for the prompt that it shows."""
        shown = str(question)
        [agent] = [name for name, prompt in self.world.prompts.items() if prompt in shown]
        offered = [
            each for each in self.world.hypotheses if each.agent == agent and each.place == "prompt"
        ]
        return f"```\n{_between(shown)}\n{self.drawn(offered, shown).text}\n```"

    def evaluate_file(self, candidate: str, example: Task) -> tuple[float, dict[str, str]]:
        """Validate a team file and run it on a task."""
        team, problems = self.read(candidate)
        if team is None:
            return 0.0, {"Validator": problems}
        report = {"Input": example.query, "Right": str(example.answer), "Validator": "valid"}
        return self.score(team, example), report

    def reflect_on_file(self, question: Any) -> str:
        """Answer GEPA's question with a team file in which a hypothesis stands more."""
        shown = str(question)
        team = self.read(_between(shown))[0] or self.world.team
        room = len(team.agents) < self.world.most_agents
        offered = [each for each in self.world.hypotheses if each.place == "prompt" or room]
        return f"```\n{dump(_edited(team, self.drawn(offered, shown)))}\n```"

    def read(self, text: str) -> tuple[Team | None, str]:
        """Read a team file within the world's ceiling; else return what the validator reports."""
        try:
            team = parse_team(text.encode(), "team.yaml", catalogue())
        except ConfigError as error:
            return None, str(error)
        problems = self.world.ceiling.problems(team)
        return (None, "\n".join(map(str, problems))) if problems else (team, "")


def on_prompts(world: World) -> Outcome:
    """Let GEPA optimize the prompts of a world's team."""
    adapter = Adapter(world=world)
    tasks = world.tasks[:VALIDATED]
    result = gepa_part("api").optimize(
        seed_candidate={**world.prompts},
        trainset=tasks,
        valset=tasks,
        adapter=adapter,
        reflection_lm=adapter.reflect,
        stop_callbacks=adapter.is_spent,
        seed=world.seed,
        logger=Silent(),
    )
    return adapter.outcome(adapter.team(result.best_candidate))


def on_yaml(world: World) -> Outcome:
    """Let GEPA's `optimize_anything` optimize the file of a world's team."""
    adapter, parts = Adapter(world=world), gepa_part("optimize_anything")
    tasks = world.tasks[:VALIDATED]
    result = parts.optimize_anything(
        dump(world.team),
        evaluator=adapter.evaluate_file,
        dataset=tasks,
        valset=tasks,
        objective="A team of agents that answers the tasks right.",
        config=parts.GEPAConfig(
            engine=parts.EngineConfig(seed=world.seed, parallel=False),
            reflection=parts.ReflectionConfig(reflection_lm=adapter.reflect_on_file),
            tracking=parts.TrackingConfig(logger=Silent()),
            stop_callbacks=adapter.is_spent,
        ),
    )
    return adapter.outcome(adapter.read(str(result.best_candidate))[0] or world.team)


def gepa_part(name: str) -> Any:
    """Return a module of GEPA.

    Raises:
        InputError: It is not installed.
    """
    try:
        return import_module(f"gepa.{name}")
    except ModuleNotFoundError as error:
        message = "GEPA is not installed. pip install gepa==0.1.4, or choose other --rows."
        raise InputError(message) from error


class Silent:
    """A log that nobody reads."""

    def log(self, message: str) -> None:
        """Drop a message."""


def _edited(team: Team, hypothesis: Hypothesis) -> Team:
    """Return a team with a hypothesis."""
    neighbour = (hypothesis.agent,)
    if hypothesis.place == "prompt":
        prompt = f"{(team.agents[hypothesis.agent].prompt or '').strip()}\n{hypothesis.text}"
        return _applied(team, SetPrompt(agent=hypothesis.agent, prompt=prompt))
    agent = Agent(id="helper", model_id=AGENT, prompt=hypothesis.text)
    if hypothesis.place == "after":
        return _applied(team, AddAgent(agent=agent, receives_from=neighbour))
    return _applied(team, AddAgent(agent=agent, reports_to=neighbour))


def _applied(team: Team, *edits: SetPrompt | AddAgent) -> Team:
    child = apply(team, edits, catalogue())
    if isinstance(child, RejectedEdits):
        raise ConfigError(child.problems)
    return child


def _between(shown: str) -> str:
    """Return what a question shows between its first fences."""
    return shown.split("```")[1].strip()
