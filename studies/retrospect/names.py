"""The names that a team of the world may use; made once a process."""

from __future__ import annotations

import functools

from coterie.schema.host.catalogue import Catalogue
from coterie.schema.host.models import Model
from coterie.schema.loading.ceiling import CapabilityPolicy

__all__ = ["CEILING", "LEAD", "META", "MODEL", "catalogue"]

LEAD = "foreman"
"""Who begins, and hands in."""
META = "meta"
"""The alias of the model that operators ask."""
MODEL = "default"
"""The alias of the model that agents ask, at work and when they look back."""
CEILING = CapabilityPolicy(
    models=frozenset({MODEL}), agent_types=frozenset({"LLM"}), backends=frozenset({"llm"})
)


@functools.cache
def catalogue() -> Catalogue:
    """Give the names that are known."""
    models = {alias: Model(alias=alias, model=f"simulated/{alias}") for alias in (MODEL, META)}
    return Catalogue.of_host(models=models)
