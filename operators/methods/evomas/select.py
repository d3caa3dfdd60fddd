"""Selection: k parents for a task, from the pool's statistics (EvoMAS §3.2.1, Eq. 1).

First comes a deterministic shortlist. It ranks teams by their expected score in the task's niche
and by whether they can read files at all, with a penalty for relatives. Every k-th place explores:
it goes to the team with the highest upper bound (UCB: Auer et al. 2002). Then a model chooses from
the shortlist. Without a model, the first k are chosen.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....pool.expectation.expectation import DIGITS, Expectation, ranked
from ....pool.ledger.learnt import Learnt
from ....pool.ledger.members import Member
from ....schema.edits.offer.strict import among, array, closed
from ....schema.team.task import Task
from ....schema.team.team import Team
from ....schema.values.terminal import counted, on_one_line
from ...core.answers import reason_schema, structured
from ...core.bounds import Bounds
from ...core.material import clip, fenced, material, solved, task_text
from ...core.meta import MetaModel, Question, prompt
from ...core.operator import Operator, OperatorSetting
from ...core.printed import Printed
from ...core.proposal import RejectedProposal

OPERATOR = "select"
FAMILY_PENALTY = 0.1
"""The penalty of a team for each of its relatives in the shortlist."""
LONGEST_DESCRIPTION = 160
WITHOUT_TOOLS = {"llm", "function", "person"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """The parents for a task.

    Attributes:
        names: The teams, the most promising first.
    """

    names: tuple[str, ...]
    reason: str

    def printed(self) -> Printed:
        """Return it in the form that `mas dev op` prints."""
        return Printed(value="\n".join(self.names), notes=(f"reason: {self.reason}",))


async def select(
    meta_model: MetaModel | None,
    path: str,
    task: Task,
    members: Sequence[Member],
    *,
    k: int = 3,
    hits: Sequence[tuple[Learnt, float]] = (),
    expected: Mapping[str, Expectation] | None = None,
) -> Selection | RejectedProposal:
    """Choose parents.

    Args:
        meta_model: The model to ask. None: the first of the shortlist are chosen.
        members: The pool's teams, parents before children. Retired teams are never chosen, but
            their statistics count.
        k: The number of parents; fewer if the pool has fewer teams.
        hits: Memory entries on similar tasks, with similarities in [-1, 1]. They are shown with the
            listed teams, but do not affect the order: the ledger has the trials.
        expected: The teams' `expectations` in the task's niche. None: they are computed.

    Returns:
        k different teams. Repeated names count once, and the next of the shortlist fill up.
    """
    listed = shortlist(task, members, k=k, expected=expected)
    names = tuple(member.name for member in listed)
    if meta_model is None or len(names) <= k:
        reason = "All there are." if len(names) <= k else "The first by statistics."
        return Selection(names=names[:k], reason=reason)
    schema = closed(
        reason=reason_schema(meta_model.limits),
        selected=array(among(names), k, least=1),
    )
    lines = (_summary(member, expected, task, hits) for member, expected in listed.items())
    question = Question(
        operator=OPERATOR,
        instructions=prompt("select", k=k),
        material=material(task_text(task, meta_model.limits), fenced("teams", "\n".join(lines))),
        schema=schema,
        read=functools.partial(_selection, names, k, schema, meta_model.limits),
        inputs={"task": task, "members": listed, "k": k},
    )
    return await meta_model.ask(path, question)


def shortlist(
    task: Task,
    members: Sequence[Member],
    *,
    k: int,
    expected: Mapping[str, Expectation] | None = None,
) -> dict[Member, Expectation]:
    """Return 2k teams, at least k + 3, the best first, each with its expectation.

    The order is that of the teams' standing, minus a penalty for relatives already listed. Every
    k-th place (every second for k = 1) goes to the team whose interval reaches highest, and on a
    tie to the one with the fewest trials. So new teams are tried again, and none of several equal
    teams is forgotten.

    The result depends only on the arguments.

    Args:
        members: The teams, in the order of their births.
        expected: As for `select`.
    """
    expectations = ranked(members, task.niche or None, expected=expected)
    left = {member: _is_able(task, member) for member in expectations if member.retired is None}
    relatives: Counter[str] = Counter()
    chosen: dict[Member, Expectation] = {}
    while left and len(chosen) < max(2 * k, k + 3):
        explores = (len(chosen) + 1) % max(2, k) == 0
        worth = {
            member: (
                left[member],
                *_worth(member, expectations[member], relatives[member.stem], explores=explores),
            )
            for member in left
        }
        first = max(left, key=lambda member: worth[member])
        chosen[first] = expectations[first]
        relatives[first.stem] += 1
        del left[first]
    return chosen


def _worth(
    member: Member, expectation: Expectation, relatives: int, *, explores: bool
) -> tuple[float, int]:
    """Return the sort key for a place in the shortlist."""
    penalty = FAMILY_PENALTY * relatives
    if not explores:
        return round(expectation.standing, DIGITS) - penalty, 0
    counts = member.statistics
    return round(expectation.high, DIGITS) - penalty, -(counts.n + counts.failures + counts.adapted)


def _remembered(
    member: Member, hits: Sequence[tuple[Learnt, float]]
) -> Iterator[tuple[float, float]]:
    """Yield the rewards of exactly this team on similar tasks, with the tasks' similarity."""
    for entry, similarity in hits:
        if entry.team == member.content_hash and entry.reward is not None and similarity > 0:
            yield entry.reward, similarity


def _is_able(task: Task, member: Member) -> bool:
    """Return whether a team can open the files of a task."""
    if not task.files and task.repo is None:
        return True
    team = member.team
    return any(
        agent.tools or team.backend_of(agent) not in WITHOUT_TOOLS for agent in team.agents.values()
    )


def _summary(
    member: Member,
    expected: Expectation,
    task: Task,
    hits: Sequence[tuple[Learnt, float]],
) -> str:
    """Return a line with the pool's knowledge of a team."""
    own, niche = member.statistics, member.on(task.niche)
    low, high = expected.low, expected.high
    texts = [
        _shape(member.team),
        f"expected to score {expected.score:.2f}, between {low:.2f} and {high:.2f}",
        "never evaluated" if own.score is None else f"score {own.score:.2f} of {own.n}",
        f"in this niche {niche.score:.2f} of {niche.n}"
        if task.niche and niche.score is not None
        else "",
        f"failed {counted(own.failures, 'time')}" if own.failures else "",
        f"as adapted to a task {own.adapted_sum / own.adapted:.2f} of {own.adapted}"
        if own.adapted
        else "",
        *(
            f"reward {reward:.2f} on a task of similarity {similarity:.2f}"
            for reward, similarity in _remembered(member, hits)
        ),
        *(f"solved {item.q!r}" for item in solved(member.team)),
        clip(on_one_line(member.team.description), LONGEST_DESCRIPTION),
    ]
    return f"{member.name}: {'; '.join(filter(None, texts))}"


def _shape(team: Team) -> str:
    roles = list(dict.fromkeys(agent.role for agent in team.agents.values() if agent.role))
    size = f"{counted(len(team.agents), 'agent')}, {counted(len(team.edges), 'edge')}"
    return f"{size}, roles {', '.join(roles[:6])}" if roles else size


def _selection(
    names: tuple[str, ...], k: int, schema: Mapping[str, Any], bounds: Bounds, text: str
) -> Selection:
    answer = structured(text, schema, bounds)
    chosen = dict.fromkeys([*answer["selected"], *names])
    return Selection(names=tuple(chosen)[:k], reason=answer["reason"])


SELECT = Operator(
    name="select",
    scale="team",
    act=select,
    about="Choose the pool's most promising teams for a task, the best first. With --no-model,"
    " takes the first of the shortlist.",
    inputs={"k": OperatorSetting(about="How many teams to choose.", least=1, option="-k")},
    asks="maybe",
    gives="words",
)
