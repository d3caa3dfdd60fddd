"""The folders of a pool's agents: what each is, and what it has learnt, as files that follow."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...schema.loading.agent_file import OURS
from ...schema.values.errors import StorageError
from ...schema.values.files import make_folder, remove, write_atomically
from ...schema.values.folders import files_in, write_folder
from ...schema.values.json_text import dumps
from ..ledger.agents import PoolAgent
from ..ledger.learnt import Learnt
from ..ledger.lessons import Lessons
from ..values.layout import AGENTS, archive_of

ORDER = ("kind", "niche", "level", "case", "turn", "giver", "credit", "reward", "replaces", "run")
"""What is said of an entry ahead of its text, where it has it, after its id."""


class ArchiveFiles:
    """The files with the archives of a pool's agents.

    Whoever writes one has to be alone at work on the pool: see `Current.alone`.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._written: dict[str, tuple[int, int]] = {}

    def follow(self, owner: str, lessons: Lessons) -> None:
        """Add what an agent has learnt since its file was written, by whomever."""
        lines, size = self._written.get(owner, (0, 0))
        if _size(path := self._path(owner)) != size:
            self.write(owner, lessons)
            return
        self._append(path, _text(fresh := lessons.own(owner, lines)))
        self._written[owner] = lines + len(fresh), _size(path)

    def write(self, owner: str, lessons: Lessons) -> bool:
        """Make the file of an agent what it should be.

        Returns:
            Whether it was something else.
        """
        path, own = self._path(owner), lessons.own(owner)
        text, content = _text(own), _content(path)
        if content != text:
            if text.startswith(content):
                self._append(path, text[len(content) :])
            else:
                write_atomically(path, text.decode())
        self._written[owner] = len(own), len(text)
        return content != text

    def behind(self, owners: Iterable[str], lessons: Lessons) -> list[str]:
        """Name the agents whose files end too early. Of the others, only the end is looked at."""
        return [
            owner
            for owner in owners
            if self._may_be(owner, lessons) and self.is_behind(owner, lessons)
        ]

    def is_behind(self, owner: str, lessons: Lessons) -> bool:
        """Return whether a file lacks lines or has them in another order, having read all of it.

        Raises:
            StorageError: It says something else, or cannot be read.
        """
        path = self._path(owner)
        text, content = _text(lessons.own(owner)), _content(path)
        if not text.startswith(content) and not _is_part(content, text):
            raise StorageError(
                f"{path}: other lessons than the ledger has: it was edited, or is damaged. What the"
                " ledger has is what counts."
            )
        return content != text

    def _may_be(self, owner: str, lessons: Lessons) -> bool:
        path, end = self._path(owner), _text(lessons.own(owner, -1))
        return _end(path, len(end)) != end if end else _size(path) > 0

    def _path(self, owner: str) -> Path:
        return self._folder / archive_of(owner)

    def _append(self, path: Path, text: bytes) -> None:
        """Add to a file, without waiting for the disk: what is lost there is in the ledger."""
        if not text:
            return
        try:
            with path.open("ab") as stream:
                stream.write(text)
        except OSError as error:
            raise StorageError(error.errno, error.strerror, str(path)) from error


def _text(entries: Sequence[Learnt]) -> bytes:
    return b"".join(map(_line, entries))


def _line(entry: Learnt) -> bytes:
    """Write the line of an entry, in which keys have one order, and the text comes last.

    Whose it is, the file's folder says. The task is named by its id; it is written out where it
    has none. The ledger has the rest: `mas-pool show POOL ID`.
    """
    fields: dict[str, Any] = {name: getattr(entry, name) for name in ORDER}
    content = {name: item for name, item in fields.items() if item not in (None, ())}
    task = {} if entry.case else {"task": entry.task}
    value = {"id": entry.id, **content, **task, "text": entry.text}
    return f"{dumps(value, ensure_ascii=False)}\n".encode("utf-8", "backslashreplace")


def _is_part(content: bytes, text: bytes) -> bool:
    """Return whether lines are among others, in whatever order."""
    return {*content.splitlines(keepends=True)} <= {*text.splitlines(keepends=True)}


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise StorageError(f"{path}: cannot be read: {error.strerror}.") from error


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _end(path: Path, size: int) -> bytes:
    """Return the last bytes of a file."""
    try:
        with path.open("rb") as stream:
            stream.seek(max(0, stream.seek(0, os.SEEK_END) - size))
            return stream.read()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise StorageError(f"{path}: cannot be read: {error.strerror}.") from error


class AgentFolders:
    """The folders of agents. Whoever writes has to be alone at work on the pool."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = AgentFiles(folder=folder)
        self._archives = ArchiveFiles(folder)
        self.orphans = self._files.orphans
        self.remove = self._files.remove

    def write(self, agent: PoolAgent, lessons: Lessons) -> list[Path]:
        """Make the files of an agent what they should be; give those that were something else."""
        written = [agent.path] if self._files.write(agent) else []
        if self._archives.write(agent.name, lessons):
            written.append(self._folder / archive_of(agent.name))
        return written

    def revise(self, agent: PoolAgent) -> None:
        """Write what an agent is."""
        self._files.write(agent)

    def learn(self, agents: Iterable[str], lessons: Lessons) -> None:
        """Write what agents have learnt since."""
        for agent in agents:
            self._archives.follow(agent, lessons)

    def behind(self, agents: Iterable[PoolAgent], lessons: Lessons) -> list[PoolAgent]:
        """Find the agents with a file that a crash left behind."""
        return [agent for agent in agents if self._is_behind(agent, lessons)]

    def _is_behind(self, agent: PoolAgent, lessons: Lessons) -> bool:
        try:
            return bool(
                self._files.is_behind(agent) or self._archives.behind([agent.name], lessons)
            )
        except StorageError:
            if agent.retired is None:
                raise
            return False  # nobody works with it

    def differences(self, agent: PoolAgent, lessons: Lessons) -> tuple[list[str], list[str]]:
        """Read all of the files of an agent; say which are behind, and which say something else."""
        archive = self._folder / archive_of(agent.name)
        looks: Mapping[str, Callable[[], bool]] = {
            f"{agent.path}: a crash left it a revision behind.": lambda: self._files.is_behind(
                agent
            ),
            f"{archive}: a crash left it behind the ledger.": lambda: self._archives.is_behind(
                agent.name, lessons
            ),
        }
        behind, wrong = list[str](), list[str]()
        for name, is_so in looks.items():
            try:
                behind += [name] if is_so() else []
            except StorageError as error:
                wrong.append(str(error))
        return behind, wrong


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
        names = write_folder(folder, texts, [name for name in others if name in former])
        return bool(names)

    def is_behind(self, agent: PoolAgent) -> bool:
        """Return whether a file is as a line before the agent's last one had it.

        Raises:
            StorageError: One is neither so nor as the last line has it, or cannot be read.
        """
        folder, now = agent.path.parent, agent.texts()
        there = {name: _text_in(folder / name) for name in {*now, *files_in(folder, OURS)}}
        if there == now:
            return False
        before = agent.texts(back=1)
        for name in sorted({*now, *before}):
            versions = (now.get(name), before.get(name))
            if there.get(name) not in versions and not self._was(agent, name, there.get(name)):
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


def _text_in(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        return ""
    except OSError as error:
        raise StorageError(f"{path}: cannot be read: {error.strerror}.") from error
