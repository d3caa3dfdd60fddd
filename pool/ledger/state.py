"""The state of a pool, built from its ledger line by line.

`ledger.schema.json` defines the content of a line. A line with other content, or one that
contradicts earlier lines, is refused: no pool wrote it.
"""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b32encode
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...schema.team.building import agent_of
from ...schema.team.team import Lineage
from ...schema.values.codec import Misfit, check_of, from_value
from ...schema.values.errors import InputError
from ...schema.values.files import locked
from ...schema.values.problems import quoted
from ..values.layout import LEDGER, LOCK, agent_file_of, file_of
from ..values.statistics import EVOLVE, Kind, Trial, kind_of
from .agents import PoolAgent, Revision
from .births import Births
from .changes import ChildRejected, EventNoted, Forgotten, Retired, Revised
from .learnt import Learnt
from .ledger import Ledger, LedgerEntry, TooEarly, line_of
from .lessons import Lessons
from .members import Member
from .recent import Recent
from .scaffold import HEAD, next_head
from .shape import has_types, misshapen
from .trials import TrialIndex

VERSION = 2
"""The version of the format. In the first one, lessons had a file of their own."""
LONGEST_NAME = 64
SEED = "seed/"
"""The prefix of operations that add initial members."""
LONGEST_NUMBER = 18
"""Maximum digits of an episode."""
OF_TRIALS = frozenset({"evaluated", "failed"})
"""Kinds of most lines."""
READ_BY_FORM = OF_TRIALS | {"learnt", "rejected", "told"}
"""Kinds of lines whose types are checked while reading."""
SIGN = 6
"""The number of letters and digits that distinguish names with one stem: 30 bits."""
_SIGNED = re.compile(rf"_[a-z2-7]{{{SIGN}}}\Z")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Admission:
    """The result of adding a member.

    Attributes:
        name: Its name in the pool, or the name of its duplicate.
        is_new: Whether it is new.
    """

    name: str
    is_new: bool


class State:
    """The state of a pool.

    Args:
        is_begun: Whether the first line of the pool was read.
        learnt: Takes the lessons. Default: keeps them, as lines of no ledger are not read again.

    Attributes:
        teams: All teams, parents before children.
        agents: All agents, parents before children.
        rejected: The number of rejected children, by operator.
        duplicates: The number of children that equal an existing team, by operator.
        heads: All heads in order; the last one is current. Empty without a declared head.
        shared: Whether branches of the pool are merged, so that new names must not collide.
        trials: Finds trials of members on a task again.
        numbers: The number of children of each stem.
        recent: The last tasks of each split.
        episodes: The last episode of each evolution with an update, as far as names tell.
        touched: The members in lines read since the caller last emptied this set.
    """

    def __init__(
        self, folder: Path, *, is_begun: bool = False, learnt: Lessons | None = None
    ) -> None:
        self.teams: Births[Member] = Births()
        self.agents: Births[PoolAgent] = Births()
        self.rejected: Counter[str] = Counter()
        self.duplicates: Counter[str] = Counter()
        self.learnt = Lessons() if learnt is None else learnt
        self.heads: list[Member] = []
        self.shared = False
        self.trials = TrialIndex(ledger=folder / LEDGER)
        self.recent: dict[str, Recent] = {}
        self.episodes: dict[str, int] = {}
        self.touched: set[str] = set()
        self.numbers: Counter[str] = Counter()
        self._folder = folder
        self._of_identity: dict[str, list[Member]] = {}
        self._is_begun = is_begun
        self._episode = ""
        self._check_trial = check_of(Trial)

    def take(self, entry: LedgerEntry) -> None:
        """Apply a line.

        Raises:
            TooEarly: It refers to something that does not exist yet.
            ValueError: No pool writes such a line, or it contradicts earlier ones.
        """
        value = entry.value
        kind = value.get("kind")
        if kind not in READ_BY_FORM and not has_types(value):
            text = next(misshapen(value), "a number is not an integer")
            raise ValueError(f"it does not match ledger.schema.json: {text}")
        try:
            if kind in OF_TRIALS and self._is_begun:
                self._take_trial(value, entry.start)
            else:
                self._take(entry)
        except Misfit as error:
            raise ValueError(f"it does not match ledger.schema.json: {error}") from None
        except (AttributeError, InputError, KeyError, TypeError) as error:
            raise ValueError(f"it does not match ledger.schema.json ({error!r})") from None
        episode, _, step = entry.op.rpartition("/")
        # Most lines are of the same episode as the line before.
        if episode != self._episode or step.isdecimal():
            self._episode = episode
            self._follow(entry.op)

    def _follow(self, operation: str) -> None:
        """Note how far evolutions have come."""
        for evolution, number in episodes_in(operation):
            if number >= self.episodes.get(evolution, 0):
                self.episodes[evolution] = number

    def like(self, identity: str) -> tuple[Member, ...]:
        """Return the teams with an identity."""
        return tuple(self._of_identity.get(identity, ()))

    def name_for(self, stem: str) -> str:
        """Return the next free name with a stem: `vote_3`."""
        number = self.numbers[stem] + 1
        while self.find(name := _numbered(stem, number)):
            number += 1
        return name

    def unique_name(self, stem: str, content: Any) -> str:
        """Return a name with a stem that no other branch gives: `vote_k3x7qd`.

        Args:
            content: The stored content of the member, JSON-able: equal content gives equal names.
        """
        named = _ended(stem, _sign(content))
        return self.name_for(named) if self.find(named) else named

    def find(self, name: str) -> Member | PoolAgent | None:
        """Return a team or an agent, retired or not; names are unique."""
        return self.teams.get(name) or self.agents.get(name)

    def _take(self, entry: LedgerEntry) -> None:
        op, value = entry.op, entry.value
        kind = value["kind"]
        if not self._is_begun and kind != "pool":
            raise ValueError("a pool cannot begin with this line")
        match kind:
            case "learnt" | "forgotten":
                self._learn(kind, entry)
            case "pool":
                self._begin(value)
            case "born":
                (self._take_agent if "agent" in value else self._take_team)(op, value)
            case "twin":
                self._take_duplicate(value)
            case "revised":
                self._revise(op, Revised.of(value))
            case "rejected":
                self.rejected[from_value(ChildRejected, value).operator] += 1
            case "retired":
                self._retire(value, Retired.of(value).reason)
            case "restored":
                self._retire(value, None)
            case "told":
                self._tell(from_value(EventNoted, value))
            case _:
                raise ValueError(f"unknown kind of line {quoted(kind)}")

    def _tell(self, event: EventNoted) -> None:
        if event.what == HEAD:
            self._lead(self._team(event.about["team"]))

    def _lead(self, head: Member) -> None:
        if head not in self.heads[-1:]:
            self.heads = [*self.heads, head]

    def _begin(self, value: Mapping[str, Any]) -> None:
        if value["v"] != VERSION:
            raise ValueError(
                f"the pool has format {quoted(value['v'])}; this version of coterie knows {VERSION}"
            )
        self.shared = bool(value.get("shared"))
        self._is_begun = True

    def bear(self, member: Member) -> None:
        """Add a team at the end."""
        self.teams.bear(member)
        self._of_identity.setdefault(member.identity, []).append(member)

    def _take_team(self, op: str, value: Mapping[str, Any]) -> None:
        name, lineage = self._newcomer(value["team"]), from_value(Lineage, value["lineage"])
        stem = self._stem(name, [self._team(parent) for parent in lineage.parents], op)
        member = Member(
            name=name,
            path=self._folder / file_of(name),
            lineage=lineage,
            stem=stem,
            identity=value["identity"],
            content_hash=value["content_hash"],
            trials=self.trials,
        )
        self.bear(member)
        self.touched.add(name)

    def _take_agent(self, op: str, value: Mapping[str, Any]) -> None:
        name, lineage = self._newcomer(value["agent"]), from_value(Lineage, value["lineage"])
        stem = self._stem(name, [self._agent(parent) for parent in lineage.parents], op)
        first = Revision(
            agent=agent_of(name, value["value"]), reason=lineage.reason, edits=lineage.edits, op=op
        )
        inherits = tuple(value.get("inherits", ()))
        for inherit in inherits:
            self._agent(inherit)
        agent = PoolAgent(
            name=name,
            path=self._folder / agent_file_of(name),
            lineage=lineage,
            stem=stem,
            revisions=(first,),
            inherits=inherits,
            trials=self.trials,
        )
        self.agents.bear(agent)
        self.touched.add(name)
        self.learnt.bear(name, inherits)

    def _revise(self, op: str, change: Revised) -> None:
        agent = self._agent(change.agent)
        last = Revision(agent=change.to, reason=change.reason, edits=change.edits, op=op)
        agent.revisions = (*agent.revisions, last)
        self.touched.add(agent.name)

    def _learn(self, kind: str, entry: LedgerEntry) -> None:
        if kind == "forgotten":
            for forgotten in from_value(Forgotten, entry.value).entries:
                self.learnt.forget(forgotten)
            return
        learnt = Learnt.of(entry.value, entry.op)
        for owner in learnt.to:
            self._agent(owner)
        self.learnt.take(learnt, entry.start)

    def _newcomer(self, name: str) -> str:
        if not is_name(name) or self.find(name):
            raise ValueError(f"a new member cannot have the name {quoted(name)}")
        return name

    def _stem(self, name: str, parents: Sequence[Member | PoolAgent], op: str) -> str:
        """Return the stem of a newcomer's children, and count the newcomer as a child."""
        own = _SIGNED.sub("", name) if self.shared and not op.startswith(SEED) else name
        stem = parents[0].stem if parents else own
        self.numbers[stem] += bool(parents)
        return stem

    def _take_duplicate(self, value: Mapping[str, Any]) -> None:
        self._team(value["team"])
        self.duplicates[value["lineage"]["operator"]] += 1

    def _take_trial(self, trial: Mapping[str, Any], start: int) -> None:
        team, score = self._team(trial["team"]), trial.get("score")
        self._check_trial(trial)
        kind = kind_of(trial)
        if (score is None) != (trial["kind"] == "failed"):
            raise ValueError(f"score={score!r} does not fit {quoted(trial['kind'])}")
        names = self._take_parts(trial, kind) if "agents" in trial else []
        names.append(team.name)
        team.take(trial, kind)
        split, task = trial.get("split", EVOLVE), (trial.get("niche") or "", trial["task"])
        if (recent := self.recent.get(split)) is None:
            recent = self.recent[split] = Recent(split)
        self.touched.update(names)
        if dropped := recent.take(team, task, kind, score or 0):
            self.touched.update(dropped)
        if kind == "plain" and score is not None:
            self.trials.take(names, trial["task"], start)

    def _take_parts(self, trial: Mapping[str, Any], kind: Kind) -> list[str]:
        """Add a trial to the agents of the pool that took part, and return their names."""
        names = sorted({part["member"] for part in trial["agents"].values()})
        for agent in [*map(self._agent, names)]:
            agent.take(trial, kind)
        return names

    def _retire(self, value: Mapping[str, Any], reason: str | None) -> None:
        """Retire a member for a reason; without a reason, restore it."""
        if "team" in value:
            self.teams.retire(self._team(value["team"]), reason)
            self.touched.add(value["team"])
        else:
            self.agents.retire(self._agent(value["agent"]), reason)
            self.touched.add(value["agent"])
        if self.heads and self.heads[-1].retired and (head := next_head(self.teams.live)):
            self._lead(self.teams[head])

    def _agent(self, name: str) -> PoolAgent:
        if name not in self.agents:
            raise TooEarly(f"no agent {quoted(name)} was born before")
        return self.agents[name]

    def _team(self, name: str) -> Member:
        if name not in self.teams:
            raise TooEarly(f"no team {quoted(name)} was born before")
        return self.teams[name]


def episodes_in(operation: str) -> list[tuple[str, int]]:
    """Return the evolutions, with episodes, that the name of an update may refer to."""
    parts = operation.split("/")
    return [
        ("/".join(parts[:at]), int(part))
        for at, part in enumerate(parts)
        if at and part.isdecimal() and len(part) <= LONGEST_NUMBER
    ]


def begin(folder: Path, *, shared: bool) -> None:
    """Write the first line of a pool if missing; otherwise mark the pool as shared if wanted.

    Args:
        shared: Whether branches of it are merged. Existing names stay.
    """
    ledger = Ledger(folder / LEDGER)
    first = first_line(shared=shared)
    if ledger.append(first, op="pool") or not shared:
        return

    def encode(entries: Sequence[LedgerEntry]) -> list[bytes] | None:
        begun, *rest = entries
        if begun.value.get("shared"):
            return None
        return [
            line_of(first, begun.op, clock=begun.clock),
            *(line_of(entry.value, entry.op, entry.files, entry.clock) for entry in rest),
        ]

    with locked(folder / LOCK):
        ledger.rewrite(encode)


def in_order(entries: Sequence[LedgerEntry], folder: Path) -> Sequence[LedgerEntry]:
    """Return lines in an order in which each refers only to earlier ones, as far as there is one.

    After a merge, git leaves lines as they were. One may precede a line that it refers to, or occur
    twice with different content. Lines in a valid order stay unchanged.
    """
    state, result, chosen = State(folder), list[LedgerEntry](), dict[str, LedgerEntry]()
    for entry in entries:
        chosen[entry.op] = min(chosen.get(entry.op, entry), entry, key=lambda entry: entry.rank)
    waiting = sorted(chosen.values(), key=lambda entry: entry.order)
    while waiting:
        early: list[LedgerEntry] = []
        for entry in waiting:
            try:
                state.take(entry)
            except TooEarly:
                early.append(entry)
            except ValueError:
                return entries
            else:
                result.append(entry)
        if len(early) == len(waiting):
            return entries
        waiting = early
    return entries if [*map(id, result)] == [*map(id, entries)] else result


def first_line(*, shared: bool = False) -> dict[str, Any]:
    """Return the first line of a pool."""
    return {"kind": "pool", "v": VERSION, **({"shared": True} if shared else {})}


def is_shared(folder: Path) -> bool:
    """Return whether a folder is a pool whose branches are merged."""
    first = next(Ledger(folder / LEDGER).read(), None)
    return first is not None and bool(first.value.get("shared"))


def is_name(name: str) -> bool:
    """Return whether a member may have a name."""
    return _NAME.fullmatch(name) is not None


def _numbered(stem: str, number: int) -> str:
    return _ended(stem, str(number))


def _ended(stem: str, ending: str) -> str:
    return f"{stem[: LONGEST_NAME - len(ending) - 1]}_{ending}"


def _sign(content: Any) -> str:
    digested = hashlib.sha256(
        json.dumps(content, sort_keys=True).encode("utf-8", "backslashreplace")
    )
    return b32encode(digested.digest())[:SIGN].decode().lower()
