"""A score: how good an answer is, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from ...schema.values.codec import stored


@stored(closed=True)
class Score:
    """How good an answer is.

    Attributes:
        value: From 0 (wrong) to 1 (right).
        measures: Other measurements, by name, such as `side_effects`.
        log: Details for people, such as the output of tests. At most some hundred kilobytes: there
            is one for every trial.
    """

    value: float
    reason: str
    measures: Mapping[str, float] = field(default_factory=dict[str, float])
    log: str = ""
