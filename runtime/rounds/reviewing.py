"""Reviewing: work is done again until all who review it accept it (MATTRL App. B.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...schema.values.values import is_list, is_mapping
from ..values.structured import object_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence, Set

    from ..agents.outcomes import AgentOutcome
    from ..plan.plan import Plan
    from .rounds import Round


def reviewers(plan: Plan) -> Mapping[str, tuple[str, ...]]:
    """Name those who review in a part of a plan, and those whose work each of them reviews.

    What was there before the rounds is not reviewed: it is not done again.
    """
    reports_to = plan.team.reports_to
    opening = plan.team.opening
    working = [agent for agent in plan.agents if agent not in opening]
    return {
        agent: tuple(reviewed for reviewed in working if agent in reports_to.get(reviewed, ()))
        for agent, planned in plan.agents.items()
        if planned.agent.reviews
    }


def authors(plan: Plan) -> frozenset[str]:
    """Name those in a part of a plan whose work is reviewed."""
    return frozenset(author for reviewed in reviewers(plan).values() for author in reviewed)


def idle(plan: Plan, absent: Set[str]) -> frozenset[str]:
    """Name the reviewers all of whose authors are among some agents."""
    return frozenset(reviewer for reviewer, of in reviewers(plan).items() if absent >= {*of})


def accepted(past: Sequence[Round]) -> frozenset[str]:
    """Name the agents whose work was accepted in some round (MATTRL App. B.4).

    It is, where each of those who review it has said *accept* of it and listed no issue. One that
    said nothing of it, or failed, has not accepted it.
    """
    return frozenset(
        author
        for item in past
        if item.kind == "round"
        for author in authors(item.plan)
        if item.run.agents[author].status == "done" and _is_accepted(item, author)
    )


def _is_accepted(round_: Round, author: str) -> bool:
    of = [reviewer for reviewer, reviewed in reviewers(round_.plan).items() if author in reviewed]
    return all(_accepts(round_.run.agents[reviewer], author) for reviewer in of)


def _accepts(outcome: AgentOutcome, author: str) -> bool:
    verdicts = [review for review in _reviews(outcome) if review.get("of") == author]
    return bool(verdicts) and all(
        review.get("verdict") == "accept" and not review.get("issues") for review in verdicts
    )


def _reviews(outcome: AgentOutcome) -> Iterator[dict[str, Any]]:
    listed = object_in(outcome.result.content).get("reviews") if outcome.result else None
    yield from (review for review in listed if is_mapping(review)) if is_list(listed) else ()
