"""What a recipe may set for a race; `race.schema.json` describes it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ...evolution.strategy import read_schema
from .drawn import KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ....schema.edits import Component
    from ...evolution.strategy import Need

HYPOTHESIS = "hypothesis"
"""The kind of proposal that asks the meta-model."""
MERGE = "merge"
"""The kind of proposal that adds the edits of one candidate to another."""
COMPONENTS: tuple[Component, ...] = (
    "prompts", "model_id", "tools", "topology", "parameters", "roster"
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class RaceSettings:
    """Settings of a race. Its schema has the fields; `mas dev explain settings` shows them."""

    kinds: tuple[str, ...] = (HYPOTHESIS, MERGE, *KINDS)
    components: tuple[Component, ...] = COMPONENTS
    feedback: Literal["answers", "scores"] = "answers"
    runs: int = 600
    library: tuple[str, ...] = (
        "seed:majority_vote_3",
        "seed:debate_3",
        "seed:translate_and_calculate",
    )


SCHEMA = read_schema(Path(__file__).with_name("race.schema.json"), RaceSettings)


def needs(settings: RaceSettings) -> frozenset[Need]:
    """Return the needs of a race: a team, room for children, perhaps a meta-model."""
    needed: set[Need] = {"teams", "children"}
    if HYPOTHESIS in settings.kinds:
        needed.add("meta_model")
    return frozenset(needed)


def check(settings: RaceSettings, written: Mapping[str, Any]) -> dict[str, str]:
    """Return what is wrong with settings, by field."""
    del written
    kinds = {HYPOTHESIS, MERGE, *KINDS}
    if unknown := sorted(set(settings.kinds) - kinds):
        return {"kinds": f"no kind {unknown[0]!r}. Known: {', '.join(sorted(kinds))}."}
    return {}
