"""The log of an episode: all questions, actions and answers of its operators and teams.

It lies beside the journal and, like that, is ignored by git. `mas-view --text` reads it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ...runtime.record.trace import Event, RunFolder, Trace
from ...schema.values.files import make_folders

LARGEST = 32_000_000
"""Characters of the log of one episode; later events are dropped, and the log notes that."""


@dataclass(kw_only=True, eq=False)
class EpisodeLog:
    """Writes the events of an episode into its folder. A context manager.

    Attributes:
        folder: The episode's folder, created with the first event.
        scrub: Removes the host's secrets from each line.
    """

    folder: Path
    scrub: Callable[[str], str]
    most: int = LARGEST
    beside: tuple[Callable[[Event], None], ...] = ()
    trace: Trace = field(init=False)
    _written: int = field(default=0, init=False)
    _file: RunFolder = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._file = RunFolder(self.folder, self._counted)
        self.trace = Trace(self, *self.beside)

    def __enter__(self) -> EpisodeLog:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __call__(self, event: Event) -> None:
        """Write an event, as long as there is room."""
        if self._written > self.most:
            return
        if not self._written:
            make_folders(self.folder)
        self._file(event)
        if self._written > self.most:
            fields = {"most": self.most}
            self._file(Event(type="log_full", seconds=event.seconds, agent=None, fields=fields))

    def _counted(self, text: str) -> str:
        line = self.scrub(text)
        self._written += len(line)
        return line
