"""State between tasks: teams as YAML, the ledger, lineage and memory.

A pool is a folder that a person can open, diff and version. Its text is the truth; statistics,
indexes and vectors are derived from it and can be rebuilt.
"""

from typing import TYPE_CHECKING

from ..schema.values.first_use import on_first_use

if TYPE_CHECKING:
    from .expectation.expectation import (
        Expectation,
        expectations,
        expected_scores,
        most_promising,
        ranked,
    )
    from .git.upkeep import Findings, repair, verify
    from .ledger.ledger import LedgerEntry
    from .ledger.members import Member
    from .ledger.state import Admission
    from .teams.exchange import import_teams
    from .teams.lineage import Origin, ancestors, blame, descendants, steps_to
    from .teams.pool import Pool
    from .values.identity import are_isomorphic, identity_of
    from .values.statistics import EVOLVE, Statistics, Trial

__all__ = [
    "EVOLVE",
    "Admission",
    "Expectation",
    "Findings",
    "LedgerEntry",
    "Member",
    "Origin",
    "Pool",
    "Statistics",
    "Trial",
    "ancestors",
    "are_isomorphic",
    "blame",
    "descendants",
    "expectations",
    "expected_scores",
    "identity_of",
    "import_teams",
    "most_promising",
    "ranked",
    "repair",
    "steps_to",
    "verify",
]

__getattr__ = on_first_use(__name__)
