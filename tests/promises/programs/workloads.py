"""What is interrupted in the tests of durable storage: work that says what it has committed.

Every workload can be run again over whatever an interruption left, and then goes on. `check` tells
what is wrong with what was left, given what had been said before.
"""

import asyncio
import os
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from coterie.pool.ledger.ledger import Ledger
from coterie.runtime.record.journal import Journal
from coterie.schema.values.errors import StorageError
from coterie.schema.values.files import make_folder, write_atomically
from tests.support.failpoints import armed

Say = Callable[[str], None]
"""Tells that something is committed, to whoever started the work."""

PAGES = "long " * 2000
"""Text that spans several pages of memory and blocks of a disk."""


class Workload(Protocol):
    def prepare(self, folder: Path) -> list[str]:
        """Write what was there before, and tell what of it was committed."""
        ...

    def run(self, folder: Path, say: Say) -> None:
        """Do the work, or what is left of it."""
        ...

    def check(self, folder: Path, messages: list[str]) -> None:
        """Look at what was left, go on, and look at that."""
        ...


class Files:
    """A file that is replaced again and again."""

    steps = 20

    def prepare(self, folder: Path) -> list[str]:
        (folder / "state").write_text(self._text(1))
        return ["1"]

    def run(self, folder: Path, say: Say) -> None:
        for version in range(self._version(folder) + 1, self.steps + 1):
            write_atomically(folder / "state", self._text(version))
            say(str(version))

    def check(self, folder: Path, messages: list[str]) -> None:
        assert self._version(folder) >= int(messages[-1])
        self.run(folder, lambda _: None)
        assert self._version(folder) == self.steps

    def _text(self, version: int) -> str:
        return f"{version} {PAGES * (version % 3)}end"

    def _version(self, folder: Path) -> int:
        try:
            text = (folder / "state").read_text()
        except OSError as error:
            raise StorageError(error.errno, error.strerror, str(folder / "state")) from error
        versions = [self._text(version) for version in range(self.steps + 1)]
        assert text in versions, "the file is not whole"
        return versions.index(text)


class Ledgers:
    """A ledger with an unfinished line, and two who append to it by turns, sometimes with files."""

    steps = 24

    def prepare(self, folder: Path) -> list[str]:
        make_folder(folder / "teams")
        ledger = Ledger(folder / "ledger.jsonl")
        for step in range(2):
            self._append(ledger, step)
        with ledger.path.open("ab") as stream:
            stream.write(b'{"op": "step 2", "text": "lo')
        return ["step 0", "step 1"]

    def run(self, folder: Path, say: Say) -> None:
        two = [Ledger(folder / "ledger.jsonl", report=lambda _: None) for _ in range(2)]
        for step in range(self.steps):
            self._append(two[step // 2 % 2], step)
            say(f"step {step}")

    def check(self, folder: Path, messages: list[str]) -> None:
        left = self._read(folder)
        assert set(messages) <= set(left), "committed lines are lost"
        self.go_on(folder)
        ledger = Ledger(folder / "ledger.jsonl")
        assert self._read(folder) == [f"step {step}" for step in range(self.steps)]
        remains = [name for name in ledger.orphans("teams/*") if not name.startswith("teams/.")]
        assert remains == []

    def go_on(self, folder: Path) -> None:
        Ledgers.run(self, folder, lambda _: None)

    def _append(self, ledger: Ledger, step: int) -> None:
        text = PAGES if step % 4 == 3 else "short"
        ledger.commit({"text": text}, op=f"step {step}", files=self._files(step))

    def _files(self, step: int) -> Mapping[str, str]:
        return {f"teams/{step}.yaml": f"step: {step}\n"} if step % 3 == 0 else {}

    def _read(self, folder: Path) -> list[str]:
        entries = list(Ledger(folder / "ledger.jsonl").read())
        for entry in entries:
            for name, text in self._files(int(entry.op.split()[1])).items():
                assert name in entry.files
                assert (folder / name).read_text() == text
        counted = Counter(entry.op for entry in entries)
        assert set(counted.values()) <= {1}, "an operation is there twice"
        return [entry.op for entry in entries]


class Handovers(Ledgers):
    """A new ledger whose every line was written by a process that died before it was flushed."""

    def prepare(self, folder: Path) -> list[str]:
        make_folder(folder / "teams")
        return []

    def run(self, folder: Path, say: Say) -> None:
        ledger = Ledger(folder / "ledger.jsonl", report=lambda _: None)
        for step in range(self.steps):
            if (child := os.fork()) == 0:
                with armed("files.append.written:1:kill"):
                    self._append(ledger, step)
                os._exit(0)
            os.waitpid(child, 0)
            self._append(ledger, step)
            say(f"step {step}")


class Journals:
    """The journal of a run, with several entries to a flush."""

    steps = 96

    def prepare(self, folder: Path) -> list[str]:
        return []

    def run(self, folder: Path, say: Say) -> None:
        asyncio.run(self._put(folder, say))

    def check(self, folder: Path, messages: list[str]) -> None:
        with Journal.open(folder) as journal:
            for name in messages:
                assert journal.get(name, "asked") == self._value(name), "a committed entry is lost"
        self.run(folder, lambda _: None)
        with Journal.open(folder) as journal:
            for step in range(self.steps):
                assert journal.get(f"entry {step}", "asked") == self._value(f"entry {step}")
        assert journal.divergences == []

    async def _put(self, folder: Path, say: Say) -> None:
        with Journal.open(folder) as journal:
            for step in range(0, self.steps, 8):
                names = [f"entry {step + number}" for number in range(8)]
                for name in names:
                    if journal.get(name, "asked") is None:
                        await journal.put(name, "note", "asked", self._value(name))
                await journal.flush()
                for name in names:
                    say(name)

    def _value(self, name: str) -> Mapping[str, str]:
        return {"name": name, "text": PAGES if name.endswith(("3", "6")) else "short"}


class Outputs:
    """Answers that are used as soon as they are written, and files that follow from them."""

    steps = 32

    def prepare(self, folder: Path) -> list[str]:
        make_folder(folder / "made")
        return []

    def run(self, folder: Path, say: Say) -> None:
        asyncio.run(self._act(folder, say))

    def check(self, folder: Path, messages: list[str]) -> None:
        del messages
        with Journal.open(folder) as journal:
            for path in (folder / "made").iterdir():
                for number in range(int(path.name) + 1):
                    entry = journal.get(f"entry {number}", "asked")
                    assert entry == {"n": number}, "something is lost that a file followed from"

    async def _act(self, folder: Path, say: Say) -> None:
        with Journal.open(folder) as journal:
            for step in range(self.steps):
                await journal.put(f"entry {step}", "note", "asked", {"n": step})
                if step % 2:
                    await journal.flush()
                    (folder / "made" / str(step)).touch()
                    say(f"made {step}")


WORKLOADS: Mapping[str, Workload] = {
    "files": Files(),
    "ledger": Ledgers(),
    "handover": Handovers(),
    "journal": Journals(),
    "outputs": Outputs(),
}
