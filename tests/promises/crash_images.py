"""What a disk may hold after the power failed, built from a recording of system calls.

A killed process loses nothing that it wrote: the system still has it in memory. A machine that
stops loses whatever was not flushed, in any order and by pieces. Here a workload is recorded once
under strace; then, for the moment after each of its calls, folders are built that have all that
was flushed by then and any part of the rest. Of a write that was not flushed, a beginning may be
there, or an end behind zeros; names that were not flushed may be there or not, each on its own.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

CALLS = (
    *("openat", "write", "pwrite64", "writev", "ftruncate", "fsync", "fdatasync"),
    *("rename", "renameat", "renameat2", "unlink", "unlinkat"),
)
OPTIONS = ["-y", "-xx", "-s", "1000000", "-e", f"trace={','.join(CALLS)}"]
"""How strace is to record."""

Tear = Literal["", "half", "last byte", "zeros", "half zeros"]
TEARS: tuple[Tear, ...] = ("half", "last byte", "zeros", "half zeros")
Image = Mapping[str, bytes]
"""The files of a folder: what each holds, by its name relative to the folder."""
Files = frozenset[tuple[str, bytes]]
"""The same as a value: names and contents."""


@dataclass(frozen=True, kw_only=True)
class Op:
    """A change of the folder, a flush, or word of a commit.

    Attributes:
        kind: Which of these; `create`, `rename` and `unlink` change names, the next two content.
        name: What is changed or flushed, relative to the folder, which is `.` itself.
        file: The file that had this name then: names change, files stay.
        offset: Where it is written, or how long it is left.
        content: What is written, or said.
        target: The new name.
    """

    kind: Literal["create", "rename", "unlink", "write", "truncate", "sync", "say"]
    name: str = ""
    file: int = -1
    offset: int = 0
    content: bytes = b""
    target: str = ""

    def is_flushed_by(self, sync: Op) -> bool:
        if self.kind in {"write", "truncate"}:
            return sync.file == self.file
        return sync.name == str(Path(self.name).parent)


@dataclass(kw_only=True)
class Recorder:
    """Reads a recording."""

    folder: Path
    files: dict[str, int]
    sizes: dict[int, int]
    ops: list[Op] = field(default_factory=list[Op])
    _appending: dict[str, bool] = field(default_factory=dict[str, bool])
    _position: dict[str, int] = field(default_factory=dict[str, int])

    def read(self, trace: str) -> None:
        for call, arguments, result in calls(trace):
            if result.startswith("-1"):
                continue
            named = strings(arguments)
            handle = re.match(r"(\d+)<((?:\\x..)*)>", arguments)
            if call == "writev":
                said = re.findall(r'iov_base="((?:\\x..)*)"', arguments)
                self.ops.append(Op(kind="say", content=b"".join(map(unquoted, said))))
            elif call == "openat":
                self._open(self._name(named[0]), arguments, result)
            elif call.startswith("rename"):
                self._rename(self._name(named[0]), self._name(named[1]))
            elif call.startswith("unlink"):
                self._unlink(self._name(named[0]))
            elif handle and (name := self._name(handle[2])):
                self._change(call, handle[1], name, arguments, int(result))

    def _name(self, quoted: str) -> str:
        """Return a path relative to the folder; nothing for those elsewhere."""
        path = Path(unquoted(quoted).decode())
        return str(path.relative_to(self.folder)) if path.is_relative_to(self.folder) else ""

    def _open(self, name: str, arguments: str, result: str) -> None:
        handle = result.split("<", maxsplit=1)[0]
        self._position[handle] = 0
        self._appending[handle] = "O_APPEND" in arguments
        if name and "O_CREAT" in arguments and name not in self.files:
            self.files[name] = len(self.sizes)
            self.sizes[self.files[name]] = 0
            self.ops.append(Op(kind="create", name=name, file=self.files[name]))
        if name and "O_TRUNC" in arguments:
            self._change("ftruncate", handle, name, ", 0", 0)

    def _rename(self, name: str, target: str) -> None:
        if not name:
            return
        self.files[target] = self.files.pop(name)
        self.ops.append(Op(kind="rename", name=name, target=target, file=self.files[target]))

    def _unlink(self, name: str) -> None:
        if name:
            self.ops.append(Op(kind="unlink", name=name, file=self.files.pop(name)))

    def _change(self, call: str, handle: str, name: str, arguments: str, count: int) -> None:
        file = self.files.get(name, -1)
        if call in {"fsync", "fdatasync"}:
            self.ops.append(Op(kind="sync", name=name, file=file))
        elif call == "ftruncate":
            size = int(arguments.rsplit(", ", maxsplit=1)[1])
            self.sizes[file] = size
            self.ops.append(Op(kind="truncate", name=name, file=file, offset=size))
        else:
            offset = self._offset(call, handle, file, arguments)
            content = unquoted(strings(arguments)[0])[:count]
            self._position[handle] = offset + count
            self.sizes[file] = max(self.sizes[file], offset + count)
            self.ops.append(Op(kind="write", name=name, file=file, offset=offset, content=content))

    def _offset(self, call: str, handle: str, file: int, arguments: str) -> int:
        if call == "pwrite64":
            return int(arguments.rsplit(", ", maxsplit=1)[1])
        return self.sizes[file] if self._appending[handle] else self._position[handle]


def calls(trace: str) -> Iterator[tuple[str, str, str]]:
    """Yield call, arguments and result of each line; a call counts when it has returned."""
    begun: dict[str, str] = {}
    for line in trace.splitlines():
        process, _, text = line.partition(" ")
        text = text.strip()
        if text.endswith("<unfinished ...>"):
            begun[process] = text.removesuffix("<unfinished ...>").rstrip()
            continue
        if resumed := re.match(r"<\.\.\. \w+ resumed>", text):
            text = begun.pop(process) + text[resumed.end() :]
        if result := re.fullmatch(r"(\w+)\((.*)\)\s+= (.*)", text):
            yield result[1], result[2], result[3]


def strings(arguments: str) -> list[str]:
    return re.findall(r'"((?:\\x..)*)"', arguments)


def unquoted(text: str) -> bytes:
    return bytes.fromhex(text.replace("\\x", ""))


@dataclass(frozen=True, kw_only=True)
class Recording:
    """What a workload did.

    Attributes:
        committed: What of it was committed.
    """

    before: Image
    committed: Sequence[str]
    ops: Sequence[Op]

    @classmethod
    def of(cls, trace: str, folder: Path, before: Image, committed: Sequence[str]) -> Recording:
        """Read a recording that strace made with our options."""
        files = {name: number for number, name in enumerate(before)}
        sizes = {files[name]: len(content) for name, content in before.items()}
        recorder = Recorder(folder=folder, files=files, sizes=sizes)
        recorder.read(trace)
        return cls(before=before, committed=committed, ops=recorder.ops)

    def careless(self, *, folders: bool) -> Recording:
        """Return the work until a few words were said, with no flushes of its folders, or files."""
        words = [index for index, op in enumerate(self.ops) if op.kind == "say"]

        def is_left_out(op: Op) -> bool:
            return op.kind == "sync" and (op.file < 0) == folders

        kept = [op for op in self.ops[: words[3] + 1] if not is_left_out(op)]
        return replace(self, ops=kept)

    def final(self) -> Image:
        """Return what is there at the end."""
        return self._image(len(self.ops), frozenset(), {})

    def images(self, *, most_subsets: int) -> Mapping[Files, Sequence[str]]:
        """Return every image, and all that had been said to be committed at the latest by then.

        Args:
            most_subsets: Of this many changes that are not flushed, all subsets are lost in turn;
                of more, each alone, and all but each.
        """
        table: dict[Files, Sequence[str]] = {}
        committed = self.committed
        for moment in range(len(self.ops) + 1):
            for image in self._images_at(moment, most_subsets):
                table[frozenset(image.items())] = committed
            if moment < len(self.ops) and self.ops[moment].kind == "say":
                committed = [*committed, self.ops[moment].content.decode().strip()]
        return table

    def _images_at(self, moment: int, most_subsets: int) -> Iterator[Image]:
        pending = self._pending(moment)
        for lost in _losses(pending, most_subsets):
            yield self._image(moment, lost, {})
        for index in pending:
            if self.ops[index].kind == "write":
                for tear, lost in itertools.product(TEARS, (set[int](), pending - {index})):
                    yield self._image(moment, lost, {index: tear})

    def _pending(self, moment: int) -> frozenset[int]:
        """Return the changes that are not flushed at a moment."""
        pending = set[int]()
        for index, op in enumerate(self.ops[:moment]):
            if op.kind == "sync":
                pending = {number for number in pending if not self.ops[number].is_flushed_by(op)}
            elif op.kind != "say":
                pending.add(index)
        return frozenset(pending)

    def _image(
        self, moment: int, lost: frozenset[int] | set[int], torn: Mapping[int, Tear]
    ) -> Image:
        names = {name: number for number, name in enumerate(self.before)}
        contents = {names[name]: bytearray(content) for name, content in self.before.items()}
        for index, op in enumerate(self.ops[:moment]):
            content = contents.setdefault(op.file, bytearray())
            if index in lost:
                continue
            match op.kind:
                case "create":
                    names[op.name] = op.file
                case "rename":
                    names.pop(op.name, None)
                    names[op.target] = op.file
                case "unlink":
                    names.pop(op.name, None)
                case "truncate":
                    del content[op.offset :]
                case "write":
                    _write(content, op, torn.get(index, ""))
                case _:
                    pass
        return {name: bytes(contents[file]) for name, file in names.items()}


def _losses(pending: frozenset[int], most_subsets: int) -> Iterator[frozenset[int]]:
    if len(pending) <= most_subsets:
        sizes = range(len(pending) + 1)
        yield from map(
            frozenset, itertools.chain(*(itertools.combinations(pending, size) for size in sizes))
        )
        return
    yield from (frozenset(), pending)
    for index in pending:
        yield from (frozenset({index}), pending - {index})


def _write(content: bytearray, op: Op, tear: Tear) -> None:
    end = op.offset + len(op.content)
    half = len(op.content) // 2
    start, length = {
        "": (0, len(op.content)),
        "half": (0, half),
        "last byte": (0, len(op.content) - 1),
        "zeros": (len(op.content), len(op.content)),
        "half zeros": (half, len(op.content)),
    }[tear]
    grown = end if "zeros" in tear else op.offset + length
    content.extend(bytes(max(0, grown - len(content))))
    content[op.offset + start : op.offset + length] = op.content[start:length]
