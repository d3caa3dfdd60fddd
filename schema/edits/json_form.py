"""Edits as JSON: models write it, ledgers store it and people read it.

    {"edits": [{"set_model": {"agent": "worker_3", "model_id": "coder"}}]}

Its shape is the JSON Schema `edits.schema.json`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from ..loading.loading import shape_only
from ..values._json import read_json
from ..values.document import Document
from ..values.errors import ConfigError
from ..values.problems import Problem
from ..values.values import is_list, is_mapping, is_texts
from ._claims import settled
from .components import Component
from .kinds.kind import tag
from .kinds.kinds import KINDS, Edit

BY_TAG: Mapping[str, type[Edit]] = MappingProxyType({tag(kind): kind for kind in KINDS})

LISTS = ("reports_to", "receives_from", "tools")
"""Lists of distinct names."""


def edits_to_json(edits: Iterable[Edit]) -> str:
    """Write edits as one line of JSON. `edits_from_json` reads equal edits back."""
    return json.dumps({"edits": edits_to_values(edits)}, ensure_ascii=False)


def edits_to_values(edits: Iterable[Edit]) -> list[dict[str, Any]]:
    """Return edits as plain values: the list under `edits` in the JSON."""
    return [{tag(type(edit)): edit.to_json()} for edit in edits]


def edits_from_json(
    text: str | bytes, *, component: Component | None = None, file: str = "edits"
) -> tuple[Edit, ...]:
    """Read edits from an untrusted writer, such as a model.

    `apply` checks whether they fit a team and make one that loads. Here, only repetitions are
    resolved: `settled` resolves repeated edits, and a name that a new agent lists twice counts
    once.

    Args:
        component: The only component that may be edited. None: any.

    Raises:
        ConfigError: The text is no list of edits, or an edit is of another component. The exception
            has every problem with its place.
    """
    # The reader refuses lone surrogates.
    content = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    read, problems = read_json(content, file)
    document, problems = shape_only(replace(read, value=_once(read.value)), problems, "edits")
    if document.complete and component is not None:
        problems = sorted([*problems, *_foreign(document, component)])
    if document.complete and not problems:
        problems = list(_misfits(document))
    if problems:
        raise ConfigError(problems)
    listed: list[Mapping[str, Any]] = document.value["edits"]
    edits: list[Any] = [BY_TAG[name].of(fields) for item in listed for name, fields in item.items()]
    return settled(edits)


def _once(value: Any) -> Any:
    """Drop repeated names in new agents; strict decoding cannot enforce distinct items."""
    listed = value.get("edits") if is_mapping(value) else None
    if not is_list(listed):
        return value
    return {**value, "edits": [_new_once(item) for item in listed]}


def _new_once(item: Any) -> Any:
    newcomer = item.get("add_agent") if is_mapping(item) else None
    if not is_mapping(newcomer):
        return item
    parts = {key: _names_once(newcomer[key]) for key in ("place", "fields") if key in newcomer}
    return {**item, "add_agent": {**newcomer, **parts}}


def _names_once(value: Any) -> Any:
    """Keep each name of a list once, at its first place."""
    if not is_mapping(value):
        return value
    return {key: _distinct(item) if key in LISTS else item for key, item in value.items()}


def _distinct(names: Any) -> Any:
    return list(dict.fromkeys(names)) if is_texts(names) else names


def _foreign(document: Document, component: Component) -> Iterator[Problem]:
    """Yield a problem for each edit of another component; the document may be malformed."""
    listed = document.value.get("edits") if is_mapping(document.value) else None
    for index, item in enumerate(listed if is_list(listed) else ()):
        for name in item if is_mapping(item) else ():
            if name in BY_TAG and BY_TAG[name].component != component:
                target = BY_TAG[name].component
                message = f"it edits {target}; here only {component} may be edited. Leave it out."
                yield document.problem(("edits", index, name), message, at_key=True)


def _misfits(document: Document) -> Iterator[Problem]:
    """Yield a problem for each edit with inconsistent parts: a skill needs a description."""
    for index, item in enumerate(document.value["edits"]):
        ((name, fields),) = item.items()
        try:
            BY_TAG[name].of(fields)
        except ValueError as error:
            yield document.problem(("edits", index, name), str(error))
