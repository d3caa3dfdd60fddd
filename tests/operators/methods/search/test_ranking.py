"""The best candidate of a task: the highest reward, and no tie for a child."""

from typing import Any

import pytest

from coterie.operators.evolution.candidates import Candidate
from coterie.operators.methods.search.ranking import best_of
from coterie.runtime import Run, Score
from coterie.runtime.values.usage import Usage
from coterie.schema import Lineage

from ....pool.edited_teams import vote


def candidate(number: int, reward: float, *sources: int, tokens: int = 9, **more: Any) -> Candidate:
    run = Run(status=more.pop("status", "done"), usage=Usage(prompt_tokens=tokens))
    return Candidate(
        number=number,
        team=vote(),
        lineage=Lineage(operator="mutate" if sources else "select"),
        sources=sources,
        runs=[(run, Score(value=reward, reason="so"))],
        rewards=[reward],
        **more,
    )


@pytest.mark.parametrize(
    ("tried", "best"),
    [
        ([candidate(0, 0.5), candidate(1, 0.6, 0)], 1),
        ([candidate(0, 0.5), candidate(1, 0.5, 0, tokens=1)], 0),
        ([candidate(0, 0.5), candidate(1, 0.2, 0), candidate(2, 0.5, 1, tokens=1)], 0),
        ([candidate(0, 0.2), candidate(1, 0.5, member="vote"), candidate(2, 0.5, 0, tokens=1)], 2),
        ([candidate(0, 0.5, tokens=5), candidate(1, 0.5, tokens=4), candidate(2, 0.5, 0, 1)], 1),
        ([candidate(0, 0.5, tokens=5), candidate(1, 0.2), candidate(2, 0.5, 1, tokens=5)], 0),
        ([candidate(0, 0.1), candidate(1, 0.9, 0, status="failed")], 0),
        ([candidate(0, 0.5, status="failed"), candidate(1, 0.5, 0)], 1),
    ],
    ids=[
        "a child that gains",
        "a tie with the parent, though cheaper",
        "a tie with the grandparent",
        "a tie with an unrelated team of the pool: the cheaper",
        "a tie with both parents: the cheaper of them",
        "a tie in tokens too: the first",
        "a child that did not run",
        "a parent that did not run",
    ],
)
def test_ties_go_to_the_parent_then_to_the_cheaper(tried: list[Candidate], best: int) -> None:
    assert best_of(tried).number == best
    assert best_of(tried[::-1]).number == best
