"""Describes a pool's changes since its last commit, for the message of the next one."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...runtime.repository.repository import Repository
from ...schema.values.terminal import counted, on_one_line
from ..values.layout import LEDGER
from .past import entries_of

WIDTH = 72
"""Characters of a line, as in git's own messages."""
MOST_LINES = 60
LONGEST = 300
"""Maximum characters of a quoted text."""


def news_since_commit(folder: Path, repository: Repository) -> list[str]:
    """Describe the ledger lines of a pool that its last commit does not have.

    Args:
        folder: The pool. The result is empty if there is no ledger.
    """
    ledger = folder.resolve() / LEDGER
    if not ledger.is_file():
        return []
    path = ledger.relative_to(repository.source).as_posix()
    then = (repository.text("HEAD", path) if repository.head else None) or ""
    now = ledger.read_bytes().decode("utf-8", "surrogateescape")
    ops = set[str]()
    if now.startswith(then):  # lines were only added, so known ones need no reading
        now = now[len(then) :]
    else:
        ops = {entry.op for entry in entries_of(then)}
    values = [entry.value for entry in entries_of(now) if entry.op not in ops]
    lines = [line for value in values for line in _sentences(value)]
    more = len(lines) - MOST_LINES
    return [*lines[:MOST_LINES], *([f"and {counted(more, 'more line')}"] if more > 0 else [])]


def _sentences(value: Mapping[str, Any]) -> Iterator[str]:
    """Yield descriptions of a line: births and revisions with edits and reasons, and scores."""
    who = value.get("team") or value.get("agent")
    match value["kind"]:
        case "born" if value["lineage"].get("parents"):
            lineage = value["lineage"]
            parents = ", ".join(lineage["parents"])
            yield from _filled(
                f"+ {who}: {lineage['operator']} of {parents}", lineage.get("reason")
            )
            yield from _edits(lineage.get("edits", ()))
        case "revised":
            yield from _filled(f"~ {who}", value.get("reason"))
            yield from _edits(value.get("edits", ()))
        case "retired":
            yield from _filled(f"- {who}", value.get("reason"))
        case "evaluated":
            yield f"{who} on {on_one_line(str(value['task']))}: {value['score']:g}"
        case "failed":
            yield from _filled(f"{who} failed on {value['task']}", value.get("reason"))
        case "learnt":
            yield from _filled("learnt", value["entry"].get("text"))
        case _:
            pass


def _edits(edits: Sequence[str]) -> Iterator[str]:
    for edit in edits:
        yield from textwrap.wrap(
            _short(edit), WIDTH, initial_indent="    ", subsequent_indent="    "
        )


def _filled(begun: str, text: str | None) -> list[str]:
    words = f"{begun}: {_short(text)}" if text else begun
    return textwrap.wrap(on_one_line(words), WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _short(text: str) -> str:
    text = on_one_line(text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
