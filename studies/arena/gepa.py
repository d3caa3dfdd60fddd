"""GEPA as a method of an arena: its own optimizer on the prompts of the arena's team.

`pip install gepa==0.1.4` makes it available.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coterie.schema.values.errors import LimitError

from ..race.gepa import Silent, gepa_part
from .bridge import Bridge, method

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from coterie.schema.team.task import Task
    from coterie.schema.team.team import Team

INSTRUCTION = "instruction"


class Adapter(Bridge):
    """The arena's team as GEPA evaluates its prompts and reflects on them."""

    name = "gepa"
    instructions = "Write a new instruction for an assistant."
    propose_new_texts = None

    def best(self) -> Team:
        """Let GEPA optimize until the cap is met, and return its best team.

        GEPA itself only logs a failure, and hands its best candidate over: `error` has it.
        """
        prompts = {name: agent.prompt for name, agent in self.original.team.agents.items()}
        try:
            result = gepa_part("api").optimize(
                seed_candidate=prompts,
                trainset=self.tasks,
                valset=self.tasks,
                adapter=self,
                reflection_lm=self.reflect,
                stop_callbacks=self.is_stopped,
                seed=self.stream.context.recipe.seed,
                logger=Silent(),
                raise_on_exception=False,
            )
        except LimitError:  # the original was not even validated
            return self.original.team
        return self.with_prompts(result.best_candidate) or self.original.team

    def evaluate(
        self, batch: Sequence[Task], candidate: Mapping[str, str], capture_traces: bool = False
    ) -> Any:
        """Run the prompts of a candidate on tasks; those that make no team score nothing."""
        team = self.with_prompts(candidate)
        trials = [self.trial(team, task) if team else ("", 0.0) for task in batch]
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
        answer = self.answer(question, INSTRUCTION)
        if answer is None:
            raise ValueError("the operator has no answer of use.")
        return f"```\n{answer[INSTRUCTION]}\n```"


GEPA = method(Adapter)
