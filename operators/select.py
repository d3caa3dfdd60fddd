"""Selection: k parents for a task, from what the pool knows of its teams (EvoMAS §3.2.1, Eq. 1).

First, deterministically, a shortlist: by what a team is expected to score on the task's niche, with
what the memory says of it on similar tasks, by whether it can work on files at all, and with regard
to diversity. Then a model chooses among the shortlist. Without a model, the first k are chosen.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..pool.expectation import expected_scores
from ..runtime.terminal import counted
from ..schema.terminal import on_one_line
from .answers import closed, reason_schema, structured
from .material import clip, fenced, material, task_text
from .meta import Question, prompt

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..pool.experience import Experience
    from ..pool.members import Member
    from ..schema.task import Task
    from ..schema.team import Team
    from .bounds import Bounds
    from .meta import Meta
    from .proposal import Dropped

__all__ = ["Selection", "select", "shortlist"]

OPERATOR = "select"
FAMILY_PENALTY = 0.1
"""What a team is worth less for each of its relatives that was taken already."""
WITHOUT_TOOLS = {"llm", "function"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """The parents for a task.

    Attributes:
        names: The teams, the most promising first.
        reason: Why these.
        shortlist: What there was to choose from.
    """

    names: tuple[str, ...]
    reason: str
    shortlist: tuple[str, ...]


async def select(
    meta: Meta | None,
    path: str,
    task: Task,
    members: Sequence[Member],
    *,
    k: int = 3,
    hits: Sequence[tuple[Experience, float]] = (),
) -> Selection | Dropped:
    """Choose parents.

    Args:
        meta: The model to ask. None: the first of the shortlist are taken.
        path: Which selection this is: `task 12/select`.
        task: What they are to do. Its reference answer is not shown.
        members: The pool's teams.
        k: How many, where there are as many.
        hits: What the memory has on similar tasks, with similarities in [-1, 1].

    Returns:
        k different teams. A team that the model names twice counts once, and where it names fewer
        than k the next of the shortlist follow.

    Raises:
        CoterieError: As for `Meta.ask`, or a team's file is damaged.
    """
    listed = shortlist(task, members, most=max(2 * k, k + 3), hits=hits)
    names = tuple(member.name for member in listed)
    if meta is None or len(names) <= k:
        reason = "All there are." if len(names) <= k else "The first by statistics and memory."
        return Selection(names=names[:k], reason=reason, shortlist=names)
    chosen = {"type": "string", "enum": list(names)}
    schema = closed(
        reason=reason_schema(meta.limits),
        selected={"type": "array", "items": chosen, "minItems": 1, "maxItems": k},
    )
    lines = (_told(member, expected, task, hits) for member, expected in listed.items())
    question = Question(
        operator=OPERATOR,
        instructions=prompt("select", k=k),
        material=material(task_text(task, meta.limits), fenced("teams", "\n".join(lines))),
        schema=schema,
        read=functools.partial(_selection, names, k, schema, meta.limits),
    )
    return await meta.ask(path, question)


def shortlist(
    task: Task,
    members: Sequence[Member],
    *,
    most: int,
    hits: Sequence[tuple[Experience, float]] = (),
) -> dict[Member, float]:
    """Give the most promising teams, the first first, each with the score that is expected of it.

    It is the same for the same arguments.

    Args:
        task: What they are to do.
        members: The teams, in the order of their births.
        most: How many, at most.
        hits: What the memory has on similar tasks.
    """
    # What the memory has of a team counts as trials, each with the weight of its similarity.
    remembered = {
        member.name: [
            (min(1.0, max(0.0, reward)), near) for reward, near in _remembered(member, hits)
        ]
        for member in members
    }
    expected = expected_scores(members, task.niche, remembered=remembered)
    able = {member: _is_able(task, member) for member in members}
    taken: dict[Member, float] = {}
    while able and len(taken) < most:
        families = [member.stem for member in taken]
        first = max(
            able,
            key=lambda one: (
                able[one],
                expected[one.name] - FAMILY_PENALTY * families.count(one.stem),
            ),
        )
        taken[first] = expected[first.name]
        del able[first]
    return taken


def _remembered(
    member: Member, hits: Sequence[tuple[Experience, float]]
) -> Iterator[tuple[float, float]]:
    """Give rewards that this very team had on similar tasks, and how similar these were."""
    for entry, similarity in hits:
        if entry.team == member.content_hash and entry.reward is not None and similarity > 0:
            yield entry.reward, similarity


def _is_able(task: Task, member: Member) -> bool:
    """Tell whether a team can open what the task comes with."""
    if not task.files and task.repo is None:
        return True
    team = member.team
    return any(
        agent.tools or team.backend_of(agent) not in WITHOUT_TOOLS for agent in team.agents.values()
    )


def _told(
    member: Member, expected: float, task: Task, hits: Sequence[tuple[Experience, float]]
) -> str:
    """Say in a line what the pool knows of a team."""
    said = [_shape(member.team), f"expected to score {expected:.2f}"]
    known = member.statistics
    said.append(
        "never evaluated" if known.score is None else f"score {known.score:.2f} of {known.n}"
    )
    if task.niche is not None and (score := member.on(task.niche).score) is not None:
        said.append(f"in this niche {score:.2f} of {member.on(task.niche).n}")
    if known.failures:
        said.append(f"failed {counted(known.failures, 'time')}")
    for reward, similarity in _remembered(member, hits):
        said.append(f"reward {reward:.2f} on a task of similarity {similarity:.2f}")
    said.append(clip(on_one_line(member.team.description), 160))
    return f"{member.name}: {'; '.join(filter(None, said))}"


def _shape(team: Team) -> str:
    roles = list(dict.fromkeys(one.role for one in team.agents.values() if one.role))
    size = f"{counted(len(team.agents), 'agent')}, {counted(len(team.edges), 'edge')}"
    return f"{size}, roles {', '.join(roles[:6])}" if roles else size


def _selection(
    names: tuple[str, ...], k: int, schema: Mapping[str, Any], bounds: Bounds, text: str
) -> Selection:
    answer = structured(text, schema, bounds)
    chosen = dict.fromkeys([*answer["selected"], *names])
    return Selection(names=tuple(chosen)[:k], reason=answer["reason"], shortlist=names)
