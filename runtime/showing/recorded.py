"""A run as recorded in its folder, whether it ended, was killed, or is still running."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from ...schema.loading.loading import read_team
from ...schema.team.team import Team
from ...schema.values.errors import InputError
from ...schema.values.terminal import unbroken
from ...schema.values.values import is_list, is_mapping
from ..record.events import EVENTS, EventLog, events_of
from ..record.journal import is_held
from ..runs.record import MANIFEST, read_result, read_value
from ..values.usage import COUNT_NAMES, Usage
from .conversation import AnsweredCall, calls_of
from .text import written
from .timeline import Timeline
from .value import value_of

MOST_MISHAPS = 100
"""Warnings of one agent that are shown."""


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """A recorded run.

    Attributes:
        place: Its name: its folder, or the evaluation or evolution that it is part of.
        models: The models behind the aliases: `default = gpt-4o (models.yaml)`.
        started: When it began, in UTC; empty if that is not recorded.
        result: The content of result.json; empty if the run did not get that far.
        damage: Which lines of the events cannot be read, and why; empty if all can.
        hints: What to do next: commands that work when pasted.
        is_at_work: Whether a process is working on it now.
    """

    place: str
    team: Team
    task: Mapping[str, Any]
    models: Sequence[str] = ()
    started: str = ""
    result: Mapping[str, Any]
    events: Sequence[Mapping[str, Any]]
    damage: str = ""
    hints: Sequence[str] = ()
    is_at_work: bool = False

    @classmethod
    def of(cls, folder: Path) -> Self:
        """Read the folder of a run.

        Raises:
            InputError: It is no run's folder, or a file is damaged.
            ConfigError: Its team.yaml is damaged.
        """
        manifest, result = read_value(folder / MANIFEST), read_result(folder)
        log = events_of(folder) if (folder / EVENTS).exists() else EventLog()
        at_work = result is None and is_held(folder)
        try:
            models = [
                f"{alias} = {item['model']}"
                + (f" ({item['origin']})" if item.get("origin") else "")
                for alias, item in sorted(manifest["models"].items())
            ]
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"{folder / MANIFEST}: not the manifest of a run: {error!r}."
            ) from None
        return cls(
            place=unbroken(folder),
            team=read_team(folder / "team.yaml"),
            task=read_value(folder / "task.json"),
            models=models,
            started=str(manifest.get("started", "")),
            result=result or {},
            events=log.events,
            damage=log.damage,
            hints=() if at_work else _hints(folder, result),
            is_at_work=at_work,
        )

    @property
    def status(self) -> str:
        """How it ended: `done`, `failed`, `stopped`, `interrupted`; else `under way`, `killed`."""
        unended = "under way" if self.is_at_work else "killed"
        return str(self.result.get("status", unended))

    @cached_property
    def calls(self) -> Sequence[AnsweredCall]:
        """The model calls, each once, in the order of their answers."""
        return calls_of(self.events)

    def calls_by(self, agent: str) -> Sequence[AnsweredCall]:
        """Return the calls of an agent or another caller of a model."""
        return self._calls_by_agent.get(agent, ())

    @cached_property
    def _calls_by_agent(self) -> Mapping[str, list[AnsweredCall]]:
        calls: dict[str, list[AnsweredCall]] = {}
        for call in self.calls:
            calls.setdefault(call.agent, []).append(call)
        return calls

    @cached_property
    def usage(self) -> Usage:
        """The run's usage; for an unfinished run, that of the answered calls."""
        return self._usage(self.result) or sum((call.usage for call in self.calls), Usage())

    @cached_property
    def time(self) -> Timeline:
        """The timeline of the agents' work.

        Raises:
            KeyError: An event lacks a field.
            TypeError: A field is of another type.
        """
        return Timeline.of(self.events)

    @property
    def seconds(self) -> float:
        """The run's duration; for an unfinished run, until its last event."""
        return float(self.result.get("seconds", self.time.end))

    def usage_of(self, agent: str) -> Usage:
        """Return an agent's usage."""
        own = (call.usage for call in self.calls_by(agent))
        return self._usage(self._outcome(agent)) or sum(own, Usage())

    @cached_property
    def states(self) -> Mapping[str, str]:
        """The state of each agent of the team: `done`, `failed`, `working`, `not begun`."""
        fields = dict.fromkeys(self.team.agents, "not begun")
        for event in self.events:
            match event["type"]:
                case "agent_started":
                    fields[event["agent"]] = "working" if self.is_at_work else "cut short"
                case "agent_finished" | "agent_given":
                    fields[event["agent"]] = str(event.get("status", ""))
                case _:
                    pass
        ended = {name: self._outcome(name).get("status") for name in fields}
        return {name: str(ended[name] or state) for name, state in fields.items()}

    @cached_property
    def speakers(self) -> Sequence[str]:
        """The agents, and other callers of models, such as a judge."""
        planned = (name for level in self.team.levels for name in level)
        return [*dict.fromkeys((*planned, *self.states, *(call.agent for call in self.calls)))]

    def events_of(self, speaker: str) -> Sequence[Mapping[str, Any]]:
        """Return the events of an agent, or of another caller of a model, in order."""
        return self._events_by_speaker.get(speaker, ())

    @cached_property
    def _events_by_speaker(self) -> Mapping[str, list[Mapping[str, Any]]]:
        events: dict[str, list[Mapping[str, Any]]] = {}
        for event in self.events:
            events.setdefault(event.get("agent") or event.get("operator") or "", []).append(event)
        return events

    def ended(self, agent: str) -> Mapping[str, Any]:
        """Return an agent's recorded outcome; empty if it has none."""
        own = (event for event in self.events_of(agent) if event.get("agent") == agent)
        last = [event for event in own if event["type"] == "agent_finished"][-1:]
        fields = {**(last[0] if last else {}), **self._outcome(agent)}
        mishaps = fields.get("mishaps")
        return {**fields, "mishaps": mishaps[:MOST_MISHAPS] if is_list(mishaps) else []}

    def written(self, *, agent: str | None = None, full: bool = False) -> str:
        """Write it for people; see `Viewed`."""
        return written(self, agent=agent, full=full)

    def value(self, *, agent: str | None = None) -> dict[str, Any]:
        """Return it as a JSON object; see `Viewed`."""
        return value_of(self, agent=agent)

    @property
    def agents(self) -> Sequence[str]:
        """The agents that can be shown alone."""
        return [*self.states]

    def _outcome(self, agent: str) -> Mapping[str, Any]:
        agents = self.result.get("agents", {})
        item: Any = agents.get(agent, {}) if is_mapping(agents) else {}
        return item if is_mapping(item) else {}

    def _usage(self, fields: Mapping[str, Any]) -> Usage | None:
        usage = fields.get("usage")
        if not is_mapping(usage):
            return None
        return Usage(**{name: usage[name] for name in COUNT_NAMES if name in usage})


def _hints(folder: Path, result: Mapping[str, Any] | None) -> list[str]:
    where = unbroken(shlex.quote(str(folder)))
    if result is not None and result.get("status") == "done":
        return [f"mas-run --replay {where} --verify"]
    return [f"mas-run --resume {where}"]
