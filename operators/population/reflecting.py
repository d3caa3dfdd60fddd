"""Reflection: what an agent should know from now on, from a task of its (EvoChamber §3.3).

After a task every member of the team is asked for once: a lesson for tasks of that niche, and an
insight for tasks of any. Both become entries of its own archive. What the reference answer is, is
never shown; what the answer was worth, is.
"""

from __future__ import annotations

import functools
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...pool.learnt import LONGEST_TASK, Learnt
from ...schema.terminal import on_one_line
from ..answers import closed, structured
from ..material import clip, fenced, material, task_text
from ..meta import Question, prompt
from ..operator import Operator, operator_of
from ..proposal import Dropped
from ..together import together
from .fusing import LONGEST_ENTRY
from .work import works

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import click

    from ...runtime.outcomes import Run
    from ...schema.task import Task
    from ..bounds import Bounds
    from ..episode import Episode
    from ..meta import Respondent
    from .work import Attempt, Seated, Work

__all__ = ["REFLECT", "Reflection", "reflect", "reflect_all"]

OPERATOR = "reflect"


@dataclass(frozen=True, kw_only=True, slots=True)
class Reflection:
    """What a task taught one agent. Either text is empty where it taught nothing of that sort.

    Attributes:
        lesson: For tasks of the same niche.
        insight: For tasks of any.
    """

    lesson: str
    insight: str

    def entries(self, task: Task, agent: str, *, credit: float, run: str) -> Iterator[Learnt]:
        """Give what there is to keep, as entries of the agent's archive.

        Args:
            task: The task.
            agent: Whose they are.
            credit: The team's reward, in [0, 1].
            run: The evolution that they come from.
        """
        known: dict[str, Any] = {"owner": agent, "case": task.id, "credit": credit, "run": run}
        key = task.text[:LONGEST_TASK]
        if self.lesson:
            yield Learnt(kind="lesson", task=key, text=self.lesson, niche=task.niche, **known)
        if self.insight:
            yield Learnt(kind="insight", task=key, text=self.insight, **known)


async def reflect(
    meta: Respondent, path: str, task: Task, work: Work, *, reward: float
) -> Reflection | Dropped:
    """Draw from a member's work what it should know from now on (EvoChamber §3.3).

    Args:
        meta: Who is asked.
        path: Which reflection this is: `task 12/reflect/solver_3`.
        task: The task. Its reference answer is not shown.
        work: What the member did.
        reward: What the team's answer was worth, in [0, 1].

    Raises:
        CoterieError: As for `Respondent.ask`.
    """
    limits = meta.limits
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
    )
    return await meta.ask(path, question)


def _outcome(run: Run, reward: float, bounds: Bounds) -> str:
    """Show what the team came to, and what that was worth."""
    said = run.answer if run.answer is not None else f"(none: {run.error or 'nobody gave one'})"
    return material(
        fenced("team_answer", clip(said.strip() or "(empty)", bounds.task_characters)),
        fenced("team_worth", f"the team's answer: {reward:.3g}"),
    )


def _read(longest: int, bounds: Bounds, text: str) -> Reflection:
    """Read both texts; what is longer than its room is cut, and what has no words is empty."""
    anything = {"type": "string"}
    said = structured(text, closed(lesson=anything, insight=anything), bounds)
    return Reflection(**{name: _words(said[name])[:longest] for name in ("lesson", "insight")})


def _words(text: str) -> str:
    line = on_one_line(text)
    return line if any(map(str.isalnum, line)) else ""


async def reflect_all(
    episode: Episode, seated: Seated, run: Run, attempts: Sequence[Attempt], reward: float
) -> None:
    """Have every member of a team reflect on a task, side by side, and keep what they learnt.

    A member of whose reflection nothing is of use learns nothing, which is counted, as is who found
    nothing worth keeping.

    Args:
        episode: The task. Where nothing is learnt, or the recipe has it so, nobody is asked.
        seated: The team.
        run: What came of it.
        attempts: What members answered, with their scores.
        reward: What the team's answer was worth, in [0, 1].

    Raises:
        CoterieError: As for `Respondent.ask`.
    """
    if not (episode.learning and episode.settings.learning):
        return
    members = works(episode, seated, run, attempts)
    came = await together(*(_reflected(episode, one, reward) for one in members))
    kept = Counter(lesson=0, insight=0)
    for work, one in zip(members, came, strict=True):
        if isinstance(one, Dropped):
            episode.lose(one)
            continue
        entries = [*one.entries(episode.task, work.agent, credit=reward, run=episode.stage.name)]
        for entry in entries:
            episode.keep(entry, f"{entry.kind} of {work.agent}")
        kept.update(entry.kind for entry in entries)
    episode.told |= {f"{kind}s": float(number) for kind, number in kept.items()}


async def _reflected(episode: Episode, work: Work, reward: float) -> Reflection | Dropped:
    path = f"{episode.path}reflect/{work.agent}"
    return await operator_of(OPERATOR).act(episode.meta, path, episode.task, work, reward=reward)


def _command() -> click.Command:
    from ..command.learning import reflect_on_run

    return reflect_on_run


REFLECT = Operator(
    name=OPERATOR,
    scale="agent",
    act=reflect,
    about="Put what an agent should know from now on into a lesson and an insight.",
    command=_command,
)
