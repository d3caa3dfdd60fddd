"""Reflection: what an agent learns from one of its tasks (EvoChamber §3.3).

After a task, every member of the team writes a lesson for tasks of that niche, and an insight for
all tasks. Both become entries of its own archive. The reference answer is never shown, but the
reward is.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ....pool.ledger.learnt import LONGEST_TASK, Learnt
from ....runtime.values.together import together
from ....schema.edits.offer.strict import ANY_TEXT, closed
from ...core.account import answer_text
from ...core.answers import structured
from ...core.material import fenced, material, task_text
from ...core.meta import Question, prompt
from ...core.operator import Operator, operator_of
from ...core.proposal import RejectedProposal
from .lifecycle.fusing import LONGEST_ENTRY, Settled, settled
from .wording import words
from .work import works

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ....runtime.agents.outcomes import Run
    from ....schema.team.task import Task
    from ...core.bounds import Bounds
    from ...core.meta import OperatorModel
    from ...evolution.episode import Episode
    from .attempts import MemberAttempt
    from .seating import Seated
    from .work import MemberWork

OPERATOR = "reflect"


@dataclass(frozen=True, kw_only=True, slots=True)
class Reflection:
    """What one agent learnt from a task. Either text is empty if there was nothing to learn.

    Attributes:
        lesson: For tasks of the same niche.
    """

    lesson: str
    insight: str

    def entries(self, task: Task, agent: str, *, credit: float, run: str) -> Iterator[Learnt]:
        """Yield its texts as entries of the agent's archive.

        Args:
            credit: The team's reward, in [0, 1].
            run: The evolution in which they were learnt.
        """
        shared: dict[str, Any] = {"owner": agent, "case": task.id, "credit": credit, "run": run}
        key = task.text[:LONGEST_TASK]
        if self.lesson:
            yield Learnt(kind="lesson", task=key, text=self.lesson, niche=task.niche, **shared)
        if self.insight:
            yield Learnt(kind="insight", task=key, text=self.insight, **shared)


async def reflect(
    model: OperatorModel, path: str, task: Task, work: MemberWork, *, reward: float
) -> Reflection | RejectedProposal:
    """Ask what a member should learn from its work (EvoChamber §3.3).

    Args:
        reward: The reward of the team's answer, in [0, 1].
    """
    limits = model.limits
    longest = min(LONGEST_ENTRY, limits.characters)
    instructions = prompt(
        OPERATOR, agent=work.agent, longest=longest, has_own=work.score is not None
    )
    text = {"type": "string", "maxLength": longest}
    question = Question(
        operator=OPERATOR,
        instructions=instructions,
        material=material(
            task_text(task, limits), work.text(limits), _outcome(work.account.run, reward, limits)
        ),
        schema=closed(lesson=text, insight=text),
        read=functools.partial(_read, longest, limits),
        inputs={"task": task, "work": work, "reward": reward},
    )
    return await model.ask(path, question)


def _outcome(run: Run, reward: float, bounds: Bounds) -> str:
    return material(
        answer_text("team_answer", run.answer, run.error, bounds),
        fenced("team_worth", f"the team's answer: {reward:.3g}"),
    )


def _read(longest: int, bounds: Bounds, text: str) -> Reflection:
    """Parse both texts: long ones are cut, and a text without words becomes empty."""
    read = structured(text, closed(lesson=ANY_TEXT, insight=ANY_TEXT), bounds)
    return Reflection(**{name: words(read[name], longest) for name in ("lesson", "insight")})


async def reflect_all(
    episode: Episode, seated: Seated, run: Run, attempts: Sequence[MemberAttempt], reward: float
) -> None:
    """Ask every member of a team to reflect on a task, concurrently, and keep the entries.

    An entry is fused with a near-duplicate of the member's archive. A member without a valid
    reflection learns nothing; rejections and entries are counted.

    Args:
        reward: The reward of the team's answer, in [0, 1].
    """
    if not (episode.learning and episode.settings.learning):
        return
    members = works(episode, seated, run, attempts)
    result = await together(*(_learnt(episode, member, reward) for member in members))
    entries = [item for of in result for item in of if isinstance(item, Settled)]
    for entry in entries:
        episode.keep(entry.entry, f"{entry.entry.kind} of {entry.entry.owner}")
    for lost in (
        item.rejected if isinstance(item, Settled) else item for of in result for item in of
    ):
        if lost is not None:
            episode.lose(lost)
    episode.figures |= {
        "lessons": sum(settled.entry.kind == "lesson" for settled in entries),
        "insights": sum(settled.entry.kind == "insight" for settled in entries),
        "fused": sum(bool(settled.entry.replaces) for settled in entries),
    }


async def _learnt(
    episode: Episode, work: MemberWork, reward: float
) -> list[Settled | RejectedProposal]:
    """Ask one member to reflect; return its entries and rejections."""
    name, task = work.agent, episode.task
    result: Reflection | RejectedProposal = await operator_of(OPERATOR).act(
        episode.meta_model, f"{episode.path}reflect/{name}", task, work, reward=reward
    )
    if isinstance(result, RejectedProposal):
        return [result]
    entries = result.entries(task, name, credit=reward, run=episode.context.name)
    paths = ((entry, f"{episode.path}fuse/{entry.kind} of {name}") for entry in entries)
    settledses = await together(
        *(settled(episode, learnt, (name,), path) for learnt, path in paths)
    )
    return [item for of in settledses for item in of]


REFLECT = Operator(
    name=OPERATOR,
    scale="agent",
    act=reflect,
    about="Let a model write an agent's lesson from a run, for tasks of the same niche, and an"
    " insight for all tasks. Either may be empty. The model does not see the reference answer.",
    gives="words",
)
