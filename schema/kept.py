"""What files that coterie keeps for itself may hold: `kept.schema.json`.

Runs, results and evolutions are gone on with from what they left, perhaps on another machine, and
in between anybody may have changed it. Whoever reads it is told by the first value that is wrong.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .problems import dotted, quoted
from .valid import surely_valid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jsonschema.protocols import Validator

    from .problems import Path as FieldPath

__all__ = ["misfit"]


def misfit(form: str, value: Any) -> str:
    """Say what is wrong with a value that was kept; nothing where it is of its form.

    Args:
        form: The form: `line`, `manifest`, `sample` and so on. Of one that is not known, nothing
            is wrong.
        value: The value, as JSON has it.
    """
    if form not in _definitions() or surely_valid(value, _schema(form)):
        return ""
    try:
        error = next(_validator(form).iter_errors(value), None)
    except RecursionError:
        return "it is nested too deeply"
    if error is None:
        return ""
    path: FieldPath = tuple(error.absolute_path)
    return f"{dotted(path)}: {quoted(error.message)}" if path else quoted(error.message)


@functools.cache
def _validator(form: str) -> Validator:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(_schema(form))


@functools.cache
def _schema(form: str) -> Mapping[str, Any]:
    return {"$defs": _definitions(), **_definitions()[form]}


@functools.cache
def _definitions() -> Mapping[str, Any]:
    path = Path(__file__).with_name("kept.schema.json")
    return json.loads(path.read_text(encoding="utf-8"))["$defs"]
