"""The output of `mas-view --text` for an evaluation: its samples, and any of them as a run."""

from __future__ import annotations

import asyncio
import shlex
from typing import TYPE_CHECKING, Any

from ...runtime.record.trace import Trace, kept_in
from ...runtime.runs.record import MANIFEST, read_value
from ...runtime.showing.recorded import Recorded
from ...runtime.showing.viewed import Overview
from ...schema.command import HOST
from ...schema.team.team import natural
from ...schema.values.codec import to_value
from ...schema.values.errors import InputError
from ...schema.values.json_text import loads
from ...schema.values.terminal import on_one_line, unbroken
from ..evaluation.logs import artifacts_place, log_path
from ..evaluation.results import scored_samples
from .evaluate import OFFLINE
from .evaluating import recorded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ...runtime.record.trace import Event
    from ...runtime.showing.viewed import Viewed
    from ..evaluation.evaluation import Evaluation
    from ..evaluation.samples import Sample
    from .evaluating import Evaluating


def view(folder: Path, words: Sequence[str]) -> Viewed | None:
    """Return the view of an evaluation; None if the folder is something else.

    A trial is repeated offline from its recorded answers; no model is called.

    Args:
        words: A task's id, and the number of its trial; or nothing.

    Raises:
        InputError: There is no such trial, or a file is damaged.
    """
    if not (folder / MANIFEST).exists() or "evaluation" not in read_value(folder / MANIFEST):
        return None
    if not words:
        return _samples(folder)
    task, *which = words
    if len(which) > 1 or not all(name.isdecimal() for name in which):
        raise InputError(f"{folder}: {' '.join(words)!r} does not name a trial. Write TASK NUMBER.")
    return trial_of(loaded(folder), folder, task, int(which[0]) if which else 1)


def _samples(folder: Path) -> Overview:
    """Return the score of each trial of an evaluation, by task and trial."""

    def in_order() -> Sequence[Sample]:
        return sorted(
            scored_samples(folder), key=lambda sample: (natural(sample.task), sample.trial)
        )

    def text() -> str:
        texts = [
            f"  {on_one_line(f'{sample.task} {sample.trial}: {sample.score:g} ({sample.reason})')}"
            for sample in in_order()
        ]
        where = unbroken(shlex.quote(str(folder)))
        return "\n".join([*texts, f"next: mas-view --text {where} TASK TRIAL"])

    return Overview(
        text=text, fields=lambda: {"samples": [to_value(sample) for sample in in_order()]}
    )


def loaded(folder: Path) -> Evaluating:
    """Load the inputs of an evaluation, to repeat its trials."""
    options = dict.fromkeys(HOST, ()) | {"models_file": None, "tools_file": None}
    return recorded(folder, {**OFFLINE, **options, "workers": 1, "quiet": True})


def trial_of(evaluating: Evaluating, folder: Path, task_id: str, trial: int) -> Recorded:
    """Repeat a trial from its recorded answers; no model is called."""
    task = evaluating.task_of(task_id, trial)
    events: list[Mapping[str, Any]] = []
    samples: list[Sample] = []

    def hear(event: Event) -> None:
        events.append(loads(event.line(len(events) + 1)))

    async def shown_trial(evaluation: Evaluation) -> int:
        samples.append(await evaluation.shown(task, trial, Trace(hear)))
        return 0

    asyncio.run(evaluating.offline(shown_trial))
    sample = to_value(samples[0])
    score = {"value": sample["score"] or 0.0, "reason": sample.get("reason", "")}
    log = log_path(folder, task_id, trial)
    return Recorded(
        place=f"{unbroken(folder)} {task_id}, trial {trial}",
        team=evaluating.plan.team,
        task=task.value(),
        models=[
            f"{alias} = {model.model}" for alias, model in sorted(evaluating.plan.models.items())
        ],
        result={
            **sample,
            "score": None if sample["score"] is None else score,
            "artifacts": kept_in(folder, artifacts_place(task_id, trial)),
            "log": str(log) if log.is_file() else None,
        },
        events=events,
    )
