"""The six domains of the workplace. `OPERATIONS` has all 27 tools by name."""

from __future__ import annotations

from types import MappingProxyType

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
        "calendar": calendar.OPERATIONS,
        "email": email.OPERATIONS,
        "analytics": analytics.OPERATIONS,
        "project_management": project_management.OPERATIONS,
        "customer_relationship_manager": customer_relationship_manager.OPERATIONS,
        "company_directory": company_directory.OPERATIONS,
    }
)
"""The tools of each domain, as the original names it."""

OPERATIONS = MappingProxyType(
    {operation.name: operation for operations in DOMAINS.values() for operation in operations}
)
"""All tools, by name."""
