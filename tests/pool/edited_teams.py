"""Small teams for the tests of pools, and pools of them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from coterie.pool import Pool, Trial
from coterie.pool.ledger.changes import Evaluated
from coterie.runtime.values.usage import Usage
from coterie.schema import Agent, Lineage, Team

SEED = Lineage(operator="seed")


def vote(*prompts: str, name: str = "vote", **fields: Any) -> Team:
    """A team of workers with these prompts, who report to a judge."""
    prompts = prompts or ("Solve it.", "Solve it twice.")
    workers = {f"w{n}": Agent(id=f"w{n}", prompt=prompt) for n, prompt in enumerate(prompts, 1)}
    judge = Agent(id="judge", prompt="Pick the best.")
    reports_to = dict.fromkeys(workers, ("judge",))
    return Team(name=name, agents={**workers, "judge": judge}, reports_to=reports_to, **fields)


def edited(team: Team, agent: str = "w1", **fields: Any) -> Team:
    """The same team with other fields of an agent."""
    agents = {**team.agents, agent: replace(team.agents[agent], **fields)}
    return replace(team, agents=agents)


def pool_of(folder: Path, *teams: Team) -> Pool:
    """A new pool with these teams as seeds."""
    pool = Pool.init(folder)
    for team in teams:
        pool.add(team, SEED, op=f"seed/{team.name}")
    return pool


def child_of(
    pool: Pool, *parents: str, op: str = "", operator: str = "mutate", **fields: Any
) -> str:
    """Add a child of teams of a pool whose first worker has these fields; give its name."""
    team = edited(pool.member(parents[0]).team, **fields)
    born = Lineage(operator=operator, parents=parents)
    return pool.add(team, born, op=op or f"child/{parents}/{fields}").name


def tried(name: str, task: str, score: float | None = None, **fields: Any) -> Evaluated:
    """A trial of a team, as a change of its pool."""
    return Evaluated(member=name, trial=Trial(task=task, score=score, **fields))


def scored(pool: Pool, name: str, *scores: float, niche: str | None = None, **fields: Any) -> None:
    """Record evaluations of a team, each on a task of its own."""
    for number, score in enumerate(scores):
        usage = Usage(calls=1, prompt_tokens=90, completion_tokens=10, **fields)
        trial = tried(name, f"{niche}-{number}", score, niche=niche, usage=usage)
        pool.commit(trial, op=f"{name}/{niche}/{number}")
