"""The records besides runs that `mas-view --text` shows, and their interface."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ...schema.host.catalogue import installed, load_named
from ...schema.host.conforming import guarded
from ...schema.values.terminal import speakable
from .recorded import Recorded

VIEWS = "views"
"""The group of entry points. Each takes a folder and words, and returns a `Viewed`, or None for
another kind of folder."""


class Viewed(Protocol):
    """A record that can be shown."""

    @property
    def agents(self) -> Sequence[str]:
        """The agents that can be shown alone."""
        ...

    def written(self, *, agent: str | None = None, full: bool = False) -> str:
        """Write it for people; no text in it can control their terminal."""
        ...

    def value(self, *, agent: str | None = None) -> dict[str, Any]:
        """Return it as a JSON object, with nothing shortened."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Overview:
    """Something recorded that is always shown as a whole.

    Attributes:
        text: Writes it for people, when it is asked for.
    """

    text: Callable[[], str]
    fields: Callable[[], dict[str, Any]]
    agents: Sequence[str] = ()

    def written(self, *, agent: str | None = None, full: bool = False) -> str:
        """Write it for people; see `Viewed`."""
        del agent, full
        return f"{speakable(self.text())}\n"

    def value(self, *, agent: str | None = None) -> dict[str, Any]:
        """Return it as a JSON object; see `Viewed`."""
        del agent
        return self.fields()


def viewed(folder: Path, words: Sequence[str]) -> Viewed:
    """Return the record in a folder.

    Args:
        folder: A run's folder, or a folder that contains runs.
    """
    if not words and (folder / "task.json").exists():
        return Recorded.of(folder)
    for name in sorted(installed(VIEWS)):
        view = guarded(load_named(VIEWS, name), Viewed | None, f"the view {name}")
        if (result := view(folder, words)) is not None:
            return result
    return Recorded.of(folder)
