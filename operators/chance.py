"""Chance: valid edits of one component that no model chose.

The control of every experiment with models as operators: what their edits are worth is how much
more they gain than these, from the same choices and under the same ceiling.
"""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..schema.edits import SetPrompt, component_schema, edits_from_json
from ..schema.team import is_prompt_id
from .answers import Unfit, child_of
from .components import MUTABLE
from .proposal import Dropped, Proposal
from .sampling import sample

if TYPE_CHECKING:
    from ..schema.catalogue import Catalogue
    from ..schema.ceiling import Ceiling
    from ..schema.edits import Component, Edit
    from ..schema.team import Team

__all__ = ["chance"]

OPERATOR = "chance"
TRIES = 20
SENTENCE = re.compile(r"(?<=[.!?:])\s+|\n+")
STOCK = (
    "Think step by step.",
    "Check your result before you answer.",
    "Answer in one sentence.",
    "Give only the final answer.",
    "First restate the task in your own words.",
    "Consider what could go wrong.",
    "Be brief.",
    "Explain your reasoning.",
)
"""What people add to a prompt when they know nothing of the task."""


def chance(
    team: Team,
    component: Component,
    catalogue: Catalogue,
    ceiling: Ceiling,
    *,
    path: str = "",
    seed: int = 0,
    edits: int = 1,
) -> Proposal | Dropped:
    """Make a child by edits that are drawn at random; the same for the same path and seed.

    Args:
        team: The parent. It stays as it is.
        component: What may be touched.
        catalogue: What names are known.
        ceiling: What the child may ask for at most.
        path: Which draw this is: `task 12/step 2/chance`.
        seed: Where chance comes from, together with the path.
        edits: The most edits.

    Raises:
        ValueError: Mutations do not touch this component.
    """
    if component not in MUTABLE:
        raise ValueError(f"a mutation touches one of {', '.join(MUTABLE)}, not {component!r}.")
    draw = _Draw(
        team=team,
        component=component,
        catalogue=catalogue,
        ceiling=ceiling,
        source=random.Random(f"{seed}/{path}/chance"),  # noqa: S311 - guards nothing
        most=edits,
    )
    problems: tuple[str, ...] = ()
    for _ in range(TRIES):
        try:
            return draw.proposal()
        except Unfit as unfit:
            problems = unfit.problems
    why = f"nothing drawn about {component} made another team that may be."
    return Dropped(operator=OPERATOR, reason=why, problems=problems, parents=(team.name,))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Draw:
    """What is drawn from; the fields are the arguments of `chance`."""

    team: Team
    component: Component
    catalogue: Catalogue
    ceiling: Ceiling
    source: random.Random
    most: int

    def proposal(self) -> Proposal:
        """Draw edits and make their child.

        Raises:
            Unfit: There is no such child, or it is no other than its parent.
        """
        drawn = self._prompts() if self.component == "prompts" else self._values()
        if not drawn:
            raise Unfit(f"there is nothing to change about {self.component}.")
        child = child_of(self.team, drawn, self.catalogue, self.ceiling)
        if child.content_hash == self.team.content_hash:
            raise Unfit("the edits change nothing that is run.")
        return Proposal(
            operator=OPERATOR,
            parents=(self.team.name,),
            edits=drawn,
            reason="Drawn at random.",
            child=child,
            component=self.component,
        )

    def _prompts(self) -> tuple[Edit, ...]:
        texts, source = _texts(self.team, self.catalogue), self.source
        agents = source.sample(sorted(texts), min(len(texts), source.randint(1, self.most)))
        return tuple(SetPrompt(agent=one, prompt=_reworded(one, texts, source)) for one in agents)

    def _values(self) -> tuple[Edit, ...]:
        """Draw from what a model would be offered."""
        schema = component_schema(
            self.component, self.team, self.catalogue, self.ceiling, most=self.most
        )
        if schema is None:
            return ()
        texts = _texts(self.team, self.catalogue).values()
        words = sorted({word for text in texts for word in text.split()}) or ["yes", "no"]
        return edits_from_json(json.dumps(sample(schema, self.source, words)))


def _texts(team: Team, catalogue: Catalogue) -> dict[str, str]:
    """Give the texts of the prompts of agents that ask a model."""
    return {
        one.id: (catalogue.prompt(one.prompt) or "") if is_prompt_id(one.prompt) else one.prompt
        for one in team.agents.values()
        if team.backend_of(one) != "function"
    }


def _reworded(agent: str, texts: dict[str, str], source: random.Random) -> str:
    """Change a prompt blindly: sentences go, come, change places, or are another agent's."""
    sentences = [one for one in SENTENCE.split(texts[agent]) if one.strip()]
    place = source.randrange(len(sentences) + 1)
    match source.choice(["add", "drop", "swap", "borrow"]):
        case "drop" if len(sentences) > 1:
            del sentences[min(place, len(sentences) - 1)]
        case "swap":
            source.shuffle(sentences)
        case "borrow":
            return _as_text(texts[source.choice(sorted(texts))])
        case _:
            sentences.insert(place, source.choice(STOCK))
    return _as_text("\n".join(sentences))


def _as_text(prompt: str) -> str:
    """End what reads like the id of a prompt file with a line break: then it is text."""
    return f"{prompt}\n" if is_prompt_id(prompt) else prompt
