"""The competence of a pool's agents, alone and together, computed from the ledger.

The state of a population as in EvoChamber (arXiv:2605.11136 §3.2 to 3.4, App. E.1): competence,
synergy, overlap, the roster, and the rounds of leadership. A population is an immutable value; each
line gives a new one, which shares all unchanged parts. A task without a niche counts in the niche
"".
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import islice
from statistics import fmean
from typing import Any, Literal, Self, TypeVar, overload

from ...schema.values.codec import from_value
from ...schema.values.values import nothing
from ..ledger.ledger import LedgerEntry
from ..values.statistics import EVOLVE, Trial

ANCHOR = "anchor"
"""The seat of a team's leader."""
LEADERSHIP = "leadership"
"""The name of the event that records a round of leadership."""
LIFECYCLE = "lifecycle"
"""The name of the event that records, right afterwards, a change of the roster or of a persona."""

PruneBy = Literal["recent_mean", "each_task"]
"""The score of an agent that is compared with the population's mean."""
Item = TypeVar("Item")


@dataclass(frozen=True, kw_only=True, slots=True)
class Rates:
    """The rates at which a population's numbers adapt; by default as in EvoChamber, Table 9.

    Attributes:
        alpha: The weight of the last task in competence (Eq. 2).
        beta: The weight of the last task in synergy (Eq. 6).
        initial: The competence in a niche without tasks.
        synergy_tasks: The number of shared tasks in a niche from which synergy counts.
        rolling: The number of an agent's last tasks in its rolling reward.
        prune_below: An agent lags if its score is below this share of the population's mean.
        prune_by: The score: its rolling reward after the task, or the task's reward alone.
    """

    alpha: float = 0.3
    beta: float = 0.3
    initial: float = 0.5
    synergy_tasks: int = 5
    rolling: int = 10
    prune_below: float = 0.8
    prune_by: PruneBy = "recent_mean"

    @classmethod
    def of(cls, settings: Any) -> Self:
        """Build rates from settings with fields of these names."""
        return cls(**{item.name: getattr(settings, item.name) for item in fields(cls)})


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """The results of two agents together in a niche.

    Attributes:
        reward: The mean reward of the first `synergy_tasks` tasks; from then on it follows Eq. 6.
    """

    tasks: int = 0
    reward: float = 0.0

    def after(self, reward: float, rates: Rates) -> Pair:
        """Return the results with another task (EvoChamber Eq. 6, App. E.1)."""
        tasks = self.tasks + 1
        weight = 1 / tasks if tasks <= rates.synergy_tasks else rates.beta
        return Pair(tasks=tasks, reward=_moved(self.reward, reward, weight))


@dataclass(frozen=True, kw_only=True)
class RankingScore:
    """The state of an agent.

    Attributes:
        competence: Its competence by niche, in [0, 1], own or inherited; other niches are absent.
        tasks: The number of its tasks, by niche.
        pairs: Its results with each other agent in each niche.
        rewards: The rewards of its last tasks, at most `rolling` of them; they are not inherited.
        lagging: The number of its last consecutive tasks on which it lagged.
        anchored: The number of tasks that it led, by niche.
        aims: The niches that its persona, or that of an ancestor, was written for.
        forked: The number of its tasks at its last fork.
    """

    rates: Rates = Rates()
    competence: Mapping[str, float] = field(default_factory=nothing)
    tasks: Mapping[str, int] = field(default_factory=nothing)
    pairs: Mapping[tuple[str, str], Pair] = field(default_factory=nothing)
    rewards: tuple[float, ...] = ()
    lagging: int = 0
    anchored: Mapping[str, int] = field(default_factory=nothing)
    aims: frozenset[str] = frozenset()
    forked: int = 0

    def q(self, niche: str) -> float:
        """Return its competence in a niche, in [0, 1] (EvoChamber Eq. 2)."""
        return self.competence.get(niche, self.rates.initial)

    def n(self, niche: str) -> int:
        """Return the number of its tasks in a niche."""
        return self.tasks.get(niche, 0)

    @cached_property
    def total(self) -> int:
        """The number of all its tasks."""
        return sum(self.tasks.values())

    def sigma(self, peer: str, niche: str) -> float:
        """Return its synergy with another agent in a niche, in [0, 1] (EvoChamber Eq. 6, App. E.1).

        It is 0 until they have shared `synergy_tasks` tasks of that niche.
        """
        pair = self.pairs.get((peer, niche))
        return pair.reward if pair and pair.tasks >= self.rates.synergy_tasks else 0.0

    @cached_property
    def rolling(self) -> float | None:
        """The mean reward of its last tasks, in [0, 1]; None without any."""
        return math.fsum(self.rewards) / len(self.rewards) if self.rewards else None

    @cached_property
    def dominant(self) -> str | None:
        """The niche with most tasks; of equals, the one it is best at; None without tasks."""
        return min(self.tasks, key=lambda item: (-self.n(item), -self.q(item), item), default=None)

    @cached_property
    def norm(self) -> float:
        """The length of its competence vector, with one dimension per niche."""
        return math.sqrt(math.fsum(q * q for q in self.competence.values()))

    def aiming(self, niche: str) -> RankingScore:
        """Return the state with a persona written for a niche."""
        return replace(self, aims=self.aims | {niche})

    def after(
        self, niche: str, reward: float, others: Iterable[str], *, leads: bool, lags_below: float
    ) -> RankingScore:
        """Return the state after a task (EvoChamber Eq. 2 and 6).

        Args:
            reward: The reward of the team's answer, in [0, 1].
        """
        rewards = (*self.rewards, reward)[-self.rates.rolling :]
        score = fmean(rewards) if self.rates.prune_by == "recent_mean" else reward
        shared = {(peer, niche): self.pairs.get((peer, niche), Pair()) for peer in others}
        return RankingScore(
            rates=self.rates,
            competence={
                **self.competence,
                niche: _moved(self.q(niche), reward, self.rates.alpha),
            },
            tasks={**self.tasks, niche: self.n(niche) + 1},
            pairs={
                **self.pairs,
                **{key: pair.after(reward, self.rates) for key, pair in shared.items()},
            },
            rewards=rewards,
            lagging=self.lagging + 1 if score < lags_below else 0,
            anchored={**self.anchored, niche: self.anchored.get(niche, 0) + 1}
            if leads
            else self.anchored,
            aims=self.aims,
            forked=self.forked,
        )


class Grown(Sequence[Item]):
    """A prefix of a list that only grows, which shares its items with later prefixes."""

    __slots__ = ("_items", "_length")

    def __init__(self, items: Iterable[Item] = ()) -> None:
        self._items = [*items]
        self._length = len(self._items)

    def with_(self, item: Item) -> Grown[Item]:
        """Return a sequence with one more item."""
        # Only the first continuation shares the list; others copy it.
        is_first = len(self._items) == self._length
        grown = Grown[Item](() if is_first else self)
        grown._items = self._items if is_first else grown._items
        grown._items.append(item)
        grown._length = self._length + 1
        return grown

    @overload
    def __getitem__(self, index: int) -> Item: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Item]: ...

    def __getitem__(self, index: int | slice) -> Item | Sequence[Item]:
        if isinstance(index, slice):
            return [self._items[place] for place in range(self._length)[index]]
        return self._items[range(self._length)[index]]

    def __iter__(self) -> Iterator[Item]:
        return islice(self._items, self._length)

    def __len__(self) -> int:
        return self._length

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Grown) and list(self) == list(other)

    def __hash__(self) -> int:
        return hash(self._length)


@dataclass(frozen=True, kw_only=True)
class Population:
    """A population as of a line of its pool's ledger.

    Attributes:
        agents: The living agents, in the order of their births.
        rolling: The rolling reward of each living agent that has worked.
        rounds: The records of rounds of leadership, in order.
        history: The niche of each trial, in order.
        niches: The niches of trials, by first occurrence.
        newborn: The last agent born in each event, by the prefix of its operations.
    """

    rates: Rates = Rates()
    agents: Mapping[str, RankingScore] = field(default_factory=nothing)
    everybody: Mapping[str, RankingScore] = field(default_factory=nothing)
    rolling: Mapping[str, float] = field(default_factory=nothing)
    rounds: Grown[Mapping[str, Any]] = field(default_factory=Grown[Any])
    history: Grown[str] = field(default_factory=Grown[str])
    niches: tuple[str, ...] = ()
    newborn: Mapping[str, str] = field(default_factory=nothing)

    @property
    def trials(self) -> int:
        """The number of trials of the population's teams."""
        return len(self.history)

    def recent(self, n: int) -> Sequence[str]:
        """Return the niches of the last `n` trials, in order."""
        return self.history[max(0, self.trials - n) :]

    @cached_property
    def mean(self) -> float | None:
        """The mean rolling reward of the living agents; None before the first task."""
        return math.fsum(self.rolling.values()) / len(self.rolling) if self.rolling else None

    def after(self, entry: LedgerEntry) -> Population:
        """Return the population after a line of the ledger.

        A trial counts if it has an anchor, a score, and a task that evolution learns from; failures
        of providers or jails are not the team's.
        """
        value = entry.value
        match value["kind"]:
            case "born" if "agent" in value:
                return self._with_newcomer(
                    value["agent"], value.get("inherits", ()), _event_of(entry)
                )
            case "evaluated" if ANCHOR in value.get("agents", {}):
                return self._with_trial(from_value(Trial, value))
            case "retired" if "agent" in value:
                return self._with({agent for agent in self.agents if agent != value["agent"]})
            case "restored" if "agent" in value:
                return self._with({*self.agents, value["agent"]})
            case "told":
                return self._with_event(value["what"], value.get("about", {}), _event_of(entry))
            case _:
                return self

    def _with_newcomer(self, name: str, inherits: Sequence[str], event: str) -> Population:
        parents = [self.everybody[parent] for parent in inherits]
        newcomer = {name: heir(parents, self.rates)}
        return replace(
            self,
            agents={**self.agents, **newcomer},
            everybody={**self.everybody, **newcomer},
            newborn={**self.newborn, event: name},
        )

    def _with_event(self, kind: str, about: Mapping[str, Any], event: str) -> Population:
        if kind == LEADERSHIP:
            return replace(self, rounds=self.rounds.with_(about))
        return self._changed(about, event) if kind == LIFECYCLE else self

    def _changed(self, about: Mapping[str, Any], event: str) -> Population:
        """Apply a lifecycle event: a persona written for a niche, or a fork."""
        operator, niche = about.get("operator"), about.get("niche")
        named = [item for item in about.get("agents", ()) if item in self.everybody]
        shaped = named if operator == "specialize" else filter(None, [self.newborn.get(event)])
        fresh = {item: self.everybody[item].aiming(niche) for item in shaped if niche}
        if operator == "fork":
            parents = {item: self.everybody[item] for item in named}
            fresh |= {
                name: replace(parent, forked=parent.total) for name, parent in parents.items()
            }
        return self._being(fresh)

    def _being(self, fresh: Mapping[str, RankingScore]) -> Population:
        """Replace the states of agents; retired agents stay retired."""
        living = {name: standing for name, standing in fresh.items() if name in self.agents}
        return replace(
            self, agents={**self.agents, **living}, everybody={**self.everybody, **fresh}
        )

    def _with(self, names: set[str]) -> Population:
        living = {name: standing for name, standing in self.everybody.items() if name in names}
        return replace(self, agents=living, rolling=_rolling(living))

    def _with_trial(self, trial: Trial) -> Population:
        if trial.split != EVOLVE or trial.kind != "plain" or trial.score is None:
            return self
        niche, reward = trial.niche or "", trial.score
        team = sorted({part.member for part in trial.agents.values()})
        fresh = {
            name: self.everybody[name].after(
                niche,
                reward,
                [peer for peer in team if peer != name],
                leads=name == trial.agents[ANCHOR].member,
                lags_below=self.rates.prune_below * (self.mean or 0.0),
            )
            for name in team
        }
        living = {name: score for name, score in fresh.items() if name in self.agents}
        return replace(
            self._being(fresh),
            rolling={**self.rolling, **_rolling(living)},
            history=self.history.with_(niche),
            niches=self.niches if niche in self.niches else (*self.niches, niche),
        )


def overlap(first: RankingScore, second: RankingScore) -> float:
    """Return the similarity of two agents' skills: the cosine of their competences.

    Niches that an agent lacks count as 0 (EvoChamber App. E.1). The result is in [0, 1], and 0 if
    either has no competence at all.
    """
    if not (lengths := first.norm * second.norm):
        return 0.0
    others = second.competence
    shared = math.fsum(
        [q * others[niche] for niche, q in first.competence.items() if niche in others]
    )
    return min(1.0, shared / lengths)


def _moved(value: float, reward: float, weight: float) -> float:
    """Move a value towards a reward: EvoChamber Eq. 2 and 6."""
    return (1 - weight) * value + weight * reward


def _rolling(agents: Mapping[str, RankingScore]) -> dict[str, float]:
    return {name: agent.rolling for name, agent in agents.items() if agent.rolling is not None}


def heir(parents: Sequence[RankingScore], rates: Rates) -> RankingScore:
    """Return a newcomer's initial state: empty, its parent's, or the means of its parents."""
    aims = frozenset(niche for parent in parents for niche in parent.aims)
    if len(parents) < 2:
        competence = {niche: q for parent in parents for niche, q in parent.competence.items()}
        return RankingScore(rates=rates, competence=competence, aims=aims)
    niches = dict.fromkeys(niche for parent in parents for niche in parent.competence)
    worked = dict.fromkeys(niche for parent in parents for niche in parent.tasks)
    return RankingScore(
        rates=rates,
        competence={niche: _mean(parents, niche) for niche in niches},
        tasks={niche: sum(parent.n(niche) for parent in parents) for niche in worked},
        aims=aims,
    )


def _mean(parents: Sequence[RankingScore], niche: str) -> float:
    """Return the mean of competences weighted by tasks; unweighted if nobody has any."""
    knowing = [parent for parent in parents if niche in parent.competence]
    tasks = sum(score.n(niche) for score in knowing)
    weights = [score.n(niche) / tasks if tasks else 1 / len(knowing) for score in knowing]
    mean = math.fsum(w * score.q(niche) for w, score in zip(weights, knowing, strict=True))
    return min(1.0, mean)


def _event_of(entry: LedgerEntry) -> str:
    """Return the common prefix of an event's operations: `…/lifecycle 1 fork`."""
    return re.sub(r"[ /][^ /]*\Z", "", entry.op)
