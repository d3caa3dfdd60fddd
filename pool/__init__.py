"""What is kept between tasks: teams as YAML, the ledger, lineage and memory.

A pool is a folder that a person can open, diff and version. Its text is the truth; statistics,
indexes and vectors are derived from it and can be rebuilt.
"""

from .exchange import import_teams
from .expectation import Expectation, expectations, expected_scores, most_promising, ranked
from .identity import are_twins, identity_of
from .ledger import Entry
from .lineage import Origin, ancestors, blame, descendants, steps_to
from .members import Member
from .pool import Pool
from .state import Admission
from .statistics import EVOLVE, Statistics, Trial
from .upkeep import Findings, repair, verify

__all__ = [
    "EVOLVE",
    "Admission",
    "Entry",
    "Expectation",
    "Findings",
    "Member",
    "Origin",
    "Pool",
    "Statistics",
    "Trial",
    "ancestors",
    "are_twins",
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
