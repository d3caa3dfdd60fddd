"""How decisions are fitted to cases: rules of one or two conditions, or a logistic regression.

Each learner has levels of rising complexity. Level 0 is the better of both constants. Which level
to use is decided by cross-validation, in `fitting`.
"""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal

from ...schema.values.errors import InputError
from ...schema.values.extras import how_to_get
from .decisions import Always, Condition, Linear, Rule
from .features import COMPUTED, GAUGED

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .cases import Case
    from .decisions import Decision

    FloatArray = NDArray[np.float64]

By = Literal["rule", "logistic"]
"""The kinds of learner."""
Fit = Callable[[Sequence["Case"], float], "Decision"]

MOST_THRESHOLDS = 12
"""The most thresholds of a feature; if more would be distinct, they are spread over quantiles."""
STRENGTHS = (0.03, 0.3, 3.0)
"""Inverse strengths of regularisation of a logistic regression, the strongest first."""
DIGITS = 9
"""The digits of compared sums; further digits are rounding errors of binary fractions."""


def missing(by: By) -> str | None:
    """Return how to install what a learner lacks; None if it lacks nothing."""
    is_there = by != "logistic" or importlib.util.find_spec("sklearn") is not None
    return None if is_there else _without_sklearn()


def better_constant(cases: Sequence[Case], beta: float) -> Always:
    """Return the side that is worth more, single agent or team; on a tie, the cheaper one."""
    gain = round(sum(_gains(cases, beta)), DIGITS)
    extra = sum(item.team.spent.calls - item.single.spent.calls for item in cases)
    return Always(choice="team" if gain > 0 or (gain == 0 and extra < 0) else "single")


def _gains(cases: Sequence[Case], beta: float) -> list[float]:
    return [item.team.worth(beta) - item.single.worth(beta) for item in cases]


def _complete(cases: Sequence[Case]) -> tuple[tuple[str, ...], list[Case]]:
    """Return the features that any case has, and the cases that have all of them."""
    order = {name: place for place, name in enumerate((*COMPUTED, *GAUGED))}
    texts = sorted(
        {name for item in cases for name in item.features},
        key=lambda name: (order.get(name, len(order)), name),
    )
    return tuple(texts), [item for item in cases if item.features.keys() >= {*texts}]


def _stump(cases: Sequence[Case], beta: float) -> Decision:
    """Return the best rule of one condition on the cases, by trying all."""
    import numpy as np

    constant = better_constant(cases, beta)
    cuts, hold, gains, prices = _conditions(cases, beta)
    if not cuts:
        return constant
    best = int(np.argmax(np.round(hold @ gains - prices, DIGITS)))
    return Rule(conditions=(_condition(cuts, best),), unknown=constant.choice)


def _pair(cases: Sequence[Case], beta: float) -> Decision:
    """Return the best rule of two conditions on the cases, by trying all."""
    import numpy as np

    constant = better_constant(cases, beta)
    cuts, hold, gains, prices = _conditions(cases, beta)
    if not cuts:
        return constant
    both = (hold * gains) @ hold.T
    either = np.add.outer(hold @ gains, hold @ gains) - both
    dearer = np.maximum.outer(prices, prices)
    array = np.round(np.stack([both - dearer, either - dearer]), DIGITS)
    joined, *places = map(int, np.unravel_index(int(np.argmax(array)), array.shape))
    return Rule(
        conditions=tuple(dict.fromkeys(_condition(cuts, place) for place in places)),
        joined="any" if joined else "all",
        unknown=constant.choice,
    )


def _conditions(
    cases: Sequence[Case], beta: float
) -> tuple[list[tuple[str, float]], FloatArray, FloatArray, FloatArray]:
    """Return all conditions that distinguish cases with known features.

    Returns:
        The cuts, each a feature and a threshold. The cases for which each condition holds, two rows
        for a cut. The team's gain on each of these cases. The total cost of each condition's
        feature.
    """
    import numpy as np

    names, complete = _complete(cases)
    values = {name: np.array([item.features[name] for item in complete]) for name in names}
    cuts = [(name, at) for name in names for at in _thresholds(values[name].tolist())]
    above = np.array([values[name] > at for name, at in cuts], bool).reshape(
        len(cuts), len(complete)
    )
    hold = np.stack([above, ~above], axis=1).reshape(2 * len(cuts), len(complete))
    price = beta * sum(item.gauging.cost for item in complete)
    prices = np.repeat([price * (name in GAUGED) for name, _ in cuts], 2)
    return cuts, hold, np.array(_gains(complete, beta)), prices


def _condition(cuts: Sequence[tuple[str, float]], place: int) -> Condition:
    """Return a condition by its row: each cut has one row for above, and one for not above."""
    feature, threshold = cuts[place // 2]
    return Condition(feature=feature, threshold=threshold, above=place % 2 == 0)


def _thresholds(values: Sequence[float]) -> list[float]:
    """Return the midpoints between neighbouring values; if there are many, only at quantiles."""
    ranked = sorted(values)
    between = [(low, high) for low, high in itertools.pairwise(ranked) if low < high]
    if len(between) > MOST_THRESHOLDS:
        parts = range(1, MOST_THRESHOLDS + 1)
        cuts = {ranked[len(ranked) * part // (MOST_THRESHOLDS + 1)] for part in parts}
        between = [pair for pair in between if pair[0] in cuts]
    return [(low + high) / 2 for low, high in between]


def _logistic(strength: float) -> Fit:
    def fit(cases: Sequence[Case], beta: float) -> Decision:
        return _regression(cases, beta, strength)

    return fit


def _regression(cases: Sequence[Case], beta: float, strength: float) -> Decision:
    """Fit a logistic regression of which side is worth more; each case is weighted by the gain."""
    constant = better_constant(cases, beta)
    names, complete = _complete(cases)
    gains = _gains(complete, beta)
    pairs = [
        (item, gain) for item, gain in zip(complete, gains, strict=True) if round(gain, DIGITS)
    ]
    if len({gain > 0 for _, gain in pairs}) < 2 or not names:
        return constant
    middles = {name: fmean(item.features[name] for item in complete) for name in names}
    spreads = {name: _spread([item.features[name] for item in complete]) for name in names}
    rows = [
        [(item.features[name] - middles[name]) / spreads[name] for name in names]
        for item, _ in pairs
    ]
    model: Any = _sklearn(C=strength, max_iter=1_000)
    model.fit(rows, [gain > 0 for _, gain in pairs], [abs(gain) for _, gain in pairs])
    weights = [float(item) for item in model.coef_[0]]
    return Linear(
        weights=dict(zip(names, weights, strict=True)),
        middles=middles,
        spreads=spreads,
        bias=float(model.intercept_[0]),
    )


def _spread(values: Sequence[float]) -> float:
    middle = fmean(values)
    return fmean((value - middle) ** 2 for value in values) ** 0.5 or 1.0


def _sklearn(**options: Any) -> Any:
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError as error:
        raise InputError(_without_sklearn()) from error
    return LogisticRegression(**options)


LEARNERS: dict[By, tuple[Fit, ...]] = {
    "rule": (better_constant, _stump, _pair),
    "logistic": (better_constant, *map(_logistic, STRENGTHS)),
}
"""The levels of each learner: fits of rising complexity, for at least one case and `beta`. A fit
**must** return the same decision for the same cases in the same order."""


def _without_sklearn() -> str:
    return (
        "by: logistic needs scikit-learn, which is not installed. Install the extra"
        f" ({how_to_get('router')}), or write by: rule."
    )
