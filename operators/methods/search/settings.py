"""The recipe settings of strategies that search among candidates; see `search.schema.json`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Self

from ....schema.values.problems import quoted
from ...evolution.strategy import read_schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ....schema.edits import Component
    from ....schema.loading.recipe import Recipe
    from ...evolution.strategy import Need

Move = Literal["mutate", "crossover"]


PROTOCOL: Mapping[str, Any] = MappingProxyType({"admission": "best", "early_stop": False})
"""The settings that `preset: paper` fixes; a recipe may not contradict them (EvoMAS §3.2.3,
Eq. 5)."""
PUBLISHED: tuple[Component, ...] = ("prompts", "model_id", "tools", "topology")
"""The components that the paper's mutations touch (App. C.1)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchSettings:
    """Settings of a search. Its schema has the fields; `mas dev explain settings` shows them.

    The baselines share them and use only those that apply. So changing one word turns a recipe into
    its own baseline.
    """

    preset: Literal["lean", "paper"] = "lean"
    parents: int = 3
    steps: int = 3
    instantiate: bool = True
    operators: Literal["model", "chance"] = "model"
    moves: tuple[Move, ...] = ("mutate", "crossover")
    choice: Literal["model", "schedule", "outcome", "chance"] = "model"
    select: Literal["model", "statistics", "chance"] = "model"
    parent: Literal["promising", "best", "chance"] = "promising"
    trace: bool = True
    components: tuple[Component, ...] = ("prompts", "model_id", "tools", "topology", "parameters")
    crossover: tuple[float, ...] = (0.0, 0.67)
    memory: int = 3
    repeats: int = 1
    admission: Literal["gain", "best", "none"] = "gain"
    margin: float = 0
    cap: int | None = None
    early_stop: bool = True

    @classmethod
    def of(cls, **fields: Any) -> Self:
        """Return settings from the fields of a recipe; its preset decides the others."""
        if fields.get("preset") == "paper":
            fields = {**PROTOCOL, "components": PUBLISHED, **fields}
        return cls(**fields)

    @property
    def asks(self) -> bool:
        """Whether some operator calls the meta-model."""
        writes = self.operators == "model" and (self.instantiate or self.steps > 0)
        chooses = self.select == "model" or (self.choice == "model" and self.steps > 0)
        return writes or chooses or self.memory > 0

    @property
    def needs(self) -> frozenset[Need]:
        """The needs of a search with operators."""
        needs: set[Need] = {"teams", "children"}
        if self.asks:
            needs.add("meta_model")
        if self.memory:
            needs.add("memory")
        if self.choice == "outcome":
            needs.add("past")
        return frozenset(needs)


SCHEMA = read_schema(Path(__file__).with_name("search.schema.json"), SearchSettings)


def check(settings: SearchSettings, written: Mapping[str, Any]) -> dict[str, str]:
    """Return the fields of a recipe that its other settings contradict or leave without effect."""
    fields: dict[str, str] = {}
    if settings.preset == "paper":
        fields |= {
            name: f"preset: paper goes with {name}: {str(value).lower()}. Leave one of them out."
            for name, value in PROTOCOL.items()
            if written.get(name, value) != value
        }
    if "crossover" in written and settings.choice == "model":
        fields["crossover"] = (
            f"{quoted(written['crossover'])} is drawn from only where the meta-model does not"
            " decide. Write choice: chance beside it; or leave it out, and for no crossover at all"
            " write moves: [mutate]."
        )
    if "margin" in written and settings.admission != "gain":
        fields["margin"] = (
            f"{quoted(written['margin'])} is looked at only with admission: gain, and here is"
            f" admission: {settings.admission}. Leave one of them out."
        )
    return fields


def check_recipe(recipe: Recipe) -> dict[str, str]:
    """Return the settings that the recipe's other fields contradict, with reasons.

    The published protocol works on one task at a time, with rewards from a judge (§3.2.3, §4.1).
    """
    settings: SearchSettings = recipe.settings
    if settings.preset != "paper" or (recipe.workers, recipe.score) == (1, "judge"):
        return {}
    here = f"workers: {recipe.workers} and score: {recipe.score}"
    why = (
        f"paper goes with workers: 1 and score: judge, and here are {here}. Write workers: 1 and"
        " score: judge into the recipe, or leave preset out."
    )
    return {"preset": why}
