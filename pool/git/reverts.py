"""Finds commits that removed lines or teams from a pool, as `git revert` does.

A ledger only grows, and teams' files stay. `git revert` removes both as far as it can: a line next
to later lines stays, but its team's file is gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...runtime.repository.repository import Repository
from ...schema.values.errors import AgentError, StorageError
from ...schema.values.files import write_atomically
from ...schema.values.problems import quoted
from ...schema.values.terminal import counted
from ..ledger.ledger import Ledger
from ..values.layout import LEDGER, TEAMS, file_of
from .past import entries_of
from .union import UnionSide, ordered, united


@dataclass(frozen=True, kw_only=True, slots=True)
class Revert:
    """A commit that removed lines or files that the pool still lacks.

    Attributes:
        subject: The first line of its message.
        ledger: The ledger before the commit if lines of it are missing; else empty.
        files: The texts of the missing team files, by their paths in the pool.
    """

    commit: str
    subject: str
    ledger: str
    lines: int
    files: Mapping[str, str]

    def __str__(self) -> str:
        parts = [counted(self.lines, "line")] if self.lines else []
        parts += sorted(self.files)
        return (
            f"commit {self.commit[:7]} ({quoted(self.subject)}) removed from the pool:"
            f" {', '.join(parts)}"
        )


def reverts(folder: Path) -> list[Revert]:
    """Return the commits that removed anything that the pool still lacks, the latest first.

    Args:
        folder: The pool. The result is empty if its ledger or a repository cannot be read.
    """
    with suppress(AgentError, StorageError), Repository.around(folder) as repository:
        if repository is not None:
            inside = folder.resolve().relative_to(repository.source)
            paths = [(inside / part).as_posix() for part in (LEDGER, TEAMS)]
            ops = frozenset(entry.op for entry in Ledger(folder / LEDGER).read())
            result = [
                _revert(repository, folder, commit, subject, ops)
                for commit, subject in repository.shortening(paths)
            ]
            return [revert for revert in result if revert.lines or revert.files]
    return []


def put_back(folder: Path, to_put_back: Sequence[Revert]) -> Iterator[str]:
    """Restore everything that commits removed from a pool, and describe it.

    Args:
        folder: The pool. No other process should be using it.
        to_put_back: The result of `reverts`.
    """
    for revert in reversed(to_put_back):
        for path, text in revert.files.items():
            write_atomically(folder / path, text)
        if revert.lines:
            now = UnionSide.of(LEDGER, (folder / LEDGER).read_bytes())
            before = UnionSide.of(revert.commit, revert.ledger.encode("utf-8", "surrogateescape"))
            lines = ordered(united(now, before), folder)
            write_atomically(folder / LEDGER, b"".join(line.text for line in lines))
        yield f"restored what {revert}. To undo a task, use mas-pool undo."


def _revert(
    repository: Repository, folder: Path, commit: str, subject: str, ops: AbstractSet[str]
) -> Revert:
    """Return the removed content of a commit that is still missing."""
    inside = folder.resolve().relative_to(repository.source)
    ledger = repository.text(f"{commit}^", (inside / LEDGER).as_posix()) or ""
    before = [*entries_of(ledger)] if ledger else []
    names = [entry.value["team"] for entry in before if _is_birth(entry.value)]
    texts = {
        file_of(name): repository.text(f"{commit}^", (inside / file_of(name)).as_posix())
        for name in names
        if not (folder / file_of(name)).exists()
    }
    return Revert(
        commit=commit,
        subject=subject,
        ledger=ledger,
        lines=sum(entry.op not in ops for entry in before),
        files={path: text for path, text in texts.items() if text is not None},
    )


def _is_birth(value: Mapping[str, Any]) -> bool:
    return value["kind"] == "born" and "team" in value
