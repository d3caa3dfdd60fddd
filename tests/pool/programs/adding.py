"""Adds teams to a pool that others add to as well: `adding.py POOL WORKER NUMBER`.

Every other team is one that all workers add, each with other names for its agents.
"""

from __future__ import annotations

import sys
from pathlib import Path

from coterie.pool import Pool, Trial
from coterie.pool.ledger.changes import Evaluated
from coterie.schema import Agent, Lineage, Team


def team(worker: int, number: int) -> Team:
    prompt = f"Solve it in {number} steps, " + ("all." if number % 2 else f"for {worker}.")
    names = (f"w{worker}", "judge")
    agents = {
        names[0]: Agent(id=names[0], prompt=prompt),
        names[1]: Agent(id=names[1], prompt="Pick the best."),
    }
    return Team(name="made", agents=agents, reports_to={names[0]: names[1:]})


def main(folder: Path, worker: int, count: int) -> None:
    pool = Pool.open(folder)
    for number in range(count):
        op = f"worker {worker}/team {number}"
        name = pool.add(team(worker, number), Lineage(operator="mutate", parents=("made",)), op=op)
        pool.commit(
            Evaluated(member=name.name, trial=Trial(task=op, score=0.5)), op=f"{op}/evaluate"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
