"""The input of a retrospective: a team, its run, its feedback, and the limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, TypeVar

from .....runtime.agents.outcomes import Run
from .....schema.edits import Edit
from .....schema.team.team import Team
from ....core.material import material
from ....core.meta import MetaModel, OperatorModel, Question
from ....core.proposal import RejectedProposal
from ..gate import Passed, gate
from ..limits import Meter, PhaseLimits
from ..room import NoteLimits
from .conversation import conversation
from .feedback import TaskFeedback

Answered = TypeVar("Answered")
NO_INPUTS: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True, slots=True)
class Ground:
    """The input of a retrospective.

    Attributes:
        team: The team that worked, with the notes to change.
    """

    team: Team
    run: Run
    feedback: TaskFeedback
    own_model: bool = True
    room: NoteLimits = field(default_factory=NoteLimits)
    limits: PhaseLimits = field(default_factory=PhaseLimits)

    def meter(self) -> Meter:
        """Return a new meter for a phase."""
        return Meter(limits=self.limits)

    def voice(self, model: OperatorModel, agent: str) -> OperatorModel:
        """Return the model that answers for an agent: its own, with its own sampling settings."""
        own = self.team.agents[agent]
        if not self.own_model or not isinstance(model, MetaModel):
            return model
        return replace(
            model.asking(own.model_id),
            temperature=own.temperature,
            top_p=own.top_p,
            effort=own.effort,
        )

    def gate(
        self, model: OperatorModel, edits: Sequence[Edit], room: NoteLimits | None = None
    ) -> Passed:
        """Pass edits of the team through the gate, under the model's ceiling."""
        return gate(self.team, edits, catalogue=model.catalogue, ceiling=model.ceiling, room=room)

    async def ask(
        self,
        model: OperatorModel,
        path: str,
        agent: str,
        *,
        operator: str,
        instructions: str,
        schema: Mapping[str, Any],
        read: Callable[[str], Answered],
        meter: Meter,
        salvage: Callable[[str], Answered] | None = None,
        also: str = "",
        inputs: Mapping[str, Any] = NO_INPUTS,
    ) -> Answered | RejectedProposal:
        """Ask an agent in the next turn of its own conversation.

        Args:
            read: Parses the answer, or raises `InvalidAnswer`.
            salvage: Parses what it can of an answer that is still invalid after the repair.
            also: What the agent reads in addition to the task's feedback.
            inputs: The values beside this ground, the agent and its run.
        """
        voice = self.voice(model, agent)
        question = Question(
            operator=operator,
            instructions=instructions,
            material=material(self.feedback.text(voice.limits), also),
            schema=schema,
            read=read,
            parents=(self.team.name,),
            team=self.team,
            conversation=conversation(self.team, self.run.agents[agent]),
            salvage=salvage,
            inputs={"ground": self, "agent": agent, **inputs},
        )
        return await meter.ask(voice, path, question)
