"""Writes the folders of a pool's agents from the ledger: each agent and its memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...schema.loading.agent_file import OURS
from ...schema.values.errors import StorageError
from ...schema.values.files import make_folder, naming, remove, write_atomically
from ...schema.values.folders import files_in, write_folder
from ...schema.values.json_text import dumps
from ..ledger.agents import PoolAgent
from ..ledger.learnt import Learnt
from ..ledger.lessons import Lessons
from ..values.layout import AGENTS, archive_of
from .own_files import content_of

ORDER = ("kind", "niche", "level", "case", "turn", "giver", "credit", "reward", "replaces", "run")
"""The fields of a lesson between its id and its text, if set."""


class ArchiveFiles:
    """The files with the memories of a pool's agents.

    A writer needs exclusive access to the pool: see `Current.alone`.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._written: dict[str, tuple[int, int]] = {}

    def follow(self, owner: str, lessons: Lessons) -> None:
        """Append the lessons that an agent learnt since its file was written."""
        lines, size = self._written.get(owner, (0, 0))
        # Another process wrote to it, or a crash cut it, so all of it is compared with the ledger.
        if _size(path := self._path(owner)) != size:
            self.write(owner, lessons)
            return
        self._append(path, _text(fresh := lessons.own(owner, lines)))
        self._written[owner] = lines + len(fresh), _size(path)

    def write(self, owner: str, lessons: Lessons) -> bool:
        """Write the file of an agent if it differs from the ledger.

        Returns:
            Whether it differed.
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

    def lacks(self, owner: str, lessons: Lessons) -> bool:
        """Return whether an agent's file lacks lessons; at first only its end is read."""
        return self._may_be(owner, lessons) and self.is_behind(owner, lessons)

    def is_behind(self, owner: str, lessons: Lessons) -> bool:
        """Read a whole file and return whether it lacks lines or has them in another order.

        Raises:
            StorageError: It has other content, or cannot be read.
        """
        path = self._path(owner)
        text, content = _text(lessons.own(owner)), _content(path)
        if not text.startswith(content) and not _is_part(content, text):
            raise StorageError(
                f"{path}: its lessons differ from the ledger's: it was edited or is damaged. The"
                " ledger's lessons count."
            )
        return content != text

    def _may_be(self, owner: str, lessons: Lessons) -> bool:
        path, end = self._path(owner), _text(lessons.own(owner, -1))
        return _end(path, len(end)) != end if end else _size(path) > 0

    def _path(self, owner: str) -> Path:
        return self._folder / archive_of(owner)

    def _append(self, path: Path, text: bytes) -> None:
        """Append to a file without flushing: lost lines are in the ledger."""
        if not text:
            return
        with naming(path), path.open("ab") as stream:
            stream.write(text)


def _text(entries: Sequence[Learnt]) -> bytes:
    return b"".join(map(_line, entries))


def _line(entry: Learnt) -> bytes:
    """Return the line of a lesson, with its keys in a fixed order and the text last.

    The file's folder is its owner. The task is given by its id, or written out if it has none. The
    ledger has the rest: `mas-pool show POOL ID`.
    """
    fields: dict[str, Any] = {name: getattr(entry, name) for name in ORDER}
    content = {name: item for name, item in fields.items() if item not in (None, ())}
    task = {} if entry.case else {"task": entry.task}
    value = {"id": entry.id, **content, **task, "text": entry.text}
    return f"{dumps(value, ensure_ascii=False)}\n".encode("utf-8", "backslashreplace")


def _is_part(content: bytes, text: bytes) -> bool:
    """Return whether all lines are among others, in any order."""
    return {*content.splitlines(keepends=True)} <= {*text.splitlines(keepends=True)}


def _content(path: Path) -> bytes:
    return content_of(path) if path.exists() else b""


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _end(path: Path, size: int) -> bytes:
    try:
        with path.open("rb") as stream:
            stream.seek(max(0, stream.seek(0, os.SEEK_END) - size))
            return stream.read()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise StorageError(f"{path}: cannot be read: {error.strerror}.") from error


class AgentFolders:
    """The folders of agents. A writer needs exclusive access to the pool."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = AgentFiles(folder=folder)
        self._archives = ArchiveFiles(folder)
        self.orphans = self._files.orphans
        self.remove = self._files.remove

    def write(self, agent: PoolAgent, lessons: Lessons) -> list[Path]:
        """Write the files of an agent that differ from the ledger, and return them."""
        written = [agent.path] if self._files.write(agent) else []
        if self._archives.write(agent.name, lessons):
            written.append(self._folder / archive_of(agent.name))
        return written

    def revise(self, agent: PoolAgent) -> None:
        """Write the files of a revised agent."""
        self._files.write(agent)

    def learn(self, agents: Iterable[str], lessons: Lessons) -> None:
        """Write the agents' new lessons."""
        for agent in agents:
            self._archives.follow(agent, lessons)

    def behind(self, agents: Iterable[PoolAgent], lessons: Lessons) -> list[PoolAgent]:
        """Return the agents with a file that a crash left outdated."""
        return [agent for agent in agents if self._is_behind(agent, lessons)]

    def _is_behind(self, agent: PoolAgent, lessons: Lessons) -> bool:
        try:
            return bool(self._files.is_behind(agent) or self._archives.lacks(agent.name, lessons))
        except StorageError:
            if agent.retired is None:
                raise
            return False  # a retired agent is not in use

    def differences(self, agent: PoolAgent, lessons: Lessons) -> tuple[list[str], list[str]]:
        """Read all files of an agent; return messages on outdated and on wrong files."""
        archive = self._folder / archive_of(agent.name)
        looks: Mapping[str, Callable[[], bool]] = {
            f"{agent.path}: one revision behind, after a crash.": lambda: self._files.is_behind(
                agent
            ),
            f"{archive}: behind the ledger, after a crash.": lambda: self._archives.is_behind(
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
    """The files of agents, each in a folder of its own, in the general form of agents' folders.

    A file matches the last ledger line of its agent. After a crash it may match the line before,
    and after a merge of two branches that revised the agent, any earlier one.
    """

    folder: Path

    def write(self, agent: PoolAgent) -> bool:
        """Write the files of an agent that differ from the ledger.

        Returns:
            Whether a file was written.
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
        """Return whether a file matches an earlier line of the agent than the last one.

        Raises:
            StorageError: A file matches no line, or cannot be read.
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
        """Return whether a file matches an earlier line of the agent, as after a merge."""
        backs = range(2, len(agent.revisions))
        return text is not None and any(agent.texts(back=back).get(name) == text for back in backs)

    def orphans(self, agents: Iterable[PoolAgent]) -> list[str]:
        """Return the files that belong to no agent, relative to the pool's folder."""
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
        """Remove a file that belongs to no agent, and folders that this leaves empty.

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
        f"{path}: this agent differs from the ledger's: it was edited or is lost. The ledger's"
        " agent counts."
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
