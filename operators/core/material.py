"""The texts that operators show to a model: tasks, teams, digests and memories, each in a fence.

All these texts are untrusted, and models wrote some of them. Each therefore stands between
markers that its author could not predict, and none of them counts as an instruction.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...runtime.messages.messages import fence
from ...schema import dump
from ...schema.team.team import SolvedTask, is_prompt_id, natural
from ...schema.team.words import span
from ...schema.values.terminal import on_one_line, speakable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from ...pool.ledger.learnt import Learnt
    from ...schema.host.catalogue import Catalogue
    from ...schema.team.task import Task
    from ...schema.team.team import Agent, Team
    from .bounds import Bounds
    from .meta import OperatorModel
    from .proposal import Parent

CHARACTERS_PER_TOKEN = 4
"""A cautious estimate for English prose, from providers' documentation."""
BRIEF = 80
"""Characters of a prompt in an outline."""
LONGEST_TASK = 120
"""Characters of an earlier task; only its kind matters."""
LONGEST_NOTE = 300
"""Characters of a note on a model or on a solved task."""
MOST_SOLVED = 3


def material(*parts: str) -> str:
    """Join the parts that are not empty."""
    return "\n\n".join(part for part in parts if part)


def fenced(kind: str, text: str, name: str = "") -> str:
    """Put a text between markers that carry its digest; return "" for an empty text."""
    if not (shown := speakable(text).strip()):
        return ""
    mark = f"{kind} {fence(shown)}"
    title = f'{mark} "{on_one_line(name).replace(chr(34), chr(39))}"' if name else mark
    return f"<{title}>\n{shown}\n</{mark}>"


def clip(text: str, most: int) -> str:
    """Cut a text to a number of characters: keep its beginning, and more of its end."""
    if len(text) <= most:
        return text
    note = " […] "
    if most <= 3 * len(note):
        return text[: max(most, 0)]
    head = (most - len(note)) // 3
    return text[:head] + note + text[head + len(note) - most :]


def prompt_of(agent: Agent, catalogue: Catalogue) -> str:
    """Return an agent's prompt; of a named one, its text, which is "" if there is none."""
    return (catalogue.prompt(agent.prompt) or "") if is_prompt_id(agent.prompt) else agent.prompt


def task_text(task: Task, bounds: Bounds) -> str:
    """Return a task as shown to a model, without its reference answer."""
    named = sorted({*task.files, *task.attachments})
    files = f"Files: {', '.join(named)}" if named else ""
    repo = "It comes with a git repository." if task.repo else ""
    shown = material(task.text, files, repo)
    return fenced("task", clip(shown, bounds.task_characters))


def parent_text(parent: Parent, catalogue: Catalogue, bounds: Bounds, kind: str = "team") -> str:
    """Return a team, the last tasks that it solved, and its result on the current task."""
    team = replace(parent.team, lineage=None, successful_tasks=solved(parent.team))
    reward = "" if parent.reward is None else f"Reward: {parent.reward:.3g}"
    feedback = material(reward, parent.digest[: bounds.digest_tokens * CHARACTERS_PER_TOKEN])
    return material(
        fenced(kind, _team_text(team, catalogue, bounds.team_characters), team.name),
        fenced(f"{kind}_run", feedback, team.name),
    )


def models_text(operator_model: OperatorModel, models: Collection[str] | None = None) -> str:
    """Return the user's notes on the available models; "" if there are none.

    Args:
        models: The aliases to choose from. None: all that the ceiling allows.
    """
    wanted = operator_model.ceiling.models if models is None else models
    noted = {
        alias: on_one_line(model.notes)
        for alias, model in operator_model.catalogue.models.items()
        if alias in wanted and model.notes
    }
    lines = [
        f"- {alias}: {clip(noted[alias], LONGEST_NOTE)}" for alias in sorted(noted, key=natural)
    ]
    return fenced("models", clip("\n".join(lines), operator_model.limits.task_characters))


def memories_text(memories: Sequence[Learnt], bounds: Bounds) -> str:
    """Return the entries that were learnt on similar tasks."""
    lines = (
        f"- On {clip(on_one_line(memory.task), LONGEST_TASK)!r}:"
        f" {clip(on_one_line(memory.text), 400)}"
        for memory in memories[: bounds.memories]
    )
    return fenced("memory", "\n".join(lines))


def _team_text(team: Team, catalogue: Catalogue, most: int) -> str:
    """Return a team as YAML with the prompt files it names, or an outline if that is too long."""
    named = {agent.prompt for agent in team.agents.values() if is_prompt_id(agent.prompt)}
    files = (f"# {name}.md\n{catalogue.prompt(name) or ''}" for name in sorted(named))
    prompts = material(*files)
    for shown in (team, replace(team, successful_tasks=())):
        whole = material(dump(shown).partition("\n")[2], prompts)
        if len(whole) <= most:
            return whole
    return clip("\n".join(_outline(team, catalogue)), most)


def solved(team: Team) -> tuple[SolvedTask, ...]:
    """Return the last tasks that a team solved, shortened: they serve as hints, not as examples."""
    return tuple(
        SolvedTask(
            q=clip(on_one_line(successful_task.q), LONGEST_TASK),
            notes=clip(successful_task.notes, LONGEST_NOTE),
        )
        for successful_task in team.successful_tasks[-MOST_SOLVED:]
    )


def _outline(team: Team, catalogue: Catalogue) -> Iterator[str]:
    """Yield one line for each kind of agent; identical agents share a line."""
    alike: dict[str, list[str]] = {}
    for agent_id, agent in team.agents.items():
        receivers = span(team.reports_to.get(agent_id, ()))
        texts = [*_described_agent(agent, catalogue), f"reports to {receivers or 'nobody'}"]
        alike.setdefault("; ".join(texts), []).append(agent_id)
    for texts, ids in alike.items():
        yield f"{span(ids)}: {texts}"


def _described_agent(agent: Agent, catalogue: Catalogue) -> Iterator[str]:
    if agent.role:
        yield agent.role
    if agent.function:
        yield f"function {agent.function}"
        return
    if agent.agent_type == "Person":
        yield "a person"
        return
    yield f"model {agent.model_id}"
    if agent.tools:
        yield f"tools {', '.join(agent.tools)}"
    if agent.prompt:
        yield f"prompt {clip(on_one_line(prompt_of(agent, catalogue)), BRIEF)!r}"
