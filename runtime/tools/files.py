"""Tools that inspect the agent's workspace: list its files, read one, search in them.

They change nothing, and see only regular files inside the workspace.
"""

from __future__ import annotations

import io
import itertools
import time
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .confined import Walk, is_file, open_folder, printable, read_bytes, split
from .expressions import expression, substring
from .tool import Tool, ToolError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Generator, Iterable, Iterator, Mapping
    from pathlib import Path

    from ..repository.workspace import Workspace
    from .expressions import Find

MOST_FILES = 1_000
MOST_CHARACTERS = 50_000
MOST_MATCHES = 200
SEARCH_SECONDS = 5.0
LONGEST_SEARCH = 1_000  # characters
SHOWN_BEFORE, SHOWN_AFTER = 100, 200


def _list_files(root: Path, path: str = ".") -> str:
    names, walk = split(path), Walk()
    with open_folder(root, names) as folder:
        texts = [printable(file) for file, _, _ in walk.files(folder, _prefix(names))]
    notes = list(_notes(walk))
    if len(texts) > MOST_FILES:
        notes.append(f"Files left out: {len(texts) - MOST_FILES}. Give the path of a folder.")
    return _listed(texts[:MOST_FILES] or ["No files."], notes)


def _read_file(root: Path, path: str, start_line: int = 1, line_count: int | None = None) -> str:
    names = split(path)
    if not names:
        raise ToolError(f"{path!r} is a folder. list_files lists its contents.")
    with open_folder(root, names[:-1]) as folder:
        text = _text(read_bytes(folder, names[-1], path), path)
    total = text.count("\n") + (text[-1:] not in {"", "\n"})
    if start_line > max(total, 1):
        raise ToolError(f"{path!r} ends with line {total}; start_line is {start_line}.")
    last = total if line_count is None else min(start_line - 1 + line_count, total)
    return _excerpt(text, start_line, last, total)


def _excerpt(text: str, first: int, last: int, total: int) -> str:
    """Return the lines from `first` to `last` that fit into an answer, with their numbers."""
    shown: list[str] = []
    left = MOST_CHARACTERS
    for line in itertools.islice(_lines(text), first - 1, last):
        if shown and len(line) > left:
            break
        shown.append(line[:left])
        left -= len(line)
    if left < 0:
        shown.append(f"\n[line {first} of {total}, cut after {MOST_CHARACTERS} characters]")
    elif len(shown) < total:
        line_end = "" if shown[-1].endswith("\n") else "\n"
        shown.append(f"{line_end}[lines {first} to {first - 1 + len(shown)} of {total}]")
    return "".join(shown)


def _search_text(root: Path, text: str, regular_expression: bool = False, path: str = ".") -> str:
    search = _Search(find=expression(text) if regular_expression else substring(text))
    with closing(_files_at(root, split(path), search.walk)) as files:
        for file, folder, name in files:
            search.look_into(file, folder, name)
            if search.full:
                break
    return search.report()


@dataclass(kw_only=True, eq=False)
class _Search:
    """A search in progress, and its result."""

    find: Find
    walk: Walk = field(default_factory=Walk)
    deadline: float = field(default_factory=lambda: time.monotonic() + SEARCH_SECONDS)
    matches: list[str] = field(default_factory=list[str])
    files: int = 0
    unread: int = 0

    @property
    def full(self) -> bool:
        """Whether the answer is full, or the search has taken long enough."""
        return len(self.matches) >= MOST_MATCHES or time.monotonic() > self.deadline

    def look_into(self, path: str, folder: int, name: str) -> None:
        """Search in one file."""
        try:
            lines = _lines(_text(read_bytes(folder, name, path), path))
        except ToolError:
            self.unread += 1
            return
        self.files += 1
        for number, line in enumerate(lines, start=1):
            if (place := self.find(line.rstrip("\r\n"))) >= 0:
                self.matches.append(f"{printable(path)}:{number}: {_around(line.rstrip(), place)}")
            if self.full:
                return

    def report(self) -> str:
        """Return the matches and a note of what was left out."""
        notes = list(_notes(self.walk))
        if self.unread:
            why = "binary, hard links, too large or not readable"
            notes.append(f"Files not searched: {self.unread} ({why}).")
        if len(self.matches) >= MOST_MATCHES:
            notes.append(f"Stopped after {MOST_MATCHES} matches. Search for more, or give a path.")
        elif self.full:
            notes.append(f"Stopped after {SEARCH_SECONDS:g} seconds. Give a path.")
        return _listed(self.matches or [f"No match. Files searched: {self.files}."], notes)


def _files_at(root: Path, names: tuple[str, ...], walk: Walk) -> Generator[tuple[str, int, str]]:
    """Yield the file at a path, or the files of the folder there."""
    with open_folder(root, names[:-1]) as folder:
        if names and is_file(folder, names[-1]):
            yield "/".join(names), folder, names[-1]
            return
    with open_folder(root, names) as folder:
        yield from walk.files(folder, _prefix(names))


def _prefix(names: tuple[str, ...]) -> str:
    return "".join(f"{name}/" for name in names)


def _text(content: bytes, path: str) -> str:
    if b"\0" in content:
        raise ToolError(f"{path!r} is a binary file of {len(content)} bytes, not text.")
    return content.decode("utf-8-sig", errors="replace")


def _lines(text: str) -> Iterable[str]:
    """Split at line feeds only, as editors count lines; each line keeps its line feed."""
    return io.StringIO(text, newline="\n")


def _around(line: str, place: int) -> str:
    start, end = max(place - SHOWN_BEFORE, 0), place + SHOWN_AFTER
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"


def _notes(walk: Walk) -> Iterator[str]:
    if walk.left_out:
        yield f"Links, special files and closed folders left out: {walk.left_out}."
    if walk.cut_short:
        yield "There are too many files to look at all of them. Give the path of a folder."


def _listed(lines: list[str], notes: list[str]) -> str:
    return "\n".join([*lines, *(f"[{note}]" for note in notes)])


def _in_thread(
    work: Callable[..., str],
) -> Callable[[Mapping[str, Any], Workspace], Coroutine[Any, Any, str]]:
    """Return a tool's `run` from a function that would block the event loop."""

    async def run(arguments: Mapping[str, Any], workspace: Workspace) -> str:
        from asyncio import to_thread

        return await to_thread(lambda: work(workspace.as_it_is(), **arguments))

    return run


def _parameters(*required: str, **properties: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


_FOLDER_PATH = {"type": "string", "description": "A folder of the workspace. Default: all of it."}

list_files = Tool(
    name="list_files",
    description="List the files of the workspace, or of one of its folders: a path a line.",
    parameters=_parameters(path=_FOLDER_PATH),
    run=_in_thread(_list_files),
)

read_file = Tool(
    name="read_file",
    description="Read a text file of the workspace, or some of its lines.",
    parameters=_parameters(
        "path",
        path={"type": "string", "description": "The file, for instance src/main.py."},
        start_line={
            "type": "integer",
            "minimum": 1,
            "description": "The first line to read. Default: 1.",
        },
        line_count={
            "type": "integer",
            "minimum": 1,
            "description": "How many lines to read. Default: all.",
        },
    ),
    run=_in_thread(_read_file),
)

search_text = Tool(
    name="search_text",
    description=(
        "Find the lines of the workspace's files that contain a text, case-sensitive."
        " Gives path:line: text for each."
    ),
    parameters=_parameters(
        "text",
        text={
            "type": "string",
            "minLength": 1,
            "maxLength": LONGEST_SEARCH,
            "description": "What to look for within a line.",
        },
        regular_expression={
            "type": "boolean",
            "description": "Whether the text is a regular expression. Default: false.",
        },
        path={
            "type": "string",
            "description": "A file or folder of the workspace. Default: all of it.",
        },
    ),
    run=_in_thread(_search_text),
)
