"""What scorers kept of trials, such as the output of tests: a file each, beside the samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from ..schema.files import make_folder, write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["LOGS", "Logs", "log_path"]

LOGS = "logs"


def log_path(folder: Path, task: str, trial: int) -> Path:
    """Give the file that has what was kept of a trial, if anything was.

    Args:
        folder: The folder of an evaluation.
        task: The task's id.
        trial: Which trial of it, from 1.
    """
    return folder / LOGS / f"{quote(task, safe=' ')}-{trial}.log"


@dataclass(frozen=True, kw_only=True, slots=True)
class Logs:
    """Where an evaluation keeps what scorers say of its trials.

    Attributes:
        folder: The folder of the evaluation.
        scrub: Takes secrets out of what is written.
    """

    folder: Path
    scrub: Callable[[str], str]

    def keep(self, task: str, trial: int, text: str) -> None:
        """Keep a text; one that is empty takes the place of what an earlier attempt left.

        Raises:
            StorageError: It cannot be written.
        """
        path = log_path(self.folder, task, trial)
        if text:
            make_folder(path.parent)
            write_atomically(path, self.scrub(text))
        else:
            path.unlink(missing_ok=True)
