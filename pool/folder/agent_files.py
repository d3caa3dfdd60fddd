"""The files of a pool's agents, written after the ledger's lines: what people read and compare."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ...schema.loading.agent_file import OURS
from ...schema.values.errors import StorageError
from ...schema.values.files import make_folder, remove
from ...schema.values.folders import files_in, write_folder
from ..ledger.agents import PoolAgent
from ..values.layout import AGENTS, archive_of


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentFiles:
    """The files of agents, each in a folder of its own, as agents' folders are anywhere.

    A file is as the last line of its agent has it, or a crash left it as the line before had it;
    or a merge left it as an earlier one had it, where two branches revised the agent.
    """

    folder: Path

    def write(self, agent: PoolAgent) -> bool:
        """Write the files of an agent, unless they are as they should be.

        Returns:
            Whether one was written.
        """
        folder, texts = agent.path.parent, agent.texts()
        make_folder(self.folder / AGENTS)
        make_folder(folder)
        others = [name for name in files_in(folder, OURS) if name not in texts]
        backs = range(1, len(agent.revisions) if others else 1)
        former = {name for back in backs for name in agent.texts(back=back)}
        done = write_folder(folder, texts, [name for name in others if name in former])
        return bool(done)

    def is_behind(self, agent: PoolAgent) -> bool:
        """Return whether a file is as a line before the agent's last one had it.

        Raises:
            StorageError: One is neither so nor as the last line has it, or cannot be read.
        """
        folder, now = agent.path.parent, agent.texts()
        there = {name: _content(folder / name) for name in {*now, *files_in(folder, OURS)}}
        if there == now:
            return False
        before = agent.texts(back=1)
        for name in sorted({*now, *before}):
            known = (now.get(name), before.get(name))
            if there.get(name) not in known and not self._was(agent, name, there.get(name)):
                raise _other(folder / name)
        return any(there.get(name) != now.get(name) for name in {*now, *before})

    def _was(self, agent: PoolAgent, name: str, text: str | None) -> bool:
        """Return whether a file is as some line of the agent had it, as where branches merged."""
        backs = range(2, len(agent.revisions))
        return text is not None and any(agent.texts(back=back).get(name) == text for back in backs)

    def orphans(self, agents: Iterable[PoolAgent]) -> list[str]:
        """Name the files that belong to no agent, relative to the pool's folder."""
        owned = {
            path
            for agent in agents
            for path in (
                *(agent.path.parent / name for name in {**agent.texts(), **agent.texts(back=1)}),
                self.folder / archive_of(agent.name),
            )
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


def _other(path: Path) -> StorageError:
    return StorageError(
        f"{path}: another agent than the ledger has: it was edited, or is lost. What the ledger has"
        " is what counts."
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
