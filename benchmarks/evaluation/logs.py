"""The files of trials beside the samples.

A scorer's log, such as the output of tests, is a file; an agent's files have a folder per trial.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from ...runtime.engine.artifacts import Keep, Keeping
from ...runtime.record.trace import ARTIFACTS, RunFolder
from ...schema.values.files import make_folder, write_atomically

LOGS = "logs"


def log_path(folder: Path, task: str, trial: int) -> Path:
    """Return the path of a trial's log, which may not exist."""
    return folder / LOGS / f"{_name(task, trial)}.log"


def artifacts_place(task: str, trial: int) -> str:
    """Return the folder, in that of an evaluation, with agents' files of a trial."""
    return f"{ARTIFACTS}/{_name(task, trial)}"


def _name(task: str, trial: int) -> str:
    return f"{quote(task, safe=' ')}-{trial}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Logs:
    """Stores scorers' logs of an evaluation's trials, and agents' files."""

    folder: Path
    scrub: Callable[[str], str]

    def keep(self, task: str, trial: int, text: str) -> None:
        """Store a text; an empty one removes the log of an earlier attempt."""
        path = log_path(self.folder, task, trial)
        if text:
            make_folder(path.parent)
            write_atomically(path, self.scrub(text))
        else:
            path.unlink(missing_ok=True)

    def files(self, task: str, trial: int) -> Keep:
        """Return the store for agents' files of a trial."""
        folder = RunFolder(self.folder, self.scrub)
        return Keeping(folder=folder, place=artifacts_place(task, trial))
