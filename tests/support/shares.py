"""A share of the cases of a test on every change, all of them nightly."""

from collections.abc import Iterable
from typing import Any

import pytest


def every(step: int, cases: Iterable[Any]) -> list[Any]:
    """Leave all but each so many-th case to the night; no number of kinds is to be its multiple."""
    return [
        case
        if place % step == 0
        else pytest.param(
            *(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.nightly
        )
        for place, case in enumerate(cases)
    ]
