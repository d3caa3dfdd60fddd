"""How a team adapts between two rounds of work on one task (TacoMAS §3.2).

Fast updates change capability: after every round, a judge rates each agent's contribution, and a
coach advises each agent. Slow updates change topology: every few rounds, agents and edges are added
and removed. Neither touches what the other changes, so agents keep what they learnt when the
topology changes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from ....runtime.agents.round_state import RoundState
from ....runtime.agents.runner import AgentReport
from ....runtime.plan.plan import compile
from ....runtime.rounds.rounds import Next, summed
from ....runtime.values.together import together
from ....schema import dump
from ...core.account import RoundAccount
from ...core.answers import child_of
from ...core.bounds import MOST_CALLS
from ...core.operator import operator_of
from ...credit.contributions import Contributions, Earlier
from .coach import ROOM, SHORTEST
from .enlist import MOST
from .restructure import AGENTS, EDGES, LOW, PATIENCE, lasting_low

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ....runtime.agents.outcomes import Run
    from ....runtime.gateway.stream_sink import Tell
    from ....runtime.plan.plan import Plan
    from ....runtime.rounds.rounds import Round
    from ....schema.team.task import Task
    from ....schema.team.team import Agent, Team
    from ...core.meta import OperatorModel


def even(agents: Iterable[str]) -> Mapping[str, float]:
    """Return equal weights that add up to 1."""
    names = [*agents]
    return {agent: 1 / len(names) for agent in names}


def replicated(
    weights: Mapping[str, float], contributions: Mapping[str, float], *, eta: float
) -> Mapping[str, float]:
    """Return the weights after a replicator step: `w_i <- w_i exp(eta (c_i - mean c))`, normalised.

    Args:
        weights: The weight of each agent, above 0, with sum 1.
        contributions: The contribution of each agent, in [0, 1].
        eta: The strength of the update, at least 0.
    """
    mean = math.fsum(contributions.values()) / len(contributions)
    grown = {
        agent: weight * math.exp(eta * (contributions[agent] - mean))
        for agent, weight in weights.items()
    }
    return _normal(grown)


def joined(weights: Mapping[str, float], agents: Iterable[str]) -> Mapping[str, float]:
    """Return the weights after agents were added and removed.

    A new agent starts with an equal share. The others keep their proportions in the rest.
    """
    names = [*agents]
    stay = {agent: weights[agent] for agent in names if agent in weights}
    if not stay:
        return even(names)
    left = len(stay) / len(names)
    shares = _normal(stay)
    return {agent: shares[agent] * left if agent in shares else 1 / len(names) for agent in names}


def _normal(weights: Mapping[str, float]) -> Mapping[str, float]:
    whole = math.fsum(weights.values())
    return {agent: weight / whole for agent, weight in weights.items()}


LARGEST_SHARE = 4.0
"""The most of an agent's work that its coach reads, as a multiple of an equal share."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AdaptationSettings:
    """Settings of an adaptation. `mas dev explain settings` shows the fields."""

    begin: Literal["team", "roles"] = "team"
    roles: str | None = None
    most: int = 5
    threshold: float = 0.9
    converge: bool = True
    answer: Literal["best", "last"] = "best"
    capability: bool = True
    topology: bool = True
    every: int = 2
    replicator: bool = True
    eta: float = 1
    room: int = ROOM
    b_agents: int = AGENTS
    b_edges: int = EDGES
    most_agents: int = MOST
    low: float = LOW
    patience: int = PATIENCE


@dataclass(kw_only=True, eq=False)
class Adaptation:
    """The adaptation of a team to one task: a `Between` that records its results.

    Attributes:
        model: The model that coaches and restructures; its ceiling is the team's ceiling.
        tell: Receives the events `contributions`, `coaching`, `restructure` and `rounds_ended`.
        usable: Returns a result, or records a rejected proposal and returns None.
        keep: Writes a file: the team of each round.
        rubric: What makes an answer good. Empty: the default rubric.
        judged: The judgement of each round; None without a valid one.
        weights: Each agent's share of the coaching.
        ended: Why there is no further round: `threshold`, `converged`, `most` or `stopped`.
    """

    model: OperatorModel
    judge: OperatorModel
    task: Task
    path: str
    settings: AdaptationSettings
    roles: Mapping[str, Agent]
    tell: Tell
    usable: Callable[[Any], Any]
    keep: Callable[[str, str], None]
    rubric: str = ""
    judged: list[Contributions | None] = field(default_factory=list["Contributions | None"])
    weights: Mapping[str, float] = field(default_factory=dict[str, float])
    ended: str = ""

    async def __call__(self, rounds: Sequence[Round], /) -> Next | None:
        """Judge the last round, and return the next one with the adapted team; None to stop."""
        last = await self._judge(rounds)
        self.ended = self._end(last, rounds)
        if self.ended:
            return None
        account = _account(rounds[-1])
        team = account.team
        if last is not None and self.settings.capability:
            team = await self._coached(account, last, len(rounds))
        if last is not None and self.settings.topology and len(rounds) % self.settings.every == 0:
            team = await self._restructured(account, team, len(rounds))
        self.weights = joined(self.weights, team.agents)
        return Next(plan=compile(team, self.model.catalogue), state=_next_state(rounds[-1]))

    async def answer(self, rounds: Sequence[Round]) -> Run:
        """Return the round whose answer counts, as a run with the usage of all rounds.

        Args:
            rounds: All rounds. The last one is judged here, if it was not.
        """
        if len(self.judged) < len(rounds):
            last = await self._judge(rounds)
            is_stopped = rounds[-1].run.status == "stopped"
            self.ended = "stopped" if is_stopped else self._end(last, rounds)
        best = self._best(rounds)
        judged = sum(contributions is not None for contributions in self.judged)
        fields = {"rounds": len(rounds), "judged": judged, "answer_of": best + 1}
        self.tell("rounds_ended", why=self.ended, **fields)
        whole = summed(rounds, rounds[-1].plan)
        took = {"usage": whole.usage, "seconds": whole.seconds, "rounds": whole.rounds}
        return replace(rounds[best].run, **took)

    def _best(self, rounds: Sequence[Round]) -> int:
        """Return the place of the round whose answer counts; on a tie, the latest.

        The reference answer is never used.
        """
        answered = [place for place, item in enumerate(rounds) if item.run.answer is not None]
        if self.settings.answer == "last" or not answered:
            return len(rounds) - 1
        return max(answered, key=lambda place: (self._score(place), place))

    def _score(self, place: int) -> float:
        contributions = self.judged[place]
        return -1.0 if contributions is None else contributions.score

    def _end(self, last: Contributions | None, rounds: Sequence[Round]) -> str:
        if last is not None and last.score >= self.settings.threshold:
            return "threshold"
        if last is not None and last.converged and self.settings.converge:
            return "converged"
        return "most" if len(rounds) >= self.settings.most else ""

    def _at(self, number: int, label: str) -> str:
        return f"{self.path}round {number}/{label}"

    async def _judge(self, rounds: Sequence[Round]) -> Contributions | None:
        number, account = len(rounds), _account(rounds[-1])
        self.keep(f"rounds/round_{number}.yaml", dump(rounds[-1].plan.resolved))
        result = await operator_of("contributions").act(
            self.judge,
            self._at(number, "contributions"),
            self.task,
            account,
            earlier=[self._earlier(place, item) for place, item in enumerate(rounds[:-1])],
            rubric=self.rubric,
        )
        last = self.usable(result)
        self.judged.append(last)
        if last is not None:
            self._weigh(last)
            self._tell_contributions(number, last)
        return last

    def _earlier(self, place: int, round_: Round) -> Earlier:
        contributions = self.judged[place]
        return Earlier(
            answer=round_.run.answer, score=None if contributions is None else contributions.score
        )

    def _weigh(self, last: Contributions) -> None:
        """Update the weights by the contributions; without a replicator, all weights are equal."""
        if not self.settings.replicator:
            self.weights = even(last.of)
            return
        before = joined(self.weights, last.of)
        self.weights = replicated(before, last.values, eta=self.settings.eta)

    def _tell_contributions(self, number: int, last: Contributions) -> None:
        agents = {
            agent: {
                "contribution": contribution.value,
                "weight": self.weights[agent],
                "reason": contribution.reason,
            }
            for agent, contribution in last.of.items()
        }
        fields = {"score": last.score, "converged": last.converged, "reason": last.reason}
        self.tell("contributions", round=number, **fields, agents=agents)

    async def _coached(self, account: RoundAccount, last: Contributions, number: int) -> Team:
        """Coach every agent that calls a model and has room for advice."""
        team = account.team
        rooms = {agent: self._room(agent, len(team.agents)) for agent in team.agents}
        whom = [
            agent.id
            for agent in team.agents.values()
            if team.asks_model(agent) and rooms[agent.id] >= SHORTEST
        ]
        results = await together(
            *(
                operator_of("coach").act(
                    self.model,
                    self._at(number, f"coach/{agent}"),
                    self.task,
                    account,
                    agent=agent,
                    contribution=last.of[agent],
                    share=min(LARGEST_SHARE, self.weights[agent] * len(team.agents)),
                    room=rooms[agent],
                )
                for agent in whom
            )
        )
        report = [item for item in map(self.usable, results) if item is not None]
        texts = {item.agent: {"room": rooms[item.agent], "text": item.text} for item in report}
        self.tell("coaching", round=number, agents=texts)
        edits = [item.edit for item in report]
        return child_of(team, edits, self.model.catalogue, self.model.ceiling) if edits else team

    def _room(self, agent: str, agents: int) -> int:
        """Return the most characters of an agent's coaching: its share of the total."""
        most = self.model.limits.characters
        return min(most, round(min(most, self.settings.room) * agents * self.weights[agent]))

    async def _restructured(self, account: RoundAccount, team: Team, number: int) -> Team:
        s = self.settings
        judged = [contributions for contributions in self.judged if contributions is not None]
        result = await operator_of("restructure").act(
            self.model,
            self._at(number, "restructure"),
            self.task,
            account,
            judged,
            team=team,
            roles=self.roles,
            dying=lasting_low(judged, below=s.low, rounds=s.patience),
            agents=s.b_agents,
            edges=s.b_edges,
        )
        product = self.usable(result)
        if product is None:
            return team
        self.tell("restructure", round=number, edits=list(product.words), reason=product.reason)
        return product.child


def calls_at_most(settings: AdaptationSettings, plan: Plan) -> int:
    """Return an upper bound on the model calls of a task, including operators, without retries.

    A new agent counts as much as the team's agent with the most calls, and at least one call.

    Args:
        plan: The team of the first round; with `begin: roles`, the team that it replaces.
    """
    calls = [agent.calls_at_most for agent in plan.agents.values()]
    largest = max(settings.most_agents, len(calls))
    size = largest if settings.begin == "roles" else len(calls)
    total = MOST_CALLS if settings.begin == "roles" else 0
    for number in range(1, settings.most + 1):
        staying = sum(sorted(calls, reverse=True)[:size])
        total += staying + max(0, size - len(calls)) * max(1, *calls) + MOST_CALLS
        if number == settings.most:
            break
        total += MOST_CALLS * size * settings.capability
        if settings.topology and number % settings.every == 0:
            total += MOST_CALLS
            size = min(largest, size + settings.b_agents)
    return total


def _account(round_: Round) -> RoundAccount:
    return RoundAccount(team=round_.plan.team, run=round_.run)


def _next_state(last: Round) -> RoundState:
    """Return the state in which each agent reads its own most recent result."""
    fields = {
        agent: AgentReport(
            agent_id=agent,
            role=last.plan.agents[agent].agent.role,
            content=outcome.result.content,
            patch=outcome.result.patch,
            changes=outcome.changes if outcome.result.patch else (),
        )
        for agent, outcome in last.run.agents.items()
        if outcome.result is not None
    }
    own = {**last.state.own, **fields}
    return RoundState(own={agent: own[agent] for agent in last.plan.agents if agent in own})
