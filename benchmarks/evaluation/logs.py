"""What is kept of trials beside the samples.

What scorers said, such as the output of tests, is a file each; what agents wrote, a folder each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from ...runtime.engine.artifacts import ARTIFACTS, Keep, Keeping
from ...runtime.record.trace import RunFolder
from ...schema.values.files import make_folder, write_atomically

LOGS = "logs"


def log_path(folder: Path, task: str, trial: int) -> Path:
    """Return the file that has what was kept of a trial, if anything was.

    Args:
        trial: Which trial of it, from 1.
    """
    return folder / LOGS / f"{_name(task, trial)}.log"


def artifacts_place(task: str, trial: int) -> str:
    """Return the folder, in that of an evaluation, that has what agents wrote in a trial.

    Args:
        trial: Which trial of it, from 1.
    """
    return f"{ARTIFACTS}/{_name(task, trial)}"


def _name(task: str, trial: int) -> str:
    return f"{quote(task, safe=' ')}-{trial}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Logs:
    """Where an evaluation keeps what scorers say of its trials, and what agents wrote in them."""

    folder: Path
    scrub: Callable[[str], str]

    def keep(self, task: str, trial: int, text: str) -> None:
        """Keep a text; one that is empty takes the place of what an earlier attempt left."""
        path = log_path(self.folder, task, trial)
        if text:
            make_folder(path.parent)
            write_atomically(path, self.scrub(text))
        else:
            path.unlink(missing_ok=True)

    def files(self, task: str, trial: int) -> Keep:
        """Return what keeps the files that agents write in a trial.

        Args:
            trial: Which trial of it, from 1.
        """
        folder = RunFolder(self.folder, self.scrub)
        return Keeping(folder=folder, place=artifacts_place(task, trial))
