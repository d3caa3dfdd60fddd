"""Reads agent files, and merges them into the team files that use them.

An agent file is YAML, or a folder:

    critic/agent.yaml                 all fields except the following
    critic/prompt.md                  its prompt
    critic/skills/<name>/SKILL.md     a skill: its description in the front matter, and its body
    critic/notes/patches/<name>.md    its notes
    critic/notes/teammates/<id>.md
    critic/notes/pairs/<id>.md
    critic/notes/coaching.md
    critic/lessons.jsonl              in a pool: its memory, which is no part of the agent

A note's front matter names the task that taught it; a skill's metadata do so.

Every file read is below the given folder; links that lead out of it are refused.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..team.building import using_files
from ..team.team import OF_OTHERS, is_prompt_id
from ..values.beneath import names_in, open_linked
from ..values.document import LIMITS, UNWELCOME, Document
from ..values.hints import did_you_mean, listed
from ..values.problems import Path as FieldPath
from ..values.problems import Problem, TextPosition, quoted, reason_of
from ..values.values import is_mapping
from ..values.yaml_text import read_yaml

AGENT = "agent.yaml"
TEAM, AGENTS = "team.yaml", "agents"
"""The team file in a team's folder, and the folder of its agents."""
PROMPT, SKILL, COACHING = "prompt.md", "SKILL.md", "coaching.md"
KINDS = ("patches", *OF_OTHERS)
"""The kinds of notes that have one file per note, named like their folders."""
UNREAD = ("scripts", "references", "assets")
"""Entries that the Agent Skills convention allows beside a skill's file and that are not read."""
DASHES = "---\n"
"""The first line of front matter."""
LESSONS = "lessons.jsonl"
"""The memory of an agent of a pool: it recalls entries from it, but the file is no part of it."""
NAMES = (AGENT, PROMPT, "skills", "notes", LESSONS)
"""The entries that an agent's folder may have."""

MOST_ENTRIES = 1_000
"""The maximum number of entries of a folder. An agent has room for fewer notes."""

MOST_NODES = 4 * LIMITS.nodes
"""The maximum number of values in all agent files of a team together."""

_PATH = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*(/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*")
_FRONT_MATTER = re.compile(r"---\n(?P<front>(?:.*\n)*?)---(?:\n\n?(?P<body>(?s:.*))|\Z)")


def is_agent_folder(path: Path) -> bool:
    """Return whether a path is an agent's folder."""
    return (path / AGENT).is_file()


def is_team_folder(path: Path) -> bool:
    """Return whether a path is a team's folder."""
    return (path / TEAM).is_file()


def with_used(
    document: Document, problems: list[Problem], folder: Path | None
) -> tuple[Document, list[Problem]]:
    """Merge the fields of agent files into the team file that uses them.

    Args:
        problems: The problems found so far.
        folder: The team file's folder. None: there is no file, so it may use no agent files.
    """
    using = using_files(document.value)
    if not document.complete or not using:
        return document, problems
    agents = document.value["agents"]
    parts, result = _parts(document, using, folder)
    whole = {name: {**_fields(parts.get(name)), **_own(fields)} for name, fields in using.items()}
    value = {**document.value, "agents": {**agents, **whole}}
    grafts = {("agents", name): part for name, part in parts.items()}
    return replace(document, value=value, grafts=grafts), [*problems, *result]


def read_agent_document(path: Path, root: Path) -> tuple[Document, list[Problem]]:
    """Read an agent file or an agent's folder.

    Args:
        root: The folder that must contain all files read.

    Returns:
        The readable part, and the problems.
    """
    if is_agent_folder(path):
        return _Folder(path=path, root=root).read()
    return read_yaml(_content(path, root), str(path))


def _parts(
    document: Document, using: Mapping[str, Mapping[str, Any]], folder: Path | None
) -> tuple[dict[str, Document], list[Problem]]:
    """Read the agent files in use, each once."""
    read: dict[str, tuple[Document, list[Problem]]] = {}
    parts: dict[str, Document] = {}
    problems: list[Problem] = []
    nodes = 0
    for agent_id, fields in using.items():
        name = fields["use"]
        try:
            if name not in read:
                read[name] = _used(name, folder, Path(document.file).parent)
                problems += read[name][1]
        except (ValueError, TypeError) as error:
            problems.append(document.problem(("agents", agent_id, "use"), str(error)))
            continue
        nodes += len(read[name][0].places)
        if nodes > MOST_NODES:
            message = f"the agent files of a team may have at most {MOST_NODES} values together."
            problems.append(document.problem(("agents", agent_id, "use"), message))
            break
        if read[name][0].complete:
            parts[agent_id] = read[name][0]
    return parts, problems


def _used(name: object, folder: Path | None, shown: Path) -> tuple[Document, list[Problem]]:
    if folder is None:
        raise ValueError("an agent file must lie beside a team file. Write the agent out.")
    if not isinstance(name, str) or not _PATH.fullmatch(name):
        raise ValueError(
            f"{quoted(name)} is not a relative path below the team file's folder. Write for"
            " instance agents/critic.yaml."
        )
    document, problems = read_agent_document(folder / name, folder)
    if document.complete and not is_mapping(document.value):
        raise ValueError(f"{quoted(name)} is not an agent file: it has no fields.")
    if is_mapping(document.value) and "use" in document.value:
        message = "an agent file cannot use another one. Write the agent out."
        problems = [*problems, document.problem(("use",), message, at_key=True)]
    return document, problems


def _fields(part: Document | None) -> dict[str, Any]:
    value = part.value if part is not None else {}
    return {name: item for name, item in value.items() if name not in {"id", "lineage", "use"}}


def _own(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: item for name, item in fields.items() if name != "use"}


def _content(path: Path, root: Path) -> bytes:
    """Read a file below a folder, at most one byte more than the limit."""
    try:
        with open_linked(root, path.relative_to(root).as_posix()) as stream:
            return stream.read(LIMITS.bytes + 1)
    except FileNotFoundError:
        names = [file.name for file in path.parent.glob("*")] if path.parent.is_dir() else []
        hint = did_you_mean(path.name, names)
        raise ValueError(f"there is no file {quoted(str(path))}.{hint}") from None
    except OSError as error:
        if error.errno == errno.EINVAL:
            text = f"{quoted(str(path))} is not a file, nor a folder with {AGENT}."
            raise ValueError(text) from None
        raise ValueError(f"{quoted(str(path))} cannot be read: {reason_of(error)}.") from None


@dataclass(kw_only=True, eq=False)
class _Folder:
    """An agent's folder, with the problems and parts found so far."""

    path: Path
    root: Path
    problems: list[Problem] = field(default_factory=list[Problem])
    grafts: dict[FieldPath, Document] = field(default_factory=dict["FieldPath", Document])

    def read(self) -> tuple[Document, list[Problem]]:
        """Read all files of the folder."""
        base, problems = read_yaml(_content(self.path / AGENT, self.root), str(self.path / AGENT))
        value: Any = {} if base.value is None and base.complete else base.value
        if not base.complete or not is_mapping(value):
            return base, problems
        self._check_names(self.path, NAMES)
        value = dict(value)
        for place, text in [*self._prompt(), *self._skills(), *self._notes()]:
            self._put(value, place, text, base)
        whole = replace(base, value=value, grafts=self.grafts)
        return whole, [*problems, *self.problems]

    def _put(self, value: dict[str, Any], place: FieldPath, text: Any, base: Document) -> None:
        """Set the value at its place, or report a problem if agent.yaml sets it too."""
        inner = value
        for name in place[:-1]:
            copied = inner.get(str(name), {})
            inner[str(name)] = dict(copied) if is_mapping(copied) else {}
            inner = inner[str(name)]
        if place in base.places:
            message = f"this is in {self.grafts[place].file} as well. Keep one of them."
            self.problems.append(base.problem(place, message))
            del self.grafts[place]
        else:
            inner[str(place[-1])] = text

    def _prompt(self) -> Iterator[tuple[FieldPath, Any]]:
        if os.path.lexists(self.path / PROMPT):
            text = self._text(self.path / PROMPT, ("prompt",))
            # A prompt in a file of its own is always text, even if it looks like an id.
            yield ("prompt",), f"{text}\n" if is_prompt_id(text) else text

    def _skills(self) -> Iterator[tuple[FieldPath, Any]]:
        for folder in self._entries(self.path / "skills"):
            inside = self._entries(folder)
            if folder.is_dir() and not any(path.suffix == ".md" for path in inside):
                continue  # a removed skill, with files that are no part of it
            place: FieldPath = ("notes", "skills", folder.name)
            self._check_beside(folder)
            skill = self._skill(folder / SKILL, place)
            yield from self._taught(place, skill, ("metadata", "task"))
            yield place, skill

    def _notes(self) -> Iterator[tuple[FieldPath, Any]]:
        notes = self.path / "notes"
        self._check_names(notes, (*KINDS, COACHING))
        if os.path.lexists(notes / COACHING):
            yield from self._note(notes / COACHING, ("notes", "coaching"))
        for kind in KINDS:
            for file in self._entries(notes / kind):
                yield from self._note(file, ("notes", kind, file.name.removesuffix(".md")))

    def _note(self, path: Path, place: FieldPath) -> Iterator[tuple[FieldPath, Any]]:
        """Read a note, and the task that taught it if its front matter names one."""
        text = whole = self._text(path, place)
        if whole.startswith(DASHES):
            fields, text = self._parted(whole, path, place)
            front = self.grafts[place]
            yield from self._taught(place, fields, ("task",))
            for key in fields:
                message = "a note's front matter names the task that taught it, and nothing else."
                self.problems.append(front.problem((key,), message, at_key=True))
            start = TextPosition(line=1 + whole.count("\n") - text.count("\n"))
            self.grafts[place] = replace(front, value=None, places={(): start}, keys={})
        yield place, text

    def _skill(self, path: Path, place: FieldPath) -> dict[str, Any]:
        """Read a skill: its front matter and its body."""
        fields, body = self._parted(self._text(path, place), path, place)
        if fields.pop("name", place[-1]) != place[-1]:
            message = f"the skill's folder is called {quoted(place[-1])}. Give both the same name."
            self.problems.append(self.grafts[place].problem(("name",), message))
        return {**fields, "body": body}

    def _parted(self, text: str, path: Path, place: FieldPath) -> tuple[dict[str, Any], str]:
        """Split a text into the fields of its front matter and its body."""
        parts = _FRONT_MATTER.fullmatch(text)
        if parts is None:
            message = "it must begin with front matter, between two lines of dashes, `---`."
            self.problems.append(self.grafts[place].problem((), message))
            return {}, text
        head = parts["front"] or "{}"  # an untaught note that begins with dashes
        front, problems = read_yaml(f"\n{head}".encode(), str(path))
        self.problems += problems
        self.grafts[place] = front
        return dict(front.value) if is_mapping(front.value) else {}, parts["body"] or ""

    def _taught(
        self, place: FieldPath, fields: dict[str, Any], where: FieldPath
    ) -> Iterator[tuple[FieldPath, Any]]:
        """Remove the task that taught a note from its front matter, and yield it at its place."""
        *outer, name = map(str, where)
        inner = fields
        for word in outer:
            if not is_mapping(inner.get(word)):
                return
            inner[word] = dict(inner[word])
            inner = inner[word]
        if name in inner:
            front = self.grafts[place]
            taught: FieldPath = ("notes", "taught", "/".join(map(str, place[1:])))
            at = {(): front.places[where]}
            self.grafts[taught] = Document(file=front.file, value=None, places=at, keys=at)
            yield taught, inner.pop(name)
            if outer and not inner:
                del fields[outer[0]]

    def _text(self, path: Path, place: FieldPath) -> str:
        """Read a text file, without its final line break."""
        content = _content(path, self.root)
        self.grafts[place] = Document(
            file=str(path), value=None, places={(): TextPosition()}, keys={}
        )
        if len(content) > LIMITS.bytes:
            raise ValueError(f"{quoted(str(path))} is larger than {LIMITS.bytes} bytes.")
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            raise ValueError(f"{quoted(str(path))} is not UTF-8 text.") from None
        for signs, what in UNWELCOME.items():
            if unwelcome := signs.search(text):
                line = text.count("\n", 0, unwelcome.start()) + 1
                message = f"{what} U+{ord(unwelcome[0]):04X} in a text. Remove it."
                place_in = TextPosition(line=line)
                self.problems.append(Problem(file=str(path), place=place_in, message=message))
        return text.removesuffix("\n")

    def _entries(self, folder: Path) -> list[Path]:
        """List the entries of a folder by name; empty if there is no folder."""
        try:
            names = names_in(self.root, folder.relative_to(self.root).as_posix())
        except FileNotFoundError:
            return []
        except NotADirectoryError:
            raise ValueError(f"{quoted(str(folder))} is not a folder.") from None
        except OSError as error:
            text = f"{quoted(str(folder))} cannot be read: {reason_of(error)}."
            raise ValueError(text) from None
        paths = [folder / name for name in names if not name.startswith(".")]
        if len(paths) > MOST_ENTRIES:
            raise ValueError(f"{quoted(str(folder))} has more than {MOST_ENTRIES} entries.")
        return paths

    def _check_beside(self, skill: Path) -> None:
        """Report files that the Agent Skills convention allows and that nobody reads here."""
        for entry in self._entries(skill):
            if entry.name in UNREAD:
                message = (
                    f"an agent reads only {SKILL}, and runs no scripts of a skill. Write the"
                    f" important parts of {entry.name} there, and leave it out."
                )
                self.problems.append(Problem(file=str(entry), message=message))

    def _check_names(self, folder: Path, names: tuple[str, ...]) -> None:
        for entry in self._entries(folder):
            if entry.name not in names:
                hint = did_you_mean(entry.name, names) or f" Known: {listed(names)}."
                message = f"an agent's folder has no {quoted(entry.name)}.{hint}"
                self.problems.append(Problem(file=str(entry), message=message))
