"""Ledgers of pools in which anything may have happened, drawn at random, written without a disk."""

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from coterie.pool.ledger.changes import (
    ChildRejected,
    Evaluated,
    EventNoted,
    Learnt,
    Of,
    Restored,
    Retired,
    Revised,
)
from coterie.pool.ledger.ledger import line_of
from coterie.pool.ledger.scaffold import HEAD
from coterie.pool.ledger.state import first_line
from coterie.pool.values.statistics import Trial, TrialPart
from coterie.runtime.values.usage import Usage
from coterie.schema import Agent

SPLITS = ("evolve", "evolve", "evolve", "test")
NICHES = (None, "sums", "dates")
EVOLUTIONS = ("evomas", "ours/long")


class History:
    """A history that is drawn line by line."""

    def __init__(self, chance: Random, *, shared: bool = False) -> None:
        self.chance = chance
        self.lines = [line_of(first_line(shared=shared), "pool")]
        self.teams: list[str] = []
        self.agents: list[str] = []
        self.learnt: list[str] = []

    def go_on(self, lines: int) -> None:
        """Let so many things happen."""
        kinds: list[Callable[[], Mapping[str, Any]]] = [
            self._team, self._agent, self._twin, self._trial, self._trial, self._trial,
            self._rejected, self._moved, self._revised, self._learn, self._learn, self._told,
        ]  # fmt: skip
        for number in range(lines):
            if self.chance.random() < 0.05:
                self.lines.append(self.chance.choice(self.lines))  # as a merge may leave it
            happens = self.chance.choice(kinds) if self.teams and self.agents else None
            value = (happens or (self._agent if self.teams else self._team))()
            op = f"{self.chance.choice(EVOLUTIONS)}/{number // 3:06d}/{len(self.lines)}"
            if value["kind"] == "learnt":
                self.learnt.append(op)
            files = [f"teams/{value['team']}.yaml"] if "identity" in value else []
            self.lines.append(line_of(value, op, files))

    def _lineage(self, known: list[str]) -> dict[str, Any]:
        parents = self.chance.sample(known, min(len(known), self.chance.randrange(3)))
        return {"operator": "mutate", **({"parents": parents} if parents else {})}

    def _team(self) -> Mapping[str, Any]:
        name, lineage = f"team_{len(self.teams)}", self._lineage(self.teams)
        self.teams.append(name)
        identity = f"{self.chance.randrange(4):032x}"
        return {
            "kind": "born", "team": name, "identity": identity, "content_hash": "0" * 64,
            "lineage": {**lineage, "task": "t1", "run": "r"},
        }  # fmt: skip

    def _agent(self) -> Mapping[str, Any]:
        name, lineage = f"agent_{len(self.agents)}", self._lineage(self.agents)
        inherits = self.chance.sample(self.agents, min(len(self.agents), self.chance.randrange(3)))
        self.agents.append(name)
        fields = {"kind": "born", "agent": name, "value": {"prompt": "Solve it."}}
        return {**fields, "lineage": lineage, **({"inherits": inherits} if inherits else {})}

    def _twin(self) -> Mapping[str, Any]:
        lineage = {"operator": self.chance.choice(["mutate", "crossover"])}
        return {"kind": "twin", "team": self.chance.choice(self.teams), "lineage": lineage}

    def _trial(self) -> Mapping[str, Any]:
        chance = self.chance
        score = chance.choice([None, 0.0, 0.1, 0.3, 1.0])
        workers = chance.sample(self.agents, chance.randrange(3) % (len(self.agents) + 1))
        mark = chance.choice(["", "chosen", "adapted"])
        trial = Trial(
            task=f"t{chance.randrange(9)}",
            score=score,
            reward=None if score is None else chance.choice([None, score - 0.1]),
            usage=Usage(calls=1, prompt_tokens=chance.randrange(99), usd=0.1),
            niche=chance.choice(NICHES),
            split=chance.choice(SPLITS),
            run=chance.choice([None, "r"]),
            agents={f"w{n}": TrialPart(member=worker) for n, worker in enumerate(workers)},
            chosen=mark == "chosen",
            adapted=mark == "adapted",
        )
        return Evaluated(member=chance.choice(self.teams), trial=trial).value()

    def _rejected(self) -> Mapping[str, Any]:
        return ChildRejected(operator="mutate", reason="x").value()

    def _moved(self) -> Mapping[str, Any]:
        of: Of = self.chance.choice(["team", "agent"])
        name = self.chance.choice(self.teams if of == "team" else self.agents)
        if self.chance.random() < 0.5:
            return Restored(member=name).value(of)
        return Retired(member=name, reason="old").value(of)

    def _revised(self) -> Mapping[str, Any]:
        name = self.chance.choice(self.agents)
        prompt = f"Think {self.chance.randrange(9)} times."
        return Revised(agent=name, to=Agent(id=name, prompt=prompt), edits=("x",)).value()

    def _learn(self) -> Mapping[str, Any]:
        chance = self.chance
        known = min(len(self.learnt), chance.randrange(3))
        owners = chance.sample(self.agents, chance.randrange(len(self.agents) + 1))
        whose: dict[str, Any] = {"owner": owners[0]} if len(owners) == 1 else {"to": tuple(owners)}
        replaces = tuple(chance.sample(self.learnt, known))
        return Learnt(kind="case", task="what", text="so", replaces=replaces, **whose).value()

    def _told(self) -> Mapping[str, Any]:
        head = EventNoted(what=HEAD, about={"team": self.chance.choice(self.teams)})
        return self.chance.choice([head, EventNoted(what="routed", about={"n": 1})]).value()
