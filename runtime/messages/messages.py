"""What an agent reads: its instructions, and the task with its colleagues' reports."""

from __future__ import annotations

import functools
import hashlib
import json
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ...schema.team.task import filled, missing_fields, names_fields
from ...schema.values.attachments import named
from ...schema.values.errors import InputError
from ...schema.values.hints import did_you_mean, listed
from ..agents.round_state import AgentState
from ..prompts import render

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ...schema.team.task import Task
    from ...schema.values.attachments import Attachment
    from ..agents.items import Item
    from ..agents.round_state import Notice
    from ..agents.runner import AgentReport
    from ..plan.plan import Plan, PlannedAgent
    from .recall import MemoryEntry

__all__ = ["UNBURDENED", "fence", "question", "refuse_unfilled", "render", "system"]

UNBURDENED = AgentState()
SHORT = 8192
"""Characters of a text whose fence is cached."""
UNSEEN: Mapping[str, Attachment] = MappingProxyType({})
NO_TEXTS: Mapping[str, str] = MappingProxyType({})


def refuse_unfilled(plans: Sequence[Plan], tasks: Iterable[Task], place: str = "") -> None:
    """Check that every task has the fields that prompts and rules of all teams name.

    Raises:
        InputError: A task lacks one.
    """
    texts = [*_naming(plans)]
    for task in tasks if texts else ():
        for whose, text in texts:
            if missing := missing_fields(text, task):
                where = f" ({place})" if place else ""
                raise InputError(
                    f"{whose} names {{{{ task.{missing[0]} }}}}, and task {task.id!r}{where} has no"
                    f" such field.{did_you_mean(missing[0], task.fields)} Its fields:"
                    f" {listed(task.fields)}."
                )


def _naming(plans: Sequence[Plan]) -> Iterator[tuple[str, str]]:
    """Return the texts that name fields of the task, each with its owner."""
    for plan in plans:
        rules = (f"the constitution of {plan.team.name}", plan.team.constitution)
        prompts = (
            (f"the prompt of {agent} in {plan.team.name}", planned.prompt)
            for agent, planned in plan.agents.items()
        )
        yield from (whose for whose in (rules, *prompts) if names_fields(whose[1]))


def system(
    planned: PlannedAgent,
    constitution: str,
    *,
    has_reports: bool,
    noted: Iterable[tuple[str, str]] = (),
    paired: Iterable[tuple[str, str]] = (),
    task: Task | None = None,
) -> str:
    """Write an agent's instructions. Its prompt and notes are inserted unchanged, not as templates.

    Args:
        noted: Its notes on agents of the team, by their ids.
        paired: Its notes on working with each of them.
        task: The task whose fields the prompt and the rules may name.

    An embedded model is not shown its output schema: its decoding enforces it anyway, and a small
    model takes the words of the schema for words of the task.
    """
    row = (constitution, has_reports, tuple(noted), tuple(paired))
    if task is not None and (names_fields(planned.prompt) or names_fields(constitution)):
        # Instructions that differ from task to task are not kept.
        return _instructions(
            replace(planned, prompt=filled(planned.prompt, task)),
            filled(constitution, task),
            *row[1:],
        )
    if (text := planned.instructions.get(row)) is None:
        text = planned.instructions[row] = _instructions(planned, *row)
    return text


def _instructions(
    planned: PlannedAgent,
    constitution: str,
    has_reports: bool,
    noted: tuple[tuple[str, str], ...],
    paired: tuple[tuple[str, str], ...],
) -> str:
    notes = planned.agent.notes
    is_held = planned.model is not None and planned.model.is_embedded
    schema = None if is_held else planned.agent.output_schema
    return render(
        "system",
        role=planned.agent.role,
        constitution=constitution.strip(),
        prompt=planned.prompt.strip(),
        patches=[text.strip() for text in notes.patches.values()],
        known=[(name, text.strip()) for name, text in noted],
        paired=[(name, text.strip()) for name, text in paired],
        skills=notes.skills,
        looks_skills_up=planned.looks_skills_up,
        coaching=notes.coaching.strip(),
        schema=json.dumps(schema) if schema else "",
        has_reports=has_reports,
    )


def question(
    task: Task,
    reports: Sequence[AgentReport],
    missing: Sequence[str],
    carried: AgentState = UNBURDENED,
    recalled: Sequence[MemoryEntry] = (),
    *,
    brief: str = "",
    visible: Mapping[str, Attachment] = UNSEEN,
    texts: Mapping[str, str] = NO_TEXTS,
    unread: Sequence[str] = (),
    unneeded: Sequence[str] = (),
    item: Item | None = None,
) -> str:
    """Write the task, with memories of similar tasks, the reports, and the state of earlier rounds.

    Each report stands between markers that its writer could not foresee: they carry a digest of the
    report itself, so no report can hold the end of its own fence. The same holds for the state and
    the memories, and for the brief, which is the part of the task for this reader only. `texts` are
    the task's files that are shown, by name, and `unread` names files that are too long for that;
    images and PDFs that are shown along with the task are listed. `unneeded` names colleagues that
    were skipped by conditions of the team, and `item` is the reader's item of a list.
    """
    attached = task.attachments
    others = (
        {name: attachment for name, attachment in attached.items() if name not in visible}
        if attached
        else {}
    )
    return render(
        "question",
        query=task.query,
        context=task.context,
        brief={"content": brief, "fence": fence(brief)} if brief else None,
        files=sorted({*task.files, *attached}),
        texts=[
            {"name": _in_quotes(name), "content": text, "fence": fence(text)}
            for name, text in texts.items()
        ],
        unread=unread,
        seen=named(visible) if visible else "",
        unseen=named(others) if others else "",
        reports=[
            (fence(report.content), report.agent_id, _in_quotes(report.role), report.content)
            for report in reports
        ],
        missing=missing,
        unneeded=unneeded,
        item=_item(item) if item else None,
        recalled=[_remembered(entry) for entry in recalled],
        own=_fenced(carried.own) if carried.own else None,
        letters=[_fenced(letter) for letter in carried.letters],
        bulletin={"content": text, "fence": fence(text)} if (text := carried.bulletin) else None,
        notice=_notice(carried.notice) if carried.notice else None,
        consults=carried.consults,
    )


def fence(text: str) -> str:
    """Return the markers' sign for a foreign text: a digest of the text itself.

    So no text can hold the end of its own fence, not even one that was searched for.
    """
    return _fence_of_short(text) if len(text) <= SHORT else _fence(text)


@functools.lru_cache(maxsize=256)
def _fence_of_short(text: str) -> str:
    """Cache the sign, because several agents read the same report."""
    return _fence(text)


def _fence(text: str) -> str:
    sign = hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:8]
    while sign in text:
        sign = hashlib.sha256(sign.encode()).hexdigest()[:8]
    return sign


def _item(item: Item) -> Mapping[str, Any]:
    fields = {"number": item.number, "of": item.of, "content": item.text}
    return {**fields, "fence": fence(item.text)}


def _notice(notice: Notice) -> Mapping[str, Any]:
    fields = {"kind": notice.kind, "most": notice.most, "text": notice.text}
    return {**fields, "fence": fence(notice.text)}


def _remembered(entry: MemoryEntry) -> Mapping[str, str]:
    shown = {"source": entry.source, "task": entry.task, "text": entry.text}
    return {**shown, "fence": fence(f"{entry.task}\n{entry.text}")}


def _in_quotes(text: str) -> str:
    return text.replace('"', "'")


def _fenced(report: AgentReport) -> Mapping[str, str]:
    return {
        "agent_id": report.agent_id,
        "role": _in_quotes(report.role),
        "content": report.content,
        "fence": fence(report.content),
    }
