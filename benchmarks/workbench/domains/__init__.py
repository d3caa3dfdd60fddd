"""The six domains of the workplace. `OPERATIONS` has all 27 tools by name."""

from __future__ import annotations

from types import MappingProxyType

from ..operation import Operation
from . import (
    analytics,
    calendar,
    company_directory,
    customer_relationship_manager,
    email,
    project_management,
)

__all__ = ["DOMAINS", "OPERATIONS"]

DOMAINS = MappingProxyType(
    {
        module.__name__.rpartition(".")[2]: tuple(
            item for item in vars(module).values() if isinstance(item, Operation)
        )
        for module in (
            calendar,
            email,
            analytics,
            project_management,
            customer_relationship_manager,
            company_directory,
        )
    }
)
"""The tools of each domain, as the original names it."""

OPERATIONS = MappingProxyType(
    {operation.name: operation for operations in DOMAINS.values() for operation in operations}
)
"""All tools, by name."""
