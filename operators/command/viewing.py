"""An evolution as `mas-view --text` shows it: report, tasks, attempts on a task, and runs."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...pool.folder.own_files import refuse_links
from ...pool.ledger.ledger import Ledger
from ...pool.values.layout import LEDGER
from ...runtime.record.events import EVENTS, EventLog, events_of
from ...runtime.record.journal import FILE as JOURNAL
from ...runtime.record.journal import recorded
from ...runtime.showing.conversation import calls_of
from ...runtime.showing.recorded import Recorded
from ...runtime.showing.text import conversations
from ...runtime.showing.viewed import Overview, Viewed
from ...schema.loading.loading import hostless_team
from ...schema.values.errors import InputError
from ...schema.values.hints import did_you_mean
from ...schema.values.terminal import counted, on_one_line, speakable
from ..evolution.folder import EPISODES, EVOLUTIONS, MANIFEST, TURNS, Manifest
from ..evolution.lines import candidates_of, runs_of, score_text
from .showing import Shown
from .telling import EvolutionStatus, evolution_of


def view(folder: Path, words: Sequence[str]) -> Viewed | None:
    """Return the view of an evolution; None for a folder of another kind.

    Args:
        folder: The folder of an evolution, or of a pool.
        words: For an evolution: a task's id, and a candidate's number or the name of a run; or
            nothing. For a pool: the name of an evolution, optional if it has only one.

    Raises:
        InputError: There is no such task or run, a file is damaged, or the pool holds a link.
        StorageError: Its lines are damaged.
    """
    place = folder.absolute()
    if place.parent.name == EVOLUTIONS:
        refuse_links(place.parents[1], whole=True)
    if (folder / LEDGER).exists():
        return _report(folder, words)
    if not (folder / MANIFEST).exists():
        return None
    lines = [entry.value for entry in Ledger(folder / TURNS).read()]
    if not words:
        return _finished_tasks(folder, lines)
    tasks = [*Manifest.read(folder).tasks]
    task, *runs = words
    if task not in tasks or len(runs) > 1:
        raise InputError(f"{folder} has no task {' '.join(words)!r}.{did_you_mean(task, tasks)}")
    number = tasks.index(task)
    log = logged(folder, number)
    if runs:
        what = f"candidate {runs[0]}" if runs[0].isdecimal() else runs[0]
        line = lines[number] if number < len(lines) else {}
        return run_in(folder, number, what, log, line)
    return _TaskView(folder=folder, task=task, number=number, log=log, is_done=number < len(lines))


def _report(pool: Path, words: Sequence[str]) -> Viewed:
    if len(words) > 1:
        raise InputError(f"{pool}: {' '.join(words)!r} is not an evolution. Write one name.")
    name = evolution_of(pool, words[0] if words else None)
    status = EvolutionStatus.of(pool, name)
    return Overview(text=lambda: str(status), fields=status.value)


def _finished_tasks(folder: Path, lines: Sequence[Mapping[str, Any]]) -> Overview:
    """Return the tasks of an evolution that are done."""
    tasks = Manifest.read(folder).tasks

    def text() -> str:
        texts = [f"{folder}: {len(lines)} of {counted(len(tasks), 'task')} done"]
        for line in lines:
            text = on_one_line(f"{line['task']}: {score_text(line)}, {runs_of(line)} tried")
            texts.append(f"  {text}")
        return "\n".join([*texts, f"next: mas-view --text {shlex.quote(str(folder))} TASK"])

    return Overview(text=text, fields=lambda: {"tasks": [*tasks], "done": list(lines)})


@dataclass(frozen=True, kw_only=True, slots=True)
class _TaskView:
    """All attempts on a task, and the questions to operators and the judge."""

    folder: Path
    task: str
    number: int
    log: EventLog
    is_done: bool

    @property
    def agents(self) -> Sequence[str]:
        return [*dict.fromkeys(call.agent for call in calls_of(self._events))]

    def written(self, *, agent: str | None = None, full: bool = False) -> str:
        shown = str(self._shown) if self.is_done else f"task {self.task}: not done yet"
        names = self.agents if agent is None else [agent]
        runs = dict.fromkeys(event["run"] for event in self.log.events if "run" in event)
        where = f"mas-view --text {shlex.quote(str(self.folder))} {shlex.quote(self.task)}"
        hints = [f"next: {where} {shlex.quote(_word(run))}" for run in runs]
        calls = conversations(calls_of(self._events), names, full=full)
        damaged = [f"damaged: {on_one_line(self.log.damage)}"] if self.log.damage else []
        return speakable("\n".join([shown, "", *damaged, *hints, *calls])) + "\n"

    def value(self, *, agent: str | None = None) -> dict[str, Any]:
        calls = calls_of(self._events)
        events = [call.event for call in calls if agent in {None, call.agent}]
        fields = self._shown.value() if self.is_done else {}
        damaged = {"damaged": self.log.damage} if self.log.damage else {}
        return {**fields, "task": self.task, "asked": events, **damaged}

    @property
    def _shown(self) -> Shown:
        return Shown.of(self.folder, self.number)

    @property
    def _events(self) -> Sequence[Mapping[str, Any]]:
        """The events outside teams' runs: those of operators and of the judge."""
        return [event for event in self.log.events if "run" not in event]


def logged(folder: Path, number: int) -> EventLog:
    """Return the event log of an episode; empty if it is missing."""
    log = folder / EPISODES / f"{number:06d}"
    return events_of(log) if (log / EVENTS).exists() else EventLog()


def _word(kind: str) -> str:
    """Return the argument that selects a run: a candidate's number, or the run's name."""
    return kind.removeprefix("candidate ")


def run_in(
    folder: Path,
    number: int,
    kind: str,
    log: EventLog,
    line: Mapping[str, Any],
) -> Recorded:
    """Return a run of an episode.

    Args:
        number: The episode's number, from 0.
        line: The episode's line; empty if it is unfinished.

    Raises:
        InputError: There is no run of that name.
    """
    events = log.events
    own = [event for event in events if event.get("run") == kind]
    teams = [event for event in own if event["type"] == "team_given"]
    if not teams:
        names = [
            _word(fromkey) for fromkey in dict.fromkeys(e["run"] for e in events if "run" in e)
        ]
        listed = f" Known: {', '.join(names)}." if names else " Its log is not here."
        raise InputError(f"{folder}: no {kind!r} was logged for this task.{listed}")
    file = f"{folder} {kind}"
    task = next((event["task"] for event in events if event["type"] == "task_given"), {})
    models = Manifest.read(folder).models
    return Recorded(
        place=file,
        team=hostless_team(teams[-1]["yaml"].encode("utf-8", "surrogatepass"), file),
        task=task,
        models=[f"{alias} = {model['model']}" for alias, model in sorted(models.items())],
        result=_result(folder, number, kind, line),
        events=own,
        damage=log.damage,
    )


def _result(folder: Path, number: int, kind: str, line: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the result of a run from the journal, with the score that the evolution used."""
    path = f"task {number:06d}/{kind}/outcome"
    result = recorded(folder, "run") if (folder / JOURNAL).exists() else ()
    run = dict(next((value for place, value in result if place == path), {}))
    for candidate in candidates_of(line):
        if kind == f"candidate {candidate['number']}":
            run["score"] = {"value": candidate["score"], "reason": candidate["reason"]}
    return run
