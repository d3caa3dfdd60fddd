"""The meta-judge of a round: each agent's contribution, and the overall quality (TacoMAS §3.3).

It reads the agents' work and the answer, but never the reference answer. So a team adapts to a
judge's opinion, and the best round is the best by that opinion.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self

from ...schema.edits.offer.strict import ANY_TEXT, FRACTION, closed
from ...schema.team.task import Task
from ...schema.team.team import Team
from ...schema.values.codec import Form, stored, to_value
from ...schema.values.terminal import on_one_line
from ..core.account import RoundAccount
from ..core.answers import reason_schema, structured
from ..core.bounds import Bounds
from ..core.judge import TENTHS
from ..core.material import clip, fenced, material, task_text
from ..core.meta import OperatorModel, Question, prompt
from ..core.operator import Operator
from ..core.printed import Printed
from ..core.proposal import RejectedProposal

OPERATOR = "contributions"
LONGEST_EARLIER = 300
"""The most characters of the answer of an earlier round."""


@stored()
class Contribution:
    """One agent's contribution to a round.

    Attributes:
        value: Its size, in [0, 1].
    """

    reason: str
    value: Annotated[float, Form(key="contribution")]

    @classmethod
    def read(cls, value: Any, reason: str, bounds: Bounds) -> Self:
        """Parse a judge's rating of one agent; the reason is cut to a single line."""
        return cls(value=float(value), reason=on_one_line(reason)[: bounds.reason])


@stored()
class Contributions:
    """A meta-judge's rating of a round.

    Attributes:
        of: Each agent's contribution by its id; every agent of the team is present.
        score: The quality of the answer, in [0, 1].
        converged: Whether a further round would change nothing that matters.
    """

    reason: str
    of: Annotated[Mapping[str, Contribution], Form(key="agents")]
    score: float
    converged: bool

    @property
    def values(self) -> Mapping[str, float]:
        """The size of each agent's contribution, by id."""
        return {agent: contribution.value for agent, contribution in self.of.items()}

    def printed(self) -> Printed:
        """Return it in the form that `mas dev op` prints."""
        return Printed(value=to_value(self), notes=(f"score {self.score:.3g}: {self.reason}",))


@dataclass(frozen=True, kw_only=True, slots=True)
class Earlier:
    """The result of an earlier round.

    Attributes:
        answer: Its answer; None without one.
        score: The meta-judge's score; None without a valid one.
    """

    answer: str | None
    score: float | None


async def contributions(
    model: OperatorModel,
    path: str,
    task: Task,
    account: RoundAccount,
    *,
    earlier: Sequence[Earlier] = (),
    rubric: str = "",
) -> Contributions | RejectedProposal:
    """Ask a meta-judge to rate a round: each agent, and the whole.

    Args:
        earlier: The results of the earlier rounds, in order.
        rubric: What makes an answer good. Empty: the rubric of `judge`.
    """
    limits, team = model.limits, account.team
    question = Question(
        operator=OPERATOR,
        instructions=prompt(
            OPERATOR, rubric=rubric.strip() or prompt("rubric"), is_first=not earlier
        ),
        material=material(
            task_text(task, limits),
            fenced("earlier_rounds", clip(_history(earlier), limits.task_characters)),
            account.text(limits),
        ),
        schema=_schema(team, reason_schema(limits), TENTHS),
        read=functools.partial(_read, team, limits),
        parents=(team.name,),
        inputs={"task": task, "account": account, "earlier": earlier},
    )
    return await model.ask(path, question)


def _history(earlier: Sequence[Earlier]) -> str:
    return "\n".join(f"round {number}: {_summary(item)}" for number, item in enumerate(earlier, 1))


def _summary(earlier: Earlier) -> str:
    scored = "no score" if earlier.score is None else f"score {earlier.score:.3g}"
    answer = "no answer" if earlier.answer is None else f"answer {on_one_line(earlier.answer)}"
    return f"{scored}; {clip(answer, LONGEST_EARLIER)}"


def contributions_in(text: str) -> Contributions:
    """Parse the rating of a round, in the form that `contributions` prints."""
    agents = {
        "type": "object",
        "minProperties": 1,
        "additionalProperties": closed(reason=ANY_TEXT, contribution=FRACTION),
    }
    fields = structured(text, _form(agents, ANY_TEXT, FRACTION), Bounds())
    return _contributions(fields, Bounds())


def _form(
    agents: Mapping[str, Any], reason: Mapping[str, Any], share: Mapping[str, Any]
) -> Mapping[str, Any]:
    return closed(reason=reason, agents=agents, score=share, converged={"type": "boolean"})


def _schema(team: Team, reason: Mapping[str, Any], share: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema in which each agent is a field, so that it occurs exactly once."""
    fields = closed(reason=reason, contribution=share)
    return _form(closed(**dict.fromkeys(team.agents, fields)), reason, share)


def _read(team: Team, bounds: Bounds, text: str) -> Contributions:
    """Parse a rating. Any fraction is accepted; reasons of any length are accepted, and cut."""
    fields = structured(text, _schema(team, ANY_TEXT, FRACTION), bounds)
    agents = {agent: fields["agents"][agent] for agent in team.agents}
    return _contributions({**fields, "agents": agents}, bounds)


def _contributions(answer: Mapping[str, Any], bounds: Bounds) -> Contributions:
    return Contributions(
        of={
            agent: Contribution.read(item["contribution"], item["reason"], bounds)
            for agent, item in answer["agents"].items()
        },
        score=float(answer["score"]),
        reason=answer["reason"],
        converged=answer["converged"],
    )


CONTRIBUTIONS = Operator(
    name="contributions",
    scale="team",
    act=contributions,
    about="Let a model judge what each agent contributed to a run, and how good the whole is. It"
    " is not shown the reference answer. `coach` and `restructure` read the result with --judged.",
    gives="words",
)
