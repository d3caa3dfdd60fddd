"""The names that teams of the landscape may use, and teams read by them; made once a process."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

from coterie.schema.host.catalogue import Catalogue
from coterie.schema.host.models import Model
from coterie.schema.loading.ceiling import CapabilityPolicy
from coterie.schema.loading.loading import parse_team

from .landscapes import MODELS

if TYPE_CHECKING:
    from coterie.schema.team.team import Team

__all__ = ["CEILING", "META", "MOST_AGENTS", "catalogue", "seed_files", "shown_team"]

META = "meta"
"""The alias of the model that operators ask."""
MOST_AGENTS = 4
CEILING = CapabilityPolicy(
    models=frozenset(MODELS),
    agent_types=frozenset({"LLM"}),
    backends=frozenset({"llm"}),
    agents=MOST_AGENTS,
)
"""Every agent asks a model: the rules know no functions."""
TEAMS = Path(__file__).parent / "teams"


@functools.cache
def catalogue() -> Catalogue:
    """Give the names that are known."""
    models = {alias: Model(alias=alias, model=f"simulated/{alias}") for alias in (*MODELS, META)}
    return Catalogue.of_host(models=models)


def seed_files(*names: str) -> list[Path]:
    """Find teams of the landscape by name."""
    return [TEAMS / f"{one}.yaml" for one in names]


@functools.lru_cache(maxsize=2_000)
def shown_team(text: str) -> Team:
    """Read a team as a question shows it."""
    return parse_team(text.partition("\n\n# ")[0].encode(), "team.yaml", catalogue())
