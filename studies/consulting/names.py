"""The names that the team of the consultation may use; made once a process."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

from coterie.schema import load_team
from coterie.schema.host.catalogue import Catalogue
from coterie.schema.host.models import Model
from coterie.schema.loading.ceiling import CapabilityPolicy

if TYPE_CHECKING:
    from coterie.schema.team.team import Team

__all__ = ["CEILING", "META", "MODEL", "TEAM", "catalogue", "ward"]

META = "meta"
"""The alias of the model that operators ask."""
MODEL = "worker"
"""The alias of the model that agents ask."""
TEAM = Path(__file__).parent / "team.yaml"
CEILING = CapabilityPolicy(
    models=frozenset({MODEL}),
    agent_types=frozenset({"LLM"}),
    backends=frozenset({"llm"}),
)


@functools.cache
def catalogue() -> Catalogue:
    """Give the names that are known."""
    models = {alias: Model(alias=alias, model=f"simulated/{alias}") for alias in (MODEL, META)}
    return Catalogue.of_host(models=models)


@functools.cache
def ward() -> Team:
    """Give the team that consults."""
    return load_team(TEAM, catalogue())
