"""The files of a pool's agents, written after the ledger's lines: what people read and compare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..schema.errors import StorageError
from ..schema.files import make_folder, write_atomically
from .layout import AGENTS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from .agents import PoolAgent

__all__ = ["AgentFiles"]


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentFiles:
    """The files of agents.

    A file is as the last line of its agent has it, or a crash left it as the line before had it.

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
        if _content(agent.path) == (text := agent.text() or ""):
            return False
        make_folder(self.folder / AGENTS)
        write_atomically(agent.path, text)
        return True

    def behind(self, agents: Iterable[PoolAgent]) -> list[PoolAgent]:
        """Find those whose files are a revision behind, or missing at their birth.

        Raises:
            StorageError: A file says something else, or cannot be read.
        """
        return [one for one in agents if self.is_behind(one)]

    def is_behind(self, agent: PoolAgent) -> bool:
        """Tell whether a file is as the line before the agent's last one had it.

        Raises:
            StorageError: It is neither so nor as the last line has it, or cannot be read.
        """
        content = _content(agent.path)
        if content == agent.text():
            return False
        if content == agent.text(back=1):
            return True
        raise StorageError(
            f"{agent.path}: another agent than the ledger has: it was edited, or is lost. What the"
            " ledger has is what counts."
        )

    def orphans(self, agents: Iterable[PoolAgent]) -> list[str]:
        """Name the files that belong to no agent, relative to the pool's folder."""
        owned = {agent.path for agent in agents}
        there = (path for path in (self.folder / AGENTS).glob("*") if path.is_file())
        return sorted(
            path.relative_to(self.folder).as_posix() for path in there if path not in owned
        )


def _content(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        return ""
    except OSError as error:
        raise StorageError(f"{path}: cannot be read: {error.strerror}.") from error
