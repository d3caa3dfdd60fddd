"""A pool as of a git commit."""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from ...runtime.repository.repository import Repository
from ...schema.values.errors import AgentError, InputError
from ...schema.values.files import append
from ...schema.values.problems import quoted
from ..ledger.ledger import Ledger, LedgerEntry
from ..ledger.state import State, in_order
from ..values.layout import LEDGER


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolAt:
    """A pool as of a commit.

    Attributes:
        revision: The user's name of the commit.
    """

    folder: Path
    repository: Repository
    revision: str
    commit: str

    @classmethod
    @contextmanager
    def of(cls, folder: Path, revision: str) -> Generator[Self]:
        """Open a pool as of a revision, for a `with` block.

        Raises:
            InputError: It is in no readable repository, or there is no such revision.
        """
        with ExitStack() as stack:
            try:
                repository = stack.enter_context(Repository.around(folder))
            except AgentError as error:
                raise InputError(str(error)) from None
            if repository is None:
                raise InputError(f"{folder} is not in a git repository, so its past is unknown.")
            try:
                commit = repository.commit_of(revision)
            except AgentError:
                raise InputError(f"{quoted(revision)}: no such commit, branch or tag.") from None
            yield cls(folder=folder, repository=repository, revision=revision, commit=commit)

    def state(self) -> tuple[State, frozenset[str]]:
        """Read the state of the pool, and the operations up to then."""
        text = self.text(LEDGER)
        if text is None:
            raise InputError(f"{quoted(self.revision)}: {self.folder} was not a pool then.")
        state, ops = State(self.folder), set[str]()
        for entry in in_order([*entries_of(text)], self.folder):
            state.take(entry)
            ops.add(entry.op)
        return state, frozenset(ops)

    def text(self, name: str) -> str | None:
        """Read a file of the pool, by its path there; None if it did not exist."""
        place = (self.folder.resolve() / name).relative_to(self.repository.source)
        return self.repository.text(self.commit, place.as_posix())


def entries_of(text: str) -> Iterator[LedgerEntry]:
    """Yield the entries of a ledger that is given as text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / LEDGER
        append(path, text.encode("utf-8", "surrogateescape"))
        yield from Ledger(path).read()
