"""Evolutions at random: what a pool begins with, how it evolves, and what models answer.

Everything comes from a strategy's name and a number, so that a failure can be had again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Literal

from coterie.runtime.doubles import Reply
from coterie.runtime.doubles.script import Request

from ..operators import evolving
from ..operators.consulting import WARD
from ..operators.evolving import asked
from ..operators.methods.evochamber.chamber import NICHES, fitting
from ..operators.methods.meta_team.world import TRIO

STRATEGIES = ("evomas", "evochamber", "meta_team", "tacomas", "mattrl")
HELD_OUT = ("h0", "h1")
TEAMS: Mapping[str, str] = {**evolving.TEAMS, "trio": TRIO, "ward": WARD}

Kind = Literal["write", "call", "full disk", "refusal", "budget"]


@dataclass(frozen=True, kw_only=True)
class Stop:
    """What stops an evolution before its end.

    Attributes:
        kind: `write` kills it at a write. `call` kills it when it asks a model. `full disk` makes
            a write fail. `refusal` has the provider refuse a call. `budget` meets a cap.
        number: At which write or call.
        place: At which failpoint, of `write` and `full disk`.
    """

    kind: Kind
    number: int
    place: str = ""

    @property
    def failpoint(self) -> str:
        """The setting of `armed`."""
        action = {"write": "kill", "full disk": "raise-enospc"}.get(self.kind)
        return f"{self.place}:{self.number}:{action}" if action else ""

    @property
    def words(self) -> list[str]:
        """The options of the command."""
        return ["--budget", f"calls={self.number}"] if self.kind == "budget" else []


@dataclass(kw_only=True)
class World:
    """One evolution: its files, its words, and what stops it.

    Attributes:
        held_out: Tasks to test on; none: nothing is tested.
        pools: Its pools, by their paths in the world's folder.
    """

    recipe: Mapping[str, Any]
    tasks: list[Mapping[str, Any]]
    held_out: list[Mapping[str, Any]]
    words: list[str]
    stops: list[Stop]
    mind: Mind
    pools: list[str]

    def write(self, folder: Path) -> None:
        """Write its files into a folder."""
        for name, text in TEAMS.items():
            (folder / f"{name}.yaml").write_text(text)
        (folder / "recipe.yaml").write_text(json.dumps(self.recipe))
        for name, tasks in (("tasks", self.tasks), ("test", self.held_out)):
            lines = (json.dumps(task) + "\n" for task in tasks)
            (folder / f"{name}.jsonl").write_text("".join(lines))

    @classmethod
    def drawn(cls, strategy: str, number: int) -> World:
        """Draw an evolution."""
        chance = Random(f"{strategy} {number}")
        tested = chance.random() < 0.5
        words = ["--pool", "pool", "--embedder", "hashing", "--quiet"]
        words += ["--test", "test.jsonl", "--repeats", "1"] if tested else []
        pools = ["pool"]
        if number % 10 == 3:
            words += ["--seeds", "2"]
            pools = ["pool/seed_0", "pool/seed_1"]
        elif number % 4 == 1:
            words += ["--git"]
        recipe = {
            "strategy": strategy,
            "workers": chance.choice([1, 1, 2, 3]),
            "score": chance.choice(["auto", "auto", "judge"]),
            "judge_samples": chance.choice([1, 1, 2]),
            "beta": chance.choice([0, 0.1]),
            **ABOUT[strategy](chance),
        }
        mind = Mind.drawn(strategy, chance)
        if strategy == "meta_team" and number % 5 == 2:
            recipe |= {"workers": 1, "settings": {"scheme": "centralised", "retry": False}}
            mind.wavers = True
        if strategy == "evomas" and number % 5 == 2:
            recipe |= {"workers": 3, "score": "auto", "seeds": ["vote.yaml", "solo.yaml"]}
            recipe["settings"] = {"parents": 2, "steps": 2, "components": ["prompts"]}
            mind.insists = True
        if pools == ["pool"]:
            recipe["seed"] = chance.randrange(1000)
        return cls(
            recipe=recipe,
            tasks=[_task(f"t{n}", chance) for n in range(chance.randint(2, 3))],
            held_out=[_task(name, chance) for name in HELD_OUT] if tested else [],
            words=words,
            stops=_stops(chance),
            mind=mind,
            pools=pools,
        )


VISITS: Mapping[str, int] = {
    "files.write.before": 9,
    "files.write.flushed": 9,
    "files.write.replaced": 9,
    "files.append.before": 15,
    "files.append.written": 15,
    "files.append.after": 15,
    "files.sync.before": 30,
    "files.sync.after": 30,
    "journal.append.before": 20,
    "journal.append.after": 20,
}
"""How often most evolutions come to each failpoint."""
KINDS: tuple[Kind, ...] = ("write", "write", "call", "full disk", "refusal", "budget")


def _stops(chance: Random) -> list[Stop]:
    """Draw what stops it: a write, mostly one that it comes to, and perhaps more."""
    kinds: list[Kind] = ["write", *chance.choices(KINDS, k=chance.randint(0, 2))]
    return [_stop(kind, chance) for kind in kinds]


def _stop(kind: Kind, chance: Random) -> Stop:
    if kind in {"write", "full disk"}:
        place = chance.choice([*VISITS])
        number = 1 + int(VISITS[place] * chance.random() ** 2)
        return Stop(kind=kind, number=number, place=place)
    return Stop(kind=kind, number=chance.randint(1, 12))


def _task(name: str, chance: Random) -> Mapping[str, Any]:
    niche = chance.choice(NICHES)
    first = chance.randrange(7)
    task: dict[str, Any] = {
        "id": name,
        "query": f"About {niche} of {name}: what is {first} + {7 - first}?",
        "niche": niche,
    }
    if chance.random() < 0.75:
        task |= {"answer": "7", "scorer": {"name": "number"}}
    return task


def _evomas(chance: Random) -> dict[str, Any]:
    seeds = chance.sample(["vote.yaml", "solo.yaml", "trio.yaml"], chance.randint(2, 3))
    settings: dict[str, Any] = {
        "parents": 2,
        "steps": chance.randint(1, 3),
        "memory": chance.randint(0, 2),
        "admission": chance.choice(["gain", "best", "best", "none"]),
        "operators": chance.choice(["model", "model", "chance"]),
        "choice": chance.choice(["model", "schedule", "outcome", "chance"]),
        "select": chance.choice(["model", "statistics", "chance"]),
        "instantiate": chance.random() < 0.5,
        "repeats": chance.choice([1, 1, 2]),
    }
    if chance.random() < 0.5:
        settings["cap"] = chance.randint(2, 3)
    return {"seeds": seeds, "settings": settings, "reuse": chance.choice(["auto", "always"])}


def _evochamber(chance: Random) -> dict[str, Any]:
    structure = chance.choice(["leader", "leader", "voting", "debate"])
    team_size = chance.randint(2 if structure == "debate" else 1, 3)
    return {
        "settings": {
            "pool_size": chance.randint(team_size, 5),
            "team_size": team_size,
            "structure": structure,
            "tau": chance.choice([1, 1, 2]),
            "fork_tasks": chance.randint(0, 1),
            "fork_top": chance.choice([0.1, 1.0]),
            "merge_tasks": chance.randint(0, 1),
            "prune_tasks": 1,
            "prune_below": chance.choice([0.8, 1.0]),
            "prune_by": chance.choice(["recent_mean", "each_task"]),
            "genesis_below": chance.randint(0, 6),
            "genesis_affinity": chance.choice([0.4, 1.0]),
            "specialize_above": chance.choice([0.1, 0.8]),
            "codream": chance.random() < 0.7,
            "own_attempts": chance.choice(["after_failure", "always", "never"]),
            "shared_failure": chance.choice(["learn", "abstain"]),
            "reattempts": chance.randint(1, 2),
            "theta": chance.choice([0.6, 1.0]),
        }
    }


def _meta_team(chance: Random) -> dict[str, Any]:
    scheme = chance.choice(["none", "centralised", "partitioned", *["collaborative"] * 3])
    settings: dict[str, Any] = {"scheme": scheme}
    if scheme != "none":
        settings |= {
            "retry": chance.random() < 0.7,
            "reference": chance.random() < 0.5,
            "most_agents": chance.randint(3, 4),
            "patches": chance.choice([1, 12]),
        }
    if scheme == "collaborative":
        settings["evidence"] = chance.randint(0, 1)
    return {"seeds": ["trio.yaml"], "settings": settings}


def _tacomas(chance: Random) -> dict[str, Any]:
    return {
        "seeds": chance.sample(["vote.yaml", "solo.yaml", "trio.yaml"], chance.randint(1, 2)),
        "settings": {
            "begin": chance.choice(["team", "team", "roles"]),
            "most": chance.randint(1, 3),
            "every": chance.randint(1, 2),
            "threshold": chance.choice([0.5, 0.9, 1.1]),
            "answer": chance.choice(["best", "last"]),
        },
    }


def _mattrl(chance: Random) -> dict[str, Any]:
    credit = chance.choice(["naive", "difference", "shapley"])
    settings: dict[str, Any] = {
        "credit": credit,
        "share": chance.choice([0.25, 1.0]),
        "recalls": chance.random() < 0.3,
    }
    if credit != "naive":
        settings["per"] = chance.choice(["agent", "turn"])
    if credit == "shapley":
        settings["permutations"] = 2
    if chance.random() < 0.4:
        settings["route"] = "solo"
        return {"seeds": ["ward.yaml", "solo.yaml"], "settings": settings}
    return {"seeds": ["ward.yaml"], "settings": settings}


ABOUT: Mapping[str, Callable[[Random], dict[str, Any]]] = {
    "evomas": _evomas,
    "evochamber": _evochamber,
    "meta_team": _meta_team,
    "tacomas": _tacomas,
    "mattrl": _mattrl,
}

EDITED = "Think twice."
EDITS: tuple[Mapping[str, Any], ...] = (
    {"set_prompt": {"agent": "one", "prompt": EDITED}},
    {"set_prompt": {"agent": "solver", "prompt": EDITED}},
    {"set_prompt": {"agent": "one", "prompt": "Think again."}},
    {"set_prompt": {"agent": "nobody", "prompt": "Think."}},
    {"remove_edge": {"sender": "two", "receiver": "judge"}},
    {"add_edge": {"sender": "planner", "receiver": "checker"}},
    {"add_edge": {"sender": "one", "receiver": "one"}},
)
USELESS = ("", "I would rather not.", '{"reason": ', "\u0000\u202e{}", "[]" * 1000)


@dataclass(kw_only=True)
class Mind:
    """A model that answers whatever is asked, often uselessly, and stops a process.

    Attributes:
        seed: What its answers depend on, besides the request.
        useless: How often an operator gets a useless answer.
        silent: How often a judge gives no score.
        dull: How often an agent's answer is useless.
        wavers: Whether a team that looks back adds a rule, and on the next task takes it out.
        insists: Whether all operators propose the same edit, and only that makes an agent right.
        stop: What it does at which call.
        calls: How often it was asked since the process began.
    """

    strategy: str
    seed: int
    useless: float
    silent: float
    dull: float
    wavers: bool = False
    insists: bool = False
    stop: Stop | None = None
    pid: int = 0
    calls: int = 0
    _judged: dict[str, int] = field(default_factory=dict[str, int])
    _unscored: dict[str, str] = field(default_factory=dict[str, str])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def drawn(cls, strategy: str, chance: Random) -> Mind:
        """Draw one."""
        return cls(
            strategy=strategy,
            seed=chance.randrange(1 << 30),
            useless=chance.choice([0, 0.2, 0.5]),
            silent=chance.choice([0, 0.3, 0.6]),
            dull=chance.choice([0, 0.3]),
        )

    def begin(self, stop: Stop | None) -> None:
        """Serve another process."""
        self.stop, self.calls = stop, 0

    def __call__(self, request: Request) -> Reply:
        with self._lock:
            self.calls += 1
            if self.stop and self.calls >= self.stop.number:
                if self.stop.kind == "call":
                    os.kill(self.pid, signal.SIGKILL)
                    return Reply.fault("hang")
                if self.stop.kind == "refusal":
                    return Reply.error(401)
            return self._answer(request)

    def _answer(self, request: Request) -> Reply:
        text = json.dumps(request["messages"], sort_keys=True)
        chance = Random(hashlib.sha256(f"{self.seed} {text}".encode()).hexdigest())
        form = asked(request)
        if not form:
            return Reply(text=self._work(text, chance))
        if {*form} == {"reason", "score"}:
            first = json.dumps(request["messages"][:2], sort_keys=True)
            return self._verdict(first, form, chance)
        return self._proposal(form, chance)

    def _work(self, text: str, chance: Random) -> str:
        """Answer as an agent."""
        if self.insists:
            return f"Answer: {7 if EDITED in text else 8}"
        if chance.random() < self.dull:
            return chance.choice(USELESS)
        return f"Answer: {7 if chance.random() < 0.5 else chance.randrange(8, 11)}"

    def _proposal(self, form: Mapping[str, Any], chance: Random) -> Reply:
        """Answer an operator."""
        if self.wavers and "rules" in form:
            return Reply.json(_wavering(form))
        if self.insists and "edits" in form:
            return Reply.json({"reason": "so", "edits": [EDITS[0]]})
        if chance.random() < self.useless:
            return Reply(text=chance.choice(USELESS))
        if "edits" in form:
            edits = chance.sample(EDITS, chance.randint(1, 2))
            return Reply.json({"reason": "so", "edits": edits})
        return Reply.json(fitting(form, chance))

    def _verdict(self, text: str, form: Mapping[str, Any], chance: Random) -> Reply:
        """Judge an answer, or give no score; never so often that a task can have none."""
        times = self._judged[text] = self._judged.get(text, 0) + 1
        silent = Random(f"{self.seed} {text}").random() < self.silent
        if silent and times <= self._patience(text):
            return Reply(text="It depends.")
        return Reply.json(fitting(form, chance))

    def _patience(self, text: str) -> int:
        """Return how many useless verdicts on an answer a task survives.

        Two, the answer and its repair, lose a trial. Then a search has other candidates, and other
        strategies ask again; but not TacoMAS, and not where what was learnt is tested.
        """
        [task] = re.findall(r"About \w+ of (\w+):", text)[:1]
        match self.strategy:
            case "evomas":
                is_first = self._unscored.setdefault(task, text) == text
                return 2 if is_first or task in HELD_OUT else 0
            case "meta_team":
                return 2
            case "tacomas":
                return 1
            case _:
                return 1 if task in HELD_OUT else 2


def _wavering(form: Mapping[str, Any]) -> dict[str, Any]:
    """Add a second rule to a team that has one, or take it out; leave all else as it is."""
    numbers = form.get("outdated", {"items": {"enum": []}})["items"]["enum"]
    change = {"outdated": [2]} if 2 in numbers else {"rules": ["Be kind."]}
    return {**{name: _nothing(item) for name, item in form.items()}, **change}


def _nothing(schema: Mapping[str, Any]) -> Any:
    """Make the value of a JSON Schema that says as little as possible."""
    match schema["type"]:
        case "object":
            return {name: _nothing(item) for name, item in schema["properties"].items()}
        case "array":
            return []
        case "boolean":
            return False
        case _:
            return "so"
