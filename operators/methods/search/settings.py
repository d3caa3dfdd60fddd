"""What strategies that search among candidates let recipes set; `search.schema.json` tells it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ....schema.values.problems import quoted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ....schema.edits import Component
    from ...evolution.strategy import Need

__all__ = ["SCHEMA", "SearchSettings", "check", "read_schema"]

Move = Literal["mutate", "crossover"]


def read_schema(path: Path) -> Mapping[str, Any]:
    """Read a JSON Schema that stands in a file of its own."""
    return json.loads(path.read_text(encoding="utf-8"))


SCHEMA = read_schema(Path(__file__).with_name("search.schema.json"))


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchSettings:
    """Settings of a search. The fields are those of its schema; `mas explain settings` tells them.

    The baselines have the same, and read of them what they have a use for: so one word makes a
    recipe its own baseline.
    """

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

    @property
    def asks(self) -> bool:
        """Whether some operator asks the meta-model."""
        writes = self.operators == "model" and (self.instantiate or self.steps > 0)
        chooses = self.select == "model" or (self.choice == "model" and self.steps > 0)
        return writes or chooses or self.memory > 0

    @property
    def needs(self) -> frozenset[Need]:
        """What a search with operators needs."""
        needs: set[Need] = {"teams", "children"}
        if self.asks:
            needs.add("meta_model")
        if self.memory:
            needs.add("memory")
        if self.choice == "outcome":
            needs.add("past")
        return frozenset(needs)


def check(settings: SearchSettings, said: Mapping[str, Any]) -> dict[str, str]:
    """Find fields that somebody wrote and that nothing would read beside the others."""
    found: dict[str, str] = {}
    if "crossover" in said and settings.choice == "model":
        found["crossover"] = (
            f"{quoted(said['crossover'])} is drawn from only where the meta-model does not decide."
            " Write choice: chance beside it; or leave it out, and for no crossover at all write"
            " moves: [mutate]."
        )
    if "margin" in said and settings.admission != "gain":
        found["margin"] = (
            f"{quoted(said['margin'])} is looked at only with admission: gain, and here is"
            f" admission: {settings.admission}. Leave one of them out."
        )
    return found
