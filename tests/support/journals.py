"""Entries of journals, as runs write them."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from coterie.runtime.agents.outcomes import AgentOutcome
from coterie.runtime.gateway import Usage
from coterie.runtime.record.journal import FILE
from coterie.runtime.record.log_file import lines_of, write_whole
from coterie.runtime.runners import AgentResult
from coterie.schema.values.codec import to_value

SPENT = Usage(calls=1, prompt_tokens=9, completion_tokens=3)
"""What a call or an agent takes unless a test says otherwise."""


class Written(NamedTuple):
    """An entry as its line in the file has it; the value is JSON."""

    path: str
    kind: str
    asked: str
    moment: float
    value: str


def written(folder: Path, kind: str | None = None) -> list[Written]:
    """Return the entries of a kind, or of all kinds, that a folder has a journal of."""
    if not (folder / FILE).exists():
        return []
    lines = [content.decode().split("\t") for _, content in lines_of(folder / FILE)]
    entries = [Written._make([*json.loads(head), value]) for head, value in lines]
    return [entry for entry in entries if kind in {None, entry.kind}]


def rewrite(folder: Path, change: Callable[[Written], Written | None]) -> None:
    """Change entries behind the back of whoever wrote them; those that become None are gone."""
    entries = [entry for each in written(folder) if (entry := change(each)) is not None]
    lines = [f"{json.dumps(entry[:-1])}\t{entry.value}".encode() for entry in entries]
    write_whole(folder / FILE, lines)


def answered(text: str, **fields: Any) -> Mapping[str, Any]:
    """Return the entry of a model's answer."""
    call = {"tool_calls": [], "finish_reason": "stop", "model": "m", "alias": "m"}
    return {"text": text, "usage": SPENT.value(), "seconds": 0.1, "attempts": 1, **call, **fields}


def ended(usage: Usage = SPENT) -> Mapping[str, Any]:
    """Return the entry of an agent that is done."""
    done = AgentOutcome(status="done", result=AgentResult(content="c"), usage=usage, attempts=1)
    return to_value(done)
