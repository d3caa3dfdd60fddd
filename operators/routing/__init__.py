"""Routing: a single agent or the team, by what a case looks like (MATTRL §5.2).

`features` counts what stands in a task; `cases` holds how both did on the cases of a train split;
`fit` makes a router of them, and `figures` says what it is worth, with both constants and the
oracle beside it. All of it is pure.
"""

from .cases import ROUTED, Case, Choice, Side, Spending, cases_of
from .decisions import Always, Condition, Decision, Linear, Rule
from .features import COMPUTED, GAUGED, Features, computed
from .figures import Arm, Figures, Gain, figures
from .fitting import FEWEST, FOLDS, Router, fit
from .learners import By, missing

__all__ = [
    "COMPUTED",
    "FEWEST",
    "FOLDS",
    "GAUGED",
    "ROUTED",
    "Always",
    "Arm",
    "By",
    "Case",
    "Choice",
    "Condition",
    "Decision",
    "Features",
    "Figures",
    "Gain",
    "Linear",
    "Router",
    "Rule",
    "Side",
    "Spending",
    "cases_of",
    "computed",
    "figures",
    "fit",
    "missing",
]
