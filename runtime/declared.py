"""The rounds that a team file declares by itself, under `execution.rounds`.

What an agent reports to its colleagues is answered by them in the next round: that is what makes
writer and critic talk. An agent that would read word for word what it read before is settled, and
is not asked again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..schema.values import is_mapping
from .carry import Carry
from .rounds import Next
from .runners.protocol import Report
from .structured import first_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..schema.team import Rounds
    from .outcomes import AgentOutcome
    from .plan import Plan
    from .rounds import Round
    from .runners.protocol import AgentResult

__all__ = ["Declared", "changed", "declared", "repeating"]


def declared(plan: Plan) -> Declared:
    """Give what a team's `execution.rounds` says comes after each round.

    Args:
        plan: The whole team, which has them.
    """
    rules = plan.team.execution.rounds
    if rules is None:
        raise ValueError(f"{plan.team.name} declares no rounds.")
    return Declared(plan=plan, rules=rules)


def repeating(plan: Plan) -> Plan:
    """Give the part of a plan that works in each round: without those that close."""
    rules = plan.team.execution.rounds
    if rules is None or not rules.closing:
        return plan
    agents = {one: planned for one, planned in plan.agents.items() if one not in rules.closing}
    levels = (tuple(one for one in level if one in agents) for level in plan.levels)
    return replace(
        plan,
        agents=MappingProxyType(agents),
        levels=tuple(level for level in levels if level),
        workers=min(plan.workers, len(agents)),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Declared:
    """What comes after each round, as a team file has it: a `Between`.

    Attributes:
        plan: The whole team.
        rules: Its `execution.rounds`.
    """

    plan: Plan
    rules: Rounds

    @property
    def most(self) -> int:
        """How many passes there are at most."""
        return self.rules.most + bool(self.rules.closing)

    async def __call__(self, done: Sequence[Round], /) -> Next | None:
        """Give the next round, the closing pass after the last, or None.

        A round that failed is the last: on what it came to, nobody goes on or closes.
        """
        last = done[-1]
        if last.run.status != "done":
            return None
        if len(done) < self.rules.most and not self._ends(done):
            carry = self._carry(last)
            return Next(plan=last.plan, carry=carry, given=_settled(last, carry))
        if not self.rules.closing:
            return None
        return Next(plan=self.plan, given=last.run.agents, is_closing=True)

    def _ends(self, done: Sequence[Round]) -> bool:
        """Tell whether the rounds have come to what they are for."""
        match self.rules.until:
            case "unchanged":
                return len(done) > 1 and not changed(done[-2], done[-1])
            case "finalized":
                return all(_says_final(done[-1], agent_id) for agent_id in self._finalizers())
            case "never":
                return False

    def _finalizers(self) -> Iterator[str]:
        """Name the agents that repeat and can say that they are done."""
        for agent_id, planned in repeating(self.plan).agents.items():
            if planned.agent.can_finalize:
                yield agent_id

    def _carry(self, last: Round) -> Carry:
        """Give each agent its own last contribution, and what those answer to whom it reports."""
        said = {one: _report(one, last) for one in last.plan.agents}
        heard = {one: report for one, report in said.items() if report is not None}
        answers = {one: replace(report, patch=None) for one, report in heard.items()}
        reports_to = self.plan.team.reports_to
        letters = {
            one: tuple(answers[other] for other in answers if other in reports_to.get(one, ()))
            for one in last.plan.agents
        }
        return Carry(own={**last.carry.own, **heard}, letters=letters)


def changed(before: Round, after: Round) -> list[str]:
    """Name the agents whose contribution is another one than in the round before."""
    earlier, later = before.run.agents, after.run.agents
    return [one for one in later if _contribution(earlier.get(one)) != _contribution(later[one])]


def _settled(last: Round, carry: Carry) -> Mapping[str, AgentOutcome]:
    """Give the outcomes of those who would read word for word what they read before.

    In Kahn's order: what one sees stays as it was where all that it sees are settled.
    """
    settled: dict[str, AgentOutcome] = {}
    for agent_id, planned in last.plan.agents.items():
        outcome = last.run.agents[agent_id]
        is_alike = carry.of(agent_id) == last.carry.of(agent_id)
        if outcome.status == "done" and is_alike and all(one in settled for one in planned.sees):
            settled[agent_id] = outcome
    return settled


def _says_final(last: Round, agent_id: str) -> bool:
    result = last.run.agents[agent_id].result
    try:
        said: Any = first_json(result.content) if result else None
    except ValueError:
        return False
    return is_mapping(said) and said.get("final") is True


def _report(agent_id: str, last: Round) -> Report | None:
    result = last.run.agents[agent_id].result
    if result is None:
        return None
    role = last.plan.agents[agent_id].agent.role
    return Report(agent_id=agent_id, role=role, content=result.content, patch=result.patch)


def _contribution(outcome: AgentOutcome | None) -> tuple[str, str | None] | None:
    """Give what an agent said and did, but for the whitespace around it."""
    result: AgentResult | None = outcome.result if outcome else None
    return (result.content.strip(), result.patch) if result else None
