"""The company directory: one tool over the colleagues' addresses."""

from __future__ import annotations

from typing import Any

from ..operation import Workplace, reads
from ..searching import expression_in


@reads(name="A first or a last name, not both; a regular expression.")
def find_email_address(at: Workplace, name: Any = "") -> Any:
    """Find the addresses of colleagues by a part of a name."""
    if name == "":
        return "Name not provided."
    occurs = expression_in(name.lower(), ignore_case=False)
    return [address for address in at.tables.directory if occurs(address)]
