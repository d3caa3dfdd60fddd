"""The rounds that a team file declares by itself, under `execution.rounds`.

What an agent reports to its colleagues is answered by them in the next round: that is what makes
writer and critic talk. An agent that would read word for word what it read before is settled, and
is not asked again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..schema.values import is_mapping
from .carry import Carry
from .plan import part_of
from .rounds import Next
from .runners.protocol import Report
from .silence import NOBODY_SILENT
from .structured import first_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..schema.team import Rounds
    from .outcomes import AgentOutcome
    from .plan import Plan
    from .rounds import Round
    from .runners.protocol import AgentResult
    from .silence import Silence

__all__ = ["Declared", "changed", "declared"]


def declared(plan: Plan, silent: Silence = NOBODY_SILENT) -> Declared:
    """Give what a team's `execution.rounds` says comes after each round.

    Args:
        plan: The whole team, which has them.
        silent: Who takes no part.
    """
    rules = plan.team.execution.rounds
    if rules is None:
        raise ValueError(f"{plan.team.name} declares no rounds.")
    return Declared(plan=plan, rules=rules, silent=silent)


@dataclass(frozen=True, kw_only=True, slots=True)
class Declared:
    """What comes after each round, as a team file has it: a `Between`.

    Attributes:
        plan: The whole team.
        rules: Its `execution.rounds`.
        silent: Who takes no part.
    """

    plan: Plan
    rules: Rounds
    silent: Silence = NOBODY_SILENT

    @property
    def first(self) -> Next:
        """The first pass."""
        return Next(plan=self._repeating(1))

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
        if last.number < self.rules.most and not self._ends(done):
            coming = self._repeating(last.number + 1)
            carry = self._carry(last, coming)
            return Next(plan=coming, carry=carry, given=_settled(last, coming, carry))
        return self._closing(done)

    def _repeating(self, number: int) -> Plan:
        """Give the part of the plan that works in a round."""
        silent = self.silent.during(number)
        return part_of(self.plan, {*self.plan.agents} - {*self.rules.closing} - silent)

    def _closing(self, done: Sequence[Round]) -> Next | None:
        """Give the closing pass, on what each of the others came to when it worked last."""
        closing = {*self.rules.closing} - self.silent.agents
        if not closing:
            return None
        came = {agent: outcome for one in done for agent, outcome in one.run.agents.items()}
        plan = part_of(self.plan, {*came, *closing})
        given = {agent: came[agent] for agent in plan.agents if agent in came}
        return Next(plan=plan, given=given, kind="closing")

    def _ends(self, done: Sequence[Round]) -> bool:
        """Tell whether the rounds have come to what they are for."""
        match self.rules.until:
            case "unchanged":
                return len(done) > 1 and not changed(done[-2], done[-1])
            case "finalized":
                final = [_says_final(done[-1], one) for one in _finalizers(done[-1])]
                return bool(final) and all(final)
            case "never":
                return False

    def _carry(self, last: Round, coming: Plan) -> Carry:
        """Give each agent its own last contribution, and what those answer to whom it reports."""
        said = {one: _report(one, last) for one in last.plan.agents}
        heard = {one: report for one, report in said.items() if report is not None}
        answers = {one: replace(report, patch=None) for one, report in heard.items()}
        reports_to = self.plan.team.reports_to
        letters = {
            one: tuple(answers[other] for other in answers if other in reports_to.get(one, ()))
            for one in coming.agents
        }
        return Carry(own={**last.carry.own, **heard}, letters=letters)


def changed(before: Round, after: Round) -> list[str]:
    """Name the agents whose contribution is another one than in the round before."""
    earlier, later = before.run.agents, after.run.agents
    return [one for one in later if _contribution(earlier.get(one)) != _contribution(later[one])]


def _settled(last: Round, coming: Plan, carry: Carry) -> Mapping[str, AgentOutcome]:
    """Give the outcomes of those who would read word for word what they read before.

    In Kahn's order: what one sees stays as it was where it sees the same, and all of it is settled.
    """
    settled: dict[str, AgentOutcome] = {}
    for agent_id, planned in coming.agents.items():
        if agent_id not in last.plan.agents:
            continue
        outcome = last.run.agents[agent_id]
        is_alike = carry.of(agent_id) == last.carry.of(agent_id)
        sees_alike = planned.sees == last.plan.agents[agent_id].sees
        is_still = sees_alike and all(one in settled for one in planned.sees)
        if outcome.status == "done" and is_alike and is_still:
            settled[agent_id] = outcome
    return settled


def _finalizers(last: Round) -> Iterator[str]:
    """Name the agents that repeat and can say that they are done."""
    for agent_id, planned in last.plan.agents.items():
        if planned.agent.can_finalize:
            yield agent_id


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
