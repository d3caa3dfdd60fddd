"""The files of a pool's agents, written after the ledger's lines: what people read and compare."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..schema.errors import StorageError
from ..schema.files import make_folder, remove, write_atomically
from .layout import AGENTS, archive_of, old_agent_file_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from .agents import PoolAgent

__all__ = ["AgentFiles"]


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentFiles:
    """The files of agents, each in a folder of its own.

    A file is as the last line of its agent has it, or a crash left it as the line before had it.
    Earlier versions had no folders: there, a file is as good, and is moved when it is written.

    Attributes:
        folder: The pool.
    """

    folder: Path

    def write(self, agent: PoolAgent) -> bool:
        """Write the file of an agent, unless it is as it should be.

        Returns:
            Whether it was written.

        Raises:
            StorageError: It cannot be read or written.
        """
        text = agent.text() or ""
        if is_new := _content(agent.path) != text:
            make_folder(self.folder / AGENTS)
            make_folder(agent.path.parent)
            write_atomically(agent.path, text)
        if self.is_old(agent):
            remove(self._old(agent))
        return is_new

    def behind(self, agents: Iterable[PoolAgent]) -> list[PoolAgent]:
        """Find those whose files are a revision behind, missing at their birth, or to be moved.

        Raises:
            StorageError: A file says something else, or cannot be read.
        """
        return [one for one in agents if self.is_behind(one) or self.is_old(one)]

    def is_behind(self, agent: PoolAgent) -> bool:
        """Tell whether a file is as the line before the agent's last one had it.

        Raises:
            StorageError: It is neither so nor as the last line has it, or cannot be read.
        """
        path, content = agent.path, _content(agent.path)
        if content is None and self.is_old(agent):
            path, content = self._old(agent), _content(self._old(agent))
        if content == agent.text():
            return False
        if content == agent.text(back=1):
            return True
        raise StorageError(
            f"{path}: another agent than the ledger has: it was edited, or is lost. What the"
            " ledger has is what counts."
        )

    def is_old(self, agent: PoolAgent) -> bool:
        """Tell whether there is a file of an agent as earlier versions had it."""
        return self._old(agent).is_file()

    def orphans(self, agents: Iterable[PoolAgent]) -> list[str]:
        """Name the files that belong to no agent, relative to the pool's folder."""
        owned = {
            path
            for one in agents
            for path in (one.path, self.folder / archive_of(one.name), self._old(one))
        }
        there = (path for path in (self.folder / AGENTS).rglob("*") if path.is_file())
        return sorted(
            path.relative_to(self.folder).as_posix() for path in there if path not in owned
        )

    def remove(self, name: str) -> None:
        """Remove a file that belongs to no agent, and its folder where nothing else is in it.

        Raises:
            StorageError: It cannot be removed.
        """
        path = self.folder / name
        remove(path)
        for folder in path.parents[: len(path.relative_to(self.folder / AGENTS).parents) - 1]:
            with suppress(OSError):
                folder.rmdir()

    def _old(self, agent: PoolAgent) -> Path:
        return self.folder / old_agent_file_of(agent.name)


def _content(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        return ""
    except OSError as error:
        raise StorageError(f"{path}: cannot be read: {error.strerror}.") from error
