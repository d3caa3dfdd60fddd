"""The company directory: one tool over the colleagues' addresses."""

from __future__ import annotations

from typing import Any

from ..operation import Operation, Workplace
from ..searching import expression_in


def _find(at: Workplace, name: Any = "") -> Any:
    if name == "":
        return "Name not provided."
    occurs = expression_in(name.lower(), ignore_case=False)
    return [address for address in at.tables.directory if occurs(address)]


OPERATIONS = (
    Operation(
        name="company_directory.find_email_address",
        about="Find the addresses of colleagues by a part of a name.",
        parameters={"name": "A first or a last name, not both; a regular expression."},
        run=_find,
    ),
)
