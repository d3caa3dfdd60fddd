"""GEPA as a method of an arena: its `optimize_anything` on the file of the arena's team.

`pip install gepa==0.1.4` makes it available. It may change whatever a file can say, within the
default ceiling of a race. A text that does not load as a team within it scores 0 without a run, and
the validator's report is its feedback. GEPA keeps no text that scores 0, and shows operators the
feedback of texts that it keeps.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from coterie.operators.methods.race.ceiling import allowed_by_default
from coterie.schema.loading.loading import parse_team
from coterie.schema.team.writing import dump
from coterie.schema.values.errors import ConfigError, LimitError

from ..race.gepa import Silent, gepa_part
from .bridge import Bridge, method

if TYPE_CHECKING:
    from collections.abc import Mapping

    from coterie.schema.team.task import Task
    from coterie.schema.team.team import Team

TEAM_FILE = "team_file"
OBJECTIVE = "A team of agents that answers the tasks right."


class FileAdapter(Bridge):
    """The file of the arena's team as GEPA evaluates it and reflects on it."""

    name = "gepa"
    instructions = "Write a new version of a team file."
    _best: tuple[float, str] = (-1.0, "")
    """The best validation score, and its text."""

    def best(self) -> Team:
        """Let GEPA optimize until the cap is met, and return its best team.

        Here GEPA would go on after a failure with scores of 0, so every failure ends it.
        """
        parts = gepa_part("optimize_anything")
        seed = self.stream.context.recipe.seed
        with suppress(LimitError):
            parts.optimize_anything(
                dump(self.original.team),
                evaluator=self.evaluate,
                dataset=self.tasks,
                valset=self.tasks,
                objective=OBJECTIVE,
                config=parts.GEPAConfig(
                    engine=parts.EngineConfig(seed=seed, parallel=False),
                    reflection=parts.ReflectionConfig(reflection_lm=self.reflect),
                    tracking=parts.TrackingConfig(logger=Silent()),
                    stop_callbacks=self.is_stopped,
                    callbacks=[self],
                ),
            )
        return self.read(self._best[1])[0] or self.original.team

    def on_valset_evaluated(self, event: Mapping[str, Any]) -> None:
        """Keep the text of a candidate that is validated, and the best so far."""
        [text] = event["candidate"].values()
        if event["average_score"] > self._best[0]:
            self._best = event["average_score"], text

    def evaluate(self, candidate: str, example: Task) -> tuple[float, Mapping[str, str]]:
        """Validate a team file and run it on a task."""
        team, problems = self.read(candidate)
        if team is None:
            return 0.0, {"Validator": problems}
        answer, score = self.trial(team, example)
        right = f"Right: {example.answer}. Score: {score}"
        return score, {
            "Inputs": example.query,
            "Generated Outputs": answer,
            "Feedback": right,
            "Validator": "valid",
        }

    def reflect(self, question: Any) -> str:
        """Ask the operator GEPA's question; an invalid answer becomes an empty file."""
        answer = self.answer(question, TEAM_FILE) or {TEAM_FILE: ""}
        return f"```\n{answer[TEAM_FILE]}\n```"

    def read(self, text: str) -> tuple[Team | None, str]:
        """Return the team of a file within the ceiling; else None and the validator's report."""
        context = self.stream.context
        try:
            team = parse_team(text.encode(errors="replace"), "team.yaml", context.catalogue)
        except ConfigError as error:
            return None, str(error)
        problems = context.ceiling.problems(team)
        return (None, "\n".join(map(str, problems))) if problems else (team, "")


GEPA_FILE = method(FileAdapter, "children", name="gepa_file", ceiling=allowed_by_default)
