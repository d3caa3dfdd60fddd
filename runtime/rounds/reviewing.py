"""Reviewing: work is repeated until all its reviewers accept it (MATTRL App. B.4)."""

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
    """Return the reviewers in a part of a plan, each with the agents whose work it reviews.

    Work from before the rounds is not reviewed, because it is not repeated.
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
    """Return the agents in a part of a plan whose work is reviewed."""
    return frozenset(author for reviewed in reviewers(plan).values() for author in reviewed)


def idle(plan: Plan, absent: Set[str]) -> frozenset[str]:
    """Return the reviewers whose authors are all among some agents."""
    return frozenset(reviewer for reviewer, of in reviewers(plan).items() if absent >= {*of})


def accepted(past: Sequence[Round]) -> frozenset[str]:
    """Return the agents whose work was accepted in some round (MATTRL App. B.4).

    Work is accepted if each of its reviewers answered *accept* for it and listed no issue. A
    reviewer that failed or did not mention the work has not accepted it.
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
