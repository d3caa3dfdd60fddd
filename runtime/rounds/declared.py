"""The passes that a team file declares under `execution.rounds` and `execution.recruit`.

Colleagues answer an agent's report in the next round, which lets a writer and a critic talk. An
agent is settled, and its model is not called again, if its input would not change, if it has
nothing new to say, or if its work is accepted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...schema.team.team import Recruit, Rounds
from ..agents.outcomes import AgentOutcome
from ..agents.round_state import RoundState
from ..agents.runner import AgentReport, AgentResult
from ..plan.plan import Plan, part_of
from ..values.structured import object_in
from .consulting import bulletin, has_converged, news, opinion, whole
from .recruiting import choice, fallback, notice_of_choosing, notices_of_seats
from .reviewing import accepted, authors, idle
from .rounds import NOBODY_SILENT, Ablation, Next, Round

ONCE = Rounds(most=1, until="never")
"""The rounds of a team that declares none."""


def declared(plan: Plan, silent: Ablation = NOBODY_SILENT) -> Declared:
    """Return a team's first pass and its rule for the pass after each."""
    rules = plan.team.execution.rounds or ONCE
    return Declared(plan=plan, rules=rules, silent=silent, opening=plan.team.opening)


@dataclass(frozen=True, kw_only=True, slots=True)
class Declared:
    """The rule of a team file for the pass after each pass: a `Between`.

    Attributes:
        opening: The agents that work once, before the rounds.
    """

    plan: Plan
    rules: Rounds
    silent: Ablation = NOBODY_SILENT
    opening: frozenset[str] = field(default_factory=frozenset[str])

    @property
    def recruit(self) -> Recruit | None:
        """The agent that recruits, if any."""
        return self.plan.team.execution.recruit

    @property
    def most(self) -> int:
        """The largest possible number of passes."""
        meetings = self.rules.most - 1 if self.rules.meeting else 0
        return bool(self.opening) + self.rules.most + meetings + bool(self.rules.closing)

    @property
    def first(self) -> Next:
        """The first pass: the opening agents, or the first round."""
        part = part_of(self.plan, self.opening - self.silent.agents)
        if not part.agents:
            return self._round(())
        recruit, notices = self.recruit, {}
        if recruit is not None and recruit.by in part.agents:
            notices = {recruit.by: notice_of_choosing(self.plan.team, recruit)}
        return Next(plan=part, state=RoundState(notices=notices), kind="opening")

    async def __call__(self, past: Sequence[Round], /) -> Next | None:
        """Return the next round, a meeting before it, the closing pass after the last, or None.

        A failed round is the last pass: no agent continues from its result.
        """
        last = past[-1]
        if not self._goes_on(last):
            return None
        if last.kind == "round" and (last.number == self.rules.most or self._ends(past)):
            return self._closing(past)
        return (self._meeting(past) if last.kind == "round" else None) or self._round(past)

    def _goes_on(self, last: Round) -> bool:
        """Return whether the team's `on_error` allows another pass after this one."""
        is_beside = last.kind in {"opening", "meeting"}
        is_borne = is_beside and self.plan.team.execution.on_error != "fail"
        return last.run.status == "done" or (is_borne and last.run.status == "failed")

    def chosen(self, past: Sequence[Round]) -> tuple[Mapping[str, str], str | None] | None:
        """Return the recruited agents with their seats' descriptions, and the recruiter's reason.

        Returns:
            The first agents of the catalogue, and None as the reason, if the recruiter failed. None
            if the team does not recruit.
        """
        recruit = self.recruit
        if recruit is None:
            return None
        outcome = next(
            (item.run.agents.get(recruit.by) for item in past if item.kind == "opening"), None
        )
        if outcome is None or outcome.status != "done":
            return fallback(recruit), None
        return choice(recruit, outcome)

    def _present(self, past: Sequence[Round]) -> frozenset[str]:
        """Return all agents that take part in the run. A recruiter that failed reports nothing."""
        chosen, recruit = self.chosen(past), self.recruit
        everybody = frozenset(self.plan.agents) - self.silent.agents
        if chosen is None or recruit is None:
            return everybody
        agents, reason = chosen
        mute = {recruit.by} if reason is None else set[str]()
        return everybody - (frozenset(recruit.among) - {*agents}) - mute

    def _notices(self, past: Sequence[Round]) -> Mapping[str, Any]:
        chosen = self.chosen(past)
        return notices_of_seats(chosen[0]) if chosen else {}

    def _repeating(self, past: Sequence[Round], number: int) -> Plan:
        """Return the part of the plan that works in a round, on the results of the opening agents.

        A reviewer with no work left to review takes no part.
        """
        beside = {*self.rules.closing, self.rules.meeting}
        part = part_of(self.plan, self._present(past) - beside - self.silent.during(number))
        if self.rules.until != "accepted":
            return part
        return part_of(part, {*part.agents} - idle(part, frozenset()))

    def _round(self, past: Sequence[Round]) -> Next:
        """Return the next round."""
        rounds = _rounds(past)
        coming = self._repeating(past, len(rounds) + 1)
        opened = {
            agent: outcome
            for item in past
            if item.kind == "opening"
            for agent, outcome in item.run.agents.items()
            if agent in coming.agents
        }
        state = self._round_state(past, coming)
        is_over = accepted(rounds) if self.rules.until == "accepted" else frozenset[str]()
        preset = {**opened, **settled(rounds, coming, state, opened, is_over)}
        return Next(plan=coming, state=state, preset=preset)

    def _round_state(self, past: Sequence[Round], coming: Plan) -> RoundState:
        """Give each agent its own last contribution and the replies of the agents that it hears."""
        rounds, consulting = _rounds(past), self._consulting(coming)
        if not rounds:
            return RoundState(notices=self._notices(past), consulting=consulting)
        last = rounds[-1]
        fields = {
            agent: _report(agent, last) for agent in last.plan.agents if agent not in self.opening
        }
        reports = {name: report for name, report in fields.items() if report is not None}
        answers = {
            name: replace(report, patch=None, changes=()) for name, report in reports.items()
        }
        letters = {
            agent: tuple(
                answers[sender] for sender in answers if sender in self._sources_of(coming, agent)
            )
            for agent in coming.agents
        }
        opinions = {
            name: replace(report, content=opinion(rounds, name))
            for name, report in reports.items()
            if name in consulting
        }
        return RoundState(
            own={**last.state.own, **reports, **opinions},
            letters=letters,
            bulletin=self._bulletin(past) if consulting else "",
            notices=self._notices(past),
            consulting=consulting,
        )

    def _sources_of(self, coming: Plan, agent: str) -> Collection[str]:
        """Return the agents whose answers of the last round an agent reads in the next."""
        hears = self.rules.hears
        if hears == "reports":
            return self.plan.team.reports_to.get(agent, ())
        sources = coming.agents if hears == "others" else hears
        return {*sources} - {agent, *coming.agents[agent].sees}

    def _consulting(self, part: Plan) -> frozenset[str]:
        """Return the agents of a part of the plan that consult."""
        if self.rules.until != "converged":
            return frozenset()
        repeating = {*part.agents} - self.opening - {*self.rules.closing, self.rules.meeting}
        return frozenset(name for name in repeating if part.agents[name].agent.consults)

    def _bulletin(self, past: Sequence[Round]) -> str:
        """Return the result of the last meeting, or the merge by rule if there was no meeting."""
        meetings = [item for item in past if item.kind == "meeting"]
        outcome = meetings[-1].run.agents[str(self.rules.meeting)] if meetings else None
        if outcome is not None and outcome.result is not None:
            return outcome.result.content
        agents = [agent for agent in self.plan.agents if agent in self._consulting(self.plan)]
        return bulletin(past, agents)

    def _meeting(self, past: Sequence[Round]) -> Next | None:
        """Return the meeting after a round, if an agent leads it and a statement is new."""
        chair = self.rules.meeting
        part = part_of(self.plan, self._present(past))
        speakers = news(past, self._consulting(part))
        if chair is None or chair not in part.agents or not speakers:
            return None
        last = past[-1]
        meetings = [item for item in past if item.kind == "meeting"]
        before = _report(chair, meetings[-1]) if meetings else None
        coming = part_of(part, {chair, *speakers})
        preset = {agent: last.run.agents[agent] for agent in coming.agents if agent != chair}
        state = RoundState(own={chair: before} if before else {})
        return Next(plan=coming, state=state, preset=preset, kind="meeting")

    def _closing(self, past: Sequence[Round]) -> Next | None:
        """Return the closing pass, which reads the last result of every other agent.

        For an agent that consults, that result is its whole opinion.
        """
        present = self._present(past)
        closing = present & {*self.rules.closing}
        if not closing:
            return None
        fields = {agent: outcome for item in past for agent, outcome in item.run.agents.items()}
        opinions = {
            name: whole(past, name) for name in self._consulting(self.plan) if name in fields
        }
        fields |= {name: outcome for name, outcome in opinions.items() if outcome is not None}
        plan = part_of(self.plan, present & {*fields, *closing})
        preset = {agent: fields[agent] for agent in plan.agents if agent in fields}
        return Next(
            plan=plan, state=RoundState(notices=self._notices(past)), preset=preset, kind="closing"
        )

    def _ends(self, past: Sequence[Round]) -> bool:
        """Return whether the rounds have reached their goal."""
        rounds, last = _rounds(past), past[-1]
        match self.rules.until:
            case "unchanged":
                return len(rounds) > 1 and not changed(rounds[-2], last)
            case "finalized":
                final = [_says_final(last, finalizer) for finalizer in self._finalizers(last)]
                return bool(final) and all(final)
            case "converged":
                consulting = self._consulting(part_of(self.plan, self._present(past)))
                return all(has_converged(rounds, name) for name in consulting)
            case "accepted":
                return authors(part_of(self.plan, self._present(past))) <= accepted(rounds)
            case "never":
                return False

    def _finalizers(self, last: Round) -> Iterator[str]:
        """Return the repeating agents that can declare the work finished."""
        for agent_id, planned in last.plan.agents.items():
            is_there = not last.run.agents[agent_id].unneeded
            if planned.agent.can_finalize and agent_id not in self.opening and is_there:
                yield agent_id


def _rounds(past: Sequence[Round]) -> Sequence[Round]:
    return [item for item in past if item.kind == "round"]


def _says_final(last: Round, agent_id: str) -> bool:
    result = last.run.agents[agent_id].result
    return result is not None and object_in(result.content).get("final") is True


def _report(agent_id: str, last: Round) -> AgentReport | None:
    outcome = last.run.agents[agent_id]
    if (result := outcome.result) is None:
        return None
    return AgentReport(
        agent_id=agent_id,
        role=last.plan.agents[agent_id].agent.role,
        content=result.content,
        patch=result.patch,
        changes=outcome.changes if result.patch else (),
    )


def settled(
    rounds: Sequence[Round],
    coming: Plan,
    state: RoundState,
    opened: Collection[str],
    accepted: frozenset[str],
) -> Mapping[str, AgentOutcome]:
    """Return the outcomes of the agents that need not work in a round.

    Such an agent would read exactly what it read before, has nothing new to say, or did work that
    was accepted. In Kahn's order: an agent's input is unchanged if it has the same sources and all
    of them are settled.

    Args:
        coming: The agents that are to work in the next round.
        opened: Those of them that worked before the rounds.
    """
    fields = {agent: outcome for item in rounds for agent, outcome in item.run.agents.items()}
    is_over = accepted | idle(coming, accepted) if accepted else accepted
    record: dict[str, AgentOutcome] = {}
    for agent_id in coming.agents:
        if agent_id not in fields or agent_id in opened:
            continue
        if agent_id in state.consulting:
            is_settled = has_converged(rounds, agent_id)
        else:
            still = {*record, *opened}
            is_alike = _reads_alike(agent_id, rounds[-1], coming, state, still)
            is_settled = agent_id in is_over or is_alike
        if is_settled:
            record[agent_id] = fields[agent_id]
    return record


def changed(before: Round, after: Round) -> list[str]:
    """Return the agents whose contribution differs from that of the round before."""
    earlier, later = before.run.agents, after.run.agents
    return [
        name for name in later if _contribution(earlier.get(name)) != _contribution(later[name])
    ]


def _reads_alike(
    agent_id: str, last: Round, coming: Plan, state: RoundState, still: Collection[str]
) -> bool:
    """Return whether an agent succeeded and would read exactly what it read before."""
    planned, before = coming.agents[agent_id], last.plan.agents.get(agent_id)
    if before is None or last.run.agents[agent_id].status != "done":
        return False
    sees_alike = planned.sees == before.sees and all(see in still for see in planned.sees)
    return sees_alike and state.of(agent_id) == last.state.of(agent_id)


def _contribution(outcome: AgentOutcome | None) -> tuple[str, str | None] | None:
    """Return an agent's output and actions, without surrounding whitespace."""
    result: AgentResult | None = outcome.result if outcome else None
    return (result.content.strip(), result.patch) if result else None
