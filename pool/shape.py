"""What a line of a pool's ledger may say: `ledger.schema.json`, compiled."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from ..schema.problems import dotted, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from jsonschema.protocols import Validator

    from ..schema.problems import Path

__all__ = ["misshapen"]


def misshapen(value: Mapping[str, Any]) -> Iterator[str]:
    """Say where a line is not as the schema has it; of a kind that it has not, nothing is said."""
    if validator := _validators().get(str(value.get("kind"))):
        for error in validator.iter_errors(value):
            yield f"{dotted(tuple(error.absolute_path)) or 'the line'}: {quoted(error.message)}"
    yield from (f"{dotted(path)}: {number!r} is not a plain number" for path, number in _odd(value))


def _odd(value: Any, path: Path = ()) -> Iterator[tuple[Path, float]]:
    """Find numbers that JSON has not."""
    if isinstance(value, float) and not math.isfinite(value):
        yield path, value
    for key, item in _items(value):
        yield from _odd(item, (*path, key))


def _items(value: Any) -> Iterable[tuple[str | int, Any]]:
    if isinstance(value, Mapping):
        return value.items()
    return enumerate(value) if isinstance(value, list | tuple) else ()


@functools.cache
def _validators() -> Mapping[str, Validator]:
    """Give what checks lines, by their kind."""
    from jsonschema import Draft202012Validator

    path = FilePath(__file__).with_name("ledger.schema.json")
    defs = json.loads(path.read_text(encoding="utf-8"))["$defs"]
    return {kind: Draft202012Validator({"$defs": defs, **defs[kind]}) for kind in defs}
