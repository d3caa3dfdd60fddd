"""What the lines of a pool's ledger come down to, taken in one by one.

`ledger.schema.json` tells what a line may say. A line that says anything else, or contradicts those
before it, is refused: it was not written by a pool.
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
from ...schema.values.codec import Misfit, from_value
from ...schema.values.errors import InputError
from ...schema.values.files import locked
from ...schema.values.problems import quoted
from ..values.layout import LEDGER, LOCK, agent_file_of, file_of
from ..values.statistics import Trial
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
"""Of the format. In the first one, what was learnt had a file of its own."""
LONGEST_NAME = 64
SEED = "seed/"
"""What the operations are called that add what a pool begins with."""
LONGEST_NUMBER = 18
"""Digits of an episode."""
READ_BY_FORM = frozenset({"evaluated", "failed", "learnt", "rejected", "told"})
"""Kinds of lines whose types are checked as they are read."""
SIGN = 6
"""Letters and digits that tell names of one stem apart: 30 bits."""
_SIGNED = re.compile(rf"_[a-z2-7]{{{SIGN}}}\Z")
_EPISODE = re.compile(rf"(?<=/)\d{{1,{LONGEST_NUMBER}}}(?=/|\Z)")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Admission:
    """What came of adding a team.

    Attributes:
        name: What the pool calls it; the name of its duplicate where it was there already.
        is_new: Whether it was not there yet.
    """

    name: str
    is_new: bool


class State:
    """The state of a pool.

    Args:
        is_begun: Whether the line that a pool begins with was taken in.

    Attributes:
        teams: All teams that were ever born, parents before children.
        agents: All agents that were ever born, parents before children.
        rejected: Children that were dropped, by operator.
        duplicates: Children that were there already, by operator.
        heads: The teams that were the head, in order; the last one is. None where nobody said so.
        shared: Whether branches of the pool are merged, so that new names must not collide.
        trials: Finds trials of members on a task again.
        numbers: How many children of each stem there are.
        recent: The last tasks of each split.
        episodes: The last episode of each evolution that made an update, as far as its name tells.
        touched: Whom the lines told of that were taken in since somebody emptied it.
    """

    def __init__(self, folder: Path, *, is_begun: bool = False) -> None:
        self.teams: Births[Member] = Births()
        self.agents: Births[PoolAgent] = Births()
        self.rejected: Counter[str] = Counter()
        self.duplicates: Counter[str] = Counter()
        self.learnt = Lessons(folder / LEDGER)
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

    def take(self, entry: LedgerEntry) -> None:
        """Take in a line.

        Raises:
            TooEarly: It refers to what was not there before.
            ValueError: It is not one that a pool writes, or contradicts earlier ones.
        """
        if entry.value.get("kind") not in READ_BY_FORM and not has_types(entry.value):
            text = next(misshapen(entry.value), "a number is not whole")
            raise ValueError(f"it is not as ledger.schema.json has it: {text}")
        try:
            self._take(entry)
        except Misfit as error:
            raise ValueError(f"it is not as ledger.schema.json has it: {error}") from None
        except (AttributeError, InputError, KeyError, TypeError) as error:
            raise ValueError(f"it is not as ledger.schema.json has it ({error!r})") from None
        self._follow(entry.op)

    def _follow(self, operation: str) -> None:
        """Note how far evolutions have come, unless the line before was of the same episode."""
        episode, _, step = operation.rpartition("/")
        if episode == self._episode and not step.isdecimal():
            return
        self._episode = episode
        for evolution, number in episodes_in(operation):
            self.episodes[evolution] = max(number, self.episodes.get(evolution, number))

    def like(self, identity: str) -> tuple[Member, ...]:
        """Return the teams of an identity."""
        return tuple(self._of_identity.get(identity, ()))

    def name_for(self, stem: str) -> str:
        """Choose the next free name that begins with a stem: `vote_3`."""
        number = self.numbers[stem] + 1
        while self.find(name := _numbered(stem, number)):
            number += 1
        return name

    def unique_name(self, stem: str, content: Any) -> str:
        """Choose a name that begins with a stem, which no other branch gives: `vote_k3x7qd`.

        Args:
            content: All that is kept of who is to be called so, JSON-able: the same has the same
                name.
        """
        named = _ended(stem, _sign(content))
        return self.name_for(named) if self.find(named) else named

    def find(self, name: str) -> Member | PoolAgent | None:
        """Find a team or an agent, retired or not: no two have the same name."""
        return self.teams.get(name) or self.agents.get(name)

    def _take(self, entry: LedgerEntry) -> None:
        op, value = entry.op, entry.value
        kind = value["kind"]
        if not self._is_begun and kind != "pool":
            raise ValueError("it is not the line that a pool begins with")
        match kind:
            case "evaluated" | "failed":  # most lines, ahead of what is seldom there
                self._take_trial(self._team(value["team"]), from_value(Trial, value), entry)
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
                raise ValueError(f"there are no lines of kind {quoted(kind)}")

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
        """Let there be a team, which comes after all those that are there."""
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
            raise ValueError(f"a member cannot be born with the name {quoted(name)}")
        return name

    def _stem(self, name: str, parents: Sequence[Member | PoolAgent], op: str) -> str:
        """Return what the names of a newcomer's children begin with; count it as a child itself."""
        own = _SIGNED.sub("", name) if self.shared and not op.startswith(SEED) else name
        stem = parents[0].stem if parents else own
        self.numbers[stem] += bool(parents)
        return stem

    def _take_duplicate(self, value: Mapping[str, Any]) -> None:
        self._team(value["team"])
        self.duplicates[value["lineage"]["operator"]] += 1

    def _take_trial(self, team: Member, trial: Trial, entry: LedgerEntry) -> None:
        if (trial.score is None) != (entry.value["kind"] == "failed"):
            kind = quoted(entry.value["kind"])
            raise ValueError(f"score={trial.score!r} does not fit {kind}")
        working = sorted({part.member for part in trial.agents.values()}) if trial.agents else ()
        for member in (team, *map(self._agent, working)):
            member.take(trial)
            self.touched.add(member.name)
        if trial.split not in self.recent:
            self.recent[trial.split] = Recent(trial.split)
        self.touched.update(self.recent[trial.split].take(team, trial))
        if trial.score is not None and trial.kind == "plain":
            self.trials.take({team.name, *working}, trial.task, entry.start)

    def _retire(self, value: Mapping[str, Any], reason: str | None) -> None:
        """Let a member be none any longer, for a reason; without one, let it be one again."""
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
    """Return the evolutions, and their episodes, that may have made an update by its name."""
    return [
        (operation[: match.start() - 1], int(match[0])) for match in _EPISODE.finditer(operation)
    ]


def begin(folder: Path, *, shared: bool) -> None:
    """Write the first line of a pool, where there is none; in one that is there, say it is shared.

    Args:
        shared: Whether branches of it are merged. What has a name keeps it.
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
    """Put lines in their order, in which each refers to what came before as far as there is one.

    Where git merged branches, it leaves lines as it found them, and one may stand ahead of one that
    it refers to, or twice and with other words. Lines that are in order stay so.
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
    """Return the line that a pool begins with."""
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
