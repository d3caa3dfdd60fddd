"""A pool with a past: children, retired teams, rejections, and scores in niches."""

from pathlib import Path

import pytest

from coterie.pool import Pool
from coterie.pool.ledger.changes import ChildRejected, Retired
from coterie.schema import Lineage

from ..edited_teams import child_of, edited, pool_of, scored, tried, vote

NASTY = "\x1b]0;title\x07\x1b[31mred\u202e"


@pytest.fixture
def pool(tmp_path: Path) -> Pool:
    """vote_1 is the best, guess is cheaper than vote at the same score, vote_2 was retired."""
    pool = pool_of(tmp_path / "pool", vote(), vote("Guess.", "Check.", name="guess"))
    born = Lineage(operator="mutate", parents=("vote",), reason="It rambles.", task="t", run="r-1")
    pool.add(edited(vote(), max_tokens=9), born, op="m")
    child_of(pool, "vote_1", "guess", operator="crossover", prompt="Solve it well.")
    scored(pool, "vote", 0.5, 0.5, niche="dates", usd=0.02)
    scored(pool, "vote_1", 1, 1, 0.8, niche="dates", usd=0.01)
    scored(pool, "vote_1", 0, niche="ages", usd=0.01)
    scored(pool, "guess", 0.5, niche="ages", usd=0.01)
    pool.commit(tried("vote", "x", reason="down"), op="x")
    pool.commit(tried("guess", "y", 1, split="test"), op="y")
    pool.commit(
        ChildRejected(
            operator="mutate", reason=f"no team {NASTY}", problems=["a cycle"], parents=["vote"]
        ),
        op="j",
    )
    pool.add(vote(), Lineage(operator="mutate", parents=("vote_1",)), op="twin")
    pool.commit(Retired(member="vote_2", reason="weak"), op="retire")
    return pool
