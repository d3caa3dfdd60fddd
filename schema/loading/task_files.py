"""The files of a task: inline texts, and files named by path."""

from __future__ import annotations

import os
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any

from ..values.attachments import FORMATS, MOST_BYTES, MOST_IN_ALL, Attachment
from ..values.beneath import open_file, open_folder, open_linked
from ..values.errors import InputError
from ..values.problems import quoted, reason_of
from ..values.secrets import LOOKS_LIKE_A_KEY, looks_secret
from ..values.values import is_mapping

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from ..values.document import Document
    from ..values.problems import Path as FieldPath
    from ..values.problems import Problem

MOST_TEXT = 1_000_000
"""Maximum bytes of a text file given on its own; a task file has its own limit."""

Files = dict[str, "str | Attachment"]


def by_kind(files: Mapping[str, str | Attachment]) -> dict[str, Any]:
    """Return files as fields of a task: its texts, and its images and PDFs."""
    texts = {name: file for name, file in files.items() if isinstance(file, str)}
    others = {name: file for name, file in files.items() if isinstance(file, Attachment)}
    return {"files": MappingProxyType(texts), "attachments": MappingProxyType(others)}


def files_of_task(
    value: Any, document: Document, folder: Path, most_text: int
) -> tuple[Files, list[Problem]]:
    """Read the files that a task names, and take its inline texts.

    Args:
        value: The task's field, without malformed parts.

    Returns:
        The text or attachment of each file, by name; and the problems.
    """
    files: Files = {}
    problems = _name_clashes(value, document) if is_mapping(value) else []
    for name, path, place in _named(value):
        if path is None:
            files[name] = value[name]
            continue
        try:
            files[name] = _content_of(open_linked(folder, path), most_text)
            _check_sum(files)
        except (OSError, ValueError, RuntimeError) as error:
            message = f"{quoted(path)} cannot be read: {reason_of(error)}."
            problems.append(document.problem(place, message))
    return files, problems


def given_files(paths: Iterable[Path]) -> Files:
    """Read files given one by one: the text or attachment of each, by name.

    Args:
        paths: Their paths. Each file is named by the last part.

    Raises:
        InputError: A file cannot be read, looks like a secret key, or has the name of another.
    """
    files: Files = {}
    for path in paths:
        if path.name in files:
            raise InputError(f"{path}: two files are called {quoted(path.name)}. Rename one.")
        try:
            real = path.resolve()
            with open_folder(real.parent) as folder:
                result = _content_of(os.fdopen(open_file(folder, real.name), "rb"), MOST_TEXT)
            files[path.name] = result
            _check_sum(files)
        except (OSError, ValueError, RuntimeError) as error:
            raise InputError(f"{path} cannot be read: {reason_of(error)}.") from None
        if isinstance(result, str) and looks_secret(result):
            raise InputError(f"{path}: {LOOKS_LIKE_A_KEY}")
    return files


def _named(value: Any) -> Iterator[tuple[str, str | None, FieldPath]]:
    """Yield the name of each file with its path and the place of that path."""
    if not is_mapping(value):
        named = ((index, path) for index, path in enumerate(value) if path is not None)
        yield from ((path, path, ("files", index)) for index, path in named)
        return
    for name, content in value.items():
        if isinstance(content, str):
            yield name, None, ()
        elif is_mapping(content) and content.get("path"):
            yield name, content["path"], ("files", name, "path")


def _name_clashes(files: Mapping[str, Any], document: Document) -> list[Problem]:
    """Return problems of names that cannot exist side by side in one folder: `a` and `a/b`."""
    folders = {str(folder) for name in files for folder in PurePosixPath(name).parents}
    return [
        document.problem(
            ("files", name),
            f"{quoted(name)} is also the name of a folder. Rename one.",
            at_key=True,
        )
        for name in files
        if name in folders
    ]


def _content_of(opened: IO[bytes], most_text: int) -> str | Attachment:
    with opened as stream:
        content = stream.read(most_text + 1)
        attachment = Attachment.of(content)
        if attachment is not None and len(content) > most_text:
            content += stream.read(MOST_BYTES + 1 - len(content))
            attachment = Attachment.of(content)
    most = most_text if attachment is None else MOST_BYTES
    if len(content) > most:
        raise ValueError(f"it is larger than {most} bytes")
    try:
        return content.decode("utf-8") if attachment is None else attachment
    except UnicodeDecodeError:
        raise ValueError(f"it is not UTF-8 text, and none of {FORMATS}") from None


def _check_sum(files: Files) -> None:
    """Check the total size of a task's images and PDFs."""
    sizes = [len(file.content) for file in files.values() if isinstance(file, Attachment)]
    if sum(sizes) > MOST_IN_ALL:
        raise ValueError(f"the task's images and PDFs are larger than {MOST_IN_ALL} bytes together")
