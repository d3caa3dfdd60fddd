"""Credit: what an agent, or one utterance of it, was worth to its team (MATTRL §3.2, §5.1).

`turns` distributes a run's score over its turns and agents, and selects utterances worth keeping.
`games` computes the worth of players from the values of coalitions. Both are pure.
"""

from .games import (
    CreditEstimate,
    averaged,
    difference,
    orders,
    prefixes,
    shapley,
    subsets,
)
from .turns import decay_weights, fused, ratios, selected

__all__ = [
    "CreditEstimate",
    "averaged",
    "decay_weights",
    "difference",
    "fused",
    "orders",
    "prefixes",
    "ratios",
    "selected",
    "shapley",
    "subsets",
]
