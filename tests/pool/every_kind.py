"""A pool with a line of every kind, and how a line is sealed, for tests of what reads them."""

import zlib
from pathlib import Path

from coterie.pool.ledger.changes import (
    Added,
    ChildRejected,
    Evaluated,
    EventNoted,
    Learnt,
    Restored,
    Retired,
    Revised,
)
from coterie.pool.values.statistics import Trial, TrialPart
from coterie.schema import Agent, Lineage

from .edited_teams import child_of, pool_of, vote


def pool_of_every_kind(folder: Path) -> Path:
    """Make the pool; give its folder."""
    pool = pool_of(folder, vote())
    child_of(pool, "vote", prompt="Think.")
    ada = Agent(id="ada", prompt="Solve it.")
    pool.commit(Added(member=ada, lineage=Lineage(operator="genesis")), op="a1")
    fork = Lineage(operator="fork", parents=("ada",))
    pool.commit(Added(member=ada, lineage=fork, inherits=("ada",)), op="a2")
    pool.commit(Revised(agent="ada", to=Agent(id="ada", prompt="Think.")), op="a3")
    worked = Trial(task="t1", score=0.5, niche="n", agents={"x": TrialPart(member="ada")}, run="r")
    pool.commit(Evaluated(member="vote", trial=worked), op="e1")
    pool.commit(Evaluated(member="vote", trial=Trial(task="t2", reason="no")), op="e2")
    pool.commit(ChildRejected(operator="mutate", reason="x", problems=("a",)), op="j1")
    pool.commit(Retired(member="vote", reason="r"), op="r1")
    pool.commit(Restored(member="vote"), op="r2")
    pool.commit(Learnt(id="l1", kind="case", task="what", text="so", owner="ada"), op="l1")
    pool.commit(EventNoted(what="lifecycle.fork", about={"n": 1}), op="t1")
    return pool.folder


def sealed(text: str) -> bytes:
    """Write a line of a ledger with the seal that fits what it says."""
    content = text.encode().removesuffix(b"}")
    return content + b', "crc": "%08x"}\n' % zlib.crc32(content)
