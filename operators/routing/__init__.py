"""Routing: a single agent or the team, by what a case looks like (MATTRL §5.2).

`features` counts what stands in a task; `cases` holds how both did on the cases of a train split;
`fit` makes a router of them, and `figures` says what it is worth, with both constants and the
oracle beside it. All of it is pure.
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
