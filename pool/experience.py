"""An entry of the memory: what was learnt from a task, and how it is written as a line of JSON.

The shape of a line is told by `experience.schema.json`.
"""

from __future__ import annotations

import functools
import json
import uuid
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..schema.problems import dotted, quoted
from ..schema.secrets import scrubbed
from ..schema.values import is_list, is_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jsonschema.protocols import Validator

__all__ = ["LONGEST_TASK", "Experience", "OperatorOutcome", "Provenance", "from_line", "to_line"]

VERSION = 1
OBSOLETE = {"created"}
"""Fields that earlier versions wrote; they are passed over."""
LONGEST_TASK = 8_000
"""Characters of a task by which it is compared with others; no embedder reads more."""
KEYS = uuid.UUID("9d1f6a0e-53c4-4b7c-8f0c-2f3e5d7a9b11")


@dataclass(frozen=True, kw_only=True, slots=True)
class OperatorOutcome:
    """What an operator made, and what it was worth (EvoMAS §3.2: a step of an evolution trace).

    Attributes:
        operator: Its name.
        component: The component that its edits touched, where it is one.
        team: The content hash of the team that it made.
        reward: That team's reward on the task.
    """

    operator: str
    component: str | None = None
    team: str | None = None
    reward: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Provenance:
    """Where an entry comes from.

    Attributes:
        run: The id of the run that produced it.
        config: The config that produced it: content hash or name of a team or a recipe.
    """

    run: str | None = None
    config: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Experience:
    """An entry (EvoMAS §3.2.4: task, team, summary).

    Attributes:
        id: What no other entry is called; an entry is added once.
        kind: What sort of experience it is: `evolution`, and others.
        task: The task's text, by the first `LONGEST_TASK` characters of which it is found.
        summary: What was learnt.
        niche: The kind of task.
        team: The content hash of the team that it is about.
        operators: What was tried, in order.
        reward: The team's reward on the task: score less the cost's share.
        provenance: Where it comes from.
    """

    id: str
    kind: str
    task: str
    summary: str
    niche: str | None = None
    team: str | None = None
    operators: tuple[OperatorOutcome, ...] = ()
    reward: float | None = None
    provenance: Provenance = Provenance()

    @property
    def key(self) -> str:
        """A UUID that changes with everything by which the entry is found."""
        return str(uuid.uuid5(KEYS, json.dumps([self.id, self.kind, self.niche, self.task])))


def to_line(entry: Experience) -> bytes:
    """Write an entry as a line, without what looks like a secret key.

    Raises:
        ValueError: A field is not as the schema has it.
    """
    value = _told({"v": VERSION, **asdict(entry)})
    text = scrubbed(json.dumps(value, ensure_ascii=False, allow_nan=False))
    # Half of a surrogate pair, which a model's answer can hold, is no text.
    line = text.encode("utf-8", "replace") + b"\n"
    from_line(line)
    return line


def from_line(line: bytes) -> Experience:
    """Read an entry.

    Raises:
        ValueError: It is none; the message says why.
    """
    try:
        value = json.loads(line, parse_constant=_refused)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if is_mapping(value):
        value = {key: item for key, item in value.items() if key not in OBSOLETE}
    if error := next(_validator().iter_errors(value), None):
        where = dotted(tuple(error.absolute_path))
        raise ValueError(f"{where or 'the entry'}: {quoted(error.message)}")
    return _entry(value)


def _entry(value: Mapping[str, Any]) -> Experience:
    fields = {key: item for key, item in value.items() if key != "v"}
    operators = tuple(OperatorOutcome(**outcome) for outcome in fields.pop("operators", ()))
    provenance = Provenance(**fields.pop("provenance", {}))
    return Experience(**fields, operators=operators, provenance=provenance)


def _told(value: Any) -> Any:
    """Leave out what says nothing: fields that are None or empty."""
    if is_list(value) or isinstance(value, tuple):
        return [_told(item) for item in value]
    if not is_mapping(value):
        return value
    told = {key: _told(item) for key, item in value.items()}
    return {key: item for key, item in told.items() if item not in (None, [], {})}


def _refused(constant: str) -> float:
    raise ValueError(f"{constant} is not a number of JSON")


@functools.cache
def _validator() -> Validator:
    import jsonschema

    path = Path(__file__).with_name("experience.schema.json")
    return jsonschema.Draft202012Validator(json.loads(path.read_text(encoding="utf-8")))
