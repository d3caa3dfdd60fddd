"""Routing: a single agent or the team, by what a case looks like (MATTRL §5.2).

`features` counts properties of a task's text. `cases` holds the results of both on a train split.
`fit` makes a router from them, and `figures` measures its worth, next to both constants and the
oracle. All of it is pure.
"""

from .cases import ROUTED, Case, CaseSpending, Choice, RoutingOutcome, cases_of
from .decisions import Always, Condition, Decision, Linear, Rule
from .features import COMPUTED, GAUGED, Features, computed
from .figures import RouterFigures, figures
from .fitting import Router, fit
from .learners import By, missing

__all__ = [
    "COMPUTED",
    "GAUGED",
    "ROUTED",
    "Always",
    "By",
    "Case",
    "CaseSpending",
    "Choice",
    "Condition",
    "Decision",
    "Features",
    "Linear",
    "Router",
    "RouterFigures",
    "RoutingOutcome",
    "Rule",
    "cases_of",
    "computed",
    "figures",
    "fit",
    "missing",
]
