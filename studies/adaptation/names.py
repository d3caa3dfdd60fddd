"""The names that teams of the landscape may use; made once a process."""

from __future__ import annotations

import functools
from types import MappingProxyType
from typing import TYPE_CHECKING

from coterie.schema.host.catalogue import Catalogue
from coterie.schema.host.models import Model
from coterie.schema.loading.ceiling import CapabilityPolicy
from coterie.schema.team.team import Agent

from .sheets import CRAFTS

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CEILING", "META", "MODEL", "ROLES", "catalogue"]

META = "meta"
"""The alias of the model that operators ask."""
MODEL = "worker"
"""The alias of the model that agents ask."""
MOST_AGENTS = 10
CEILING = CapabilityPolicy(
    models=frozenset({MODEL}),
    agent_types=frozenset({"LLM"}),
    backends=frozenset({"llm"}),
    agents=MOST_AGENTS,
)
ROLES: Mapping[str, Agent] = MappingProxyType(
    {
        craft: Agent(id=craft, role=craft, model_id=MODEL, prompt="Do your part of the sheet.")
        for craft in CRAFTS
    }
)
"""The catalogue of roles: one for each craft."""


@functools.cache
def catalogue() -> Catalogue:
    """Give the names that are known."""
    models = {alias: Model(alias=alias, model=f"simulated/{alias}") for alias in (MODEL, META)}
    return Catalogue.of_host(models=models)
