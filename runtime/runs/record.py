"""The record of a run: its setting and its result, in a folder that can be resumed."""

from __future__ import annotations

import asyncio
import functools
import platform
import sys
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self, TypeVar

from ...schema import dump
from ...schema.host.models import Model
from ...schema.team.task import ATTACHED, Task
from ...schema.values.codec import Misfit, from_value, misfit, stored, to_value
from ...schema.values.entries import own_version
from ...schema.values.errors import InputError
from ...schema.values.json_text import loads
from ...schema.values.problems import quoted
from ..agents.outcomes import AgentOutcome, Run, Score
from ..jail.jails import Jails
from ..plan.plan import Plan
from ..record.journal import Journal
from ..record.trace import VERSION, RunFolder, kept_in
from ..scrubbing.scrubber import holds_secret
from ..values.budget import Caps
from ..values.encoded import encoded
from ..values.operator_answers import OperatorAnswers
from ..values.usage import Usage
from .services import Setting

T = TypeVar("T")

MANIFEST = "run.json"
RESULT = "result.json"
TEAM_THAT_WAS = "team_that_was.yaml"
NO_FILES: Mapping[str, str] = MappingProxyType({})


class RunRecord:
    """Keeps a run in a folder. A context manager, `async` in an event loop.

    The folder is complete however the run ends.

    Args:
        replaying: Change nothing; the run is repeated from its journal.

    Attributes:
        folder: The run's folder; it listens to the trace.
        journal: The answers that the run received.

    Raises:
        InputError: Another process holds the folder, or its journal is invalid.
        StorageError: The journal cannot be written.
    """

    def __init__(self, folder: RunFolder, plan: Plan, *, replaying: bool = False) -> None:
        self.folder = folder
        self.journal = Journal.open(folder.path, replaying=replaying)
        self._plan = plan
        self._result: dict[str, Any] | None = None
        self._spent: Usage | None = None  # set when it is finished
        self._files: dict[str, str] = {}
        self._started: str | None = None

    @classmethod
    def begin(
        cls,
        runs: Path,
        plan: Plan,
        task: Task,
        setting: Setting,
        *,
        scrub: Callable[[str], str],
        files: Mapping[str, str] = NO_FILES,
    ) -> Self:
        """Create the folder of a new run, with everything needed to resume it.

        Args:
            plan: The plan to run; team.yaml contains its full prompts.
            files: Further files needed to resume it, by name.

        Raises:
            InputError: The folder cannot be created, or an image or a PDF holds a secret.
        """
        for name, attachment in task.attachments.items():
            if holds_secret(attachment.content, scrub):
                raise InputError(f"{name} holds a secret key. Give the file without it.")
        try:
            folder = RunFolder.create(runs, plan.team.name, task.id, scrub)
            # The journal flushes them, ahead of its first entry.
            folder.write("team.yaml", plan.written, flushed=False)
            folder.write("task.json", as_json(task.value()), flushed=False)
            for name, attachment in task.attachments.items():
                folder.keep(f"{ATTACHED}/{name}", attachment.content)
            for name, text in files.items():
                folder.write(name, text, flushed=False)
            started = datetime.now(UTC).isoformat(timespec="seconds")
            read = {"task_file": str(task.origin.resolve())} if task.origin else {}
            head = as_json({**manifest(plan, setting), **read, "started": started})
            folder.write(MANIFEST, head, flushed=False)
        except OSError as error:
            raise InputError(
                f"{runs}: the run's folder cannot be written: {error.strerror}."
            ) from None
        record = cls(folder, plan)
        record._started = started
        return record

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            if not self.journal.replaying:
                recorded = self.journal.flushing().result
                self.folder.settle()
                for name, text in self._files.items():
                    self.folder.write(name, text, after=recorded)
                self.folder.write(RESULT, self.result, after=recorded)
        finally:
            self.folder.close()
            self.journal.close()

    async def __aenter__(self) -> Self:
        self.journal.flush_ahead()
        self.folder.gather(asyncio.get_running_loop())
        return self

    async def __aexit__(self, *ended: object) -> None:
        """Close the record without blocking the event loop: a result may be megabytes."""
        leaving = asyncio.ensure_future(asyncio.to_thread(self.__exit__, *ended))
        try:
            await asyncio.shield(leaving)
        except asyncio.CancelledError:
            await leaving
            raise

    @property
    def failed(self) -> bool:
        """Whether an earlier process finished this run without an answer."""
        result = read_result(self.folder.path)
        return result is not None and result["status"] == "failed"

    @property
    def repeats(self) -> bool:
        """Whether its team works in rounds."""
        return self._plan.team.execution.rounds is not None

    def spent(self) -> Usage:
        """Return the cost of all calls, including calls of earlier processes that were killed."""
        return self.journal.spent() if self._spent is None else self._spent

    def keep(self, agent: str, files: Mapping[str, bytes], /) -> list[str]:
        """Keep the files that an agent wrote, except those with a secret; return their names."""
        from ..engine.artifacts import Keeping

        return Keeping(folder=self.folder)(agent, files)

    @property
    def artifacts(self) -> list[str]:
        """The files that agents wrote, relative to the run's folder."""
        return kept_in(self.folder.path)

    def finish(self, run: Run) -> None:
        """Set the result; it is written when the record is closed."""
        value = to_value(replace(run, agents={}))
        if run.ending is not None:
            self._keep_team_that_was(run)
        row = ("status", "answer", "said", "score", "error", "operators")
        spent = self._spent = self.spent()
        self._result = {
            **{name: value[name] for name in row if name in value},
            "seconds": round(self.took(run), 3),
            **({"rounds": run.rounds} if self.repeats else {}),
            **({"recruited": dict(run.recruited)} if run.recruited else {}),
            **({"ending": value["ending"], "bus": value.get("bus", [])} if run.ending else {}),
            **({"cut_off": list(run.cut_off)} if run.cut_off else {}),
            **({"substituted": list(run.substituted)} if run.substituted else {}),
            "usage": {**spent.value(), "cost": spent.cost},
            "agents": {agent_id: _outcome_fields(agent) for agent_id, agent in run.agents.items()},
            **({"artifacts": artifacts} if (artifacts := self.artifacts) else {}),
        }

    def _keep_team_that_was(self, run: Run) -> None:
        from ..roster.team_as_run import team_that_was

        if (team := team_that_was(self._plan.resolved, run)) is not None:
            self._files[TEAM_THAT_WAS] = dump(team)

    def took(self, run: Run) -> float:
        """Return how long a run took, earlier processes included; for a replay, the replay only."""
        return run.seconds + (0.0 if self.journal.replaying else self.journal.prior_seconds)

    @property
    def result(self) -> str:
        """The result of the run so far, as result.json holds it."""
        result = self._result
        if result is None:
            spent = self.spent()
            result = {
                "status": "interrupted",
                "seconds": round(self.journal.seconds, 3),
                "usage": {**spent.value(), "cost": spent.cost},
            }
        return as_json({"v": VERSION, **self._head(), **result})

    def _head(self) -> dict[str, Any]:
        started = self._started or read_value(self.folder.path / MANIFEST).get("started")
        return {
            **({"started": started} if started else {}),
            "team": self._plan.team.name,
            "content_hash": self._plan.content_hash,
            "models": {
                alias: {"model": model.model, "api_base": model.api_base, "from": model.origin}
                for alias, model in sorted(self._plan.models.items())
            },
        }


def as_recorded(task: Task, scrub: Callable[[str], str]) -> Task:
    """Return a task as its record will hold it, so that the run can be repeated from the record."""
    return replace(
        task,
        query=scrub(task.query),
        context=scrub(task.context),
        briefs={brief: scrub(text) for brief, text in task.briefs.items()},
        files={name: scrub(text) for name, text in task.files.items()},
    )


@stored()
class _Manifest:
    """The fields of run.json needed to resume a run."""

    seed: int | None
    budget: Caps
    agent_budget: Caps
    allow_unpriced: bool
    cache: str | None
    models: Mapping[str, Model]
    pool: str | None = None
    embedder: str | None = None


@stored()
class _Result:
    """The fields of result.json that readers require."""

    status: str
    answer: str | None = None
    score: Score | None = None
    error: str | None = None
    usage: Mapping[str, float | str] = field(default_factory=dict[str, float | str])
    operators: Mapping[str, OperatorAnswers] = field(default_factory=dict[str, OperatorAnswers])


def read_setting(folder: Path) -> tuple[Setting, Mapping[str, Model]]:
    """Read a recorded run's setting, and the models that it called.

    Folders and the permission to call unpriced models are not part of it: these are the choice of
    the person who resumes the run.

    Raises:
        InputError: The folder has no readable manifest.
    """
    manifest = read_as(_Manifest, folder / MANIFEST)
    setting = Setting(
        seed=manifest.seed,
        budget=manifest.budget,
        agent_budget=manifest.agent_budget,
        embedder=manifest.embedder,
    )
    return setting, {alias: replace(model, alias=alias) for alias, model in manifest.models.items()}


def read_result(folder: Path) -> dict[str, Any] | None:
    """Read the result of a recorded run; None if the run did not get that far.

    Raises:
        InputError: The file is damaged.
    """
    path = folder / RESULT
    if not path.exists():
        return None
    result = read_value(path)
    if wrong := misfit(_Result, result) or _unanswered(result):
        raise InputError(f"{path}: not the file that coterie wrote: {wrong}.")
    return result


def _unanswered(result: Mapping[str, Any]) -> str:
    if result["status"] == "done" and not isinstance(result.get("answer"), str):
        return f"answer: {quoted(result.get('answer'))} is not an answer"
    return ""


def read_value(path: Path) -> dict[str, Any]:
    """Read a file of a run's folder that holds a JSON object.

    Raises:
        InputError: The file is missing or damaged.
    """
    try:
        value = loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(
            f"{path}: there is no such file. Is {quoted(str(path.parent))} the folder of a run?"
        ) from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {error}.") from None
    if not isinstance(value, dict):
        raise InputError(f"{path}: not a JSON object.")
    return value


def read_as(kind: type[T], path: Path, what: str = "the file that coterie wrote") -> T:
    """Read a file of a run's folder as a value of a class.

    Raises:
        InputError: The file is missing or damaged.
    """
    try:
        return from_value(kind, read_value(path))
    except Misfit as error:
        raise InputError(f"{path}: not {what}: {error}.") from None


@functools.cache
def _version() -> str:
    return own_version(sys.path)


def _recalled(setting: Setting) -> dict[str, Any]:
    """Return the pool that agents recall from, if any of them does."""
    if setting.pool is None:
        return {}
    return {"pool": str(setting.pool.resolve()), "embedder": setting.embedder}


def _confined(setting: Setting) -> dict[str, Any]:
    """Return how agents' code is confined, or on which cluster it runs."""
    if setting.on is not None:
        return {"on": setting.on}
    return Jails(unsafe=setting.unsafe_local).describe()


def manifest(plan: Plan, setting: Setting) -> dict[str, Any]:
    """Return a run's manifest: what resuming it requires, and what an auditor needs."""
    return {
        "v": VERSION,
        "coterie": _version(),
        "python": platform.python_version(),
        "seed": setting.seed,
        "budget": setting.budget.value(),
        "agent_budget": setting.agent_budget.value(),
        "allow_unpriced": setting.allow_unpriced,
        "cache": str(setting.cache.resolve()) if setting.cache else None,
        **_recalled(setting),
        "unsafe_local": setting.unsafe_local,
        "jail": _confined(setting) if plan.needs_jail else None,
        "models": {alias: to_value(model) for alias, model in sorted(plan.models.items())},
    }


def _outcome_fields(outcome: AgentOutcome) -> dict[str, Any]:
    """Return an agent's outcome without the fields that the events contain."""
    return {
        "status": outcome.status,
        "content": outcome.result.content if outcome.result else None,
        "error": outcome.error,
        "attempts": outcome.attempts,
        "mishaps": outcome.mishaps,
        "seconds": round(outcome.seconds, 3),
        "usage": outcome.usage.value(),
    }


def as_json(value: Mapping[str, Any]) -> str:
    """Return a JSON object as text, in the format of a run folder's files."""
    return encoded(value, indent=2).decode() + "\n"
