"""Python functions as tools: what a model is told of them, and which cannot be tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

from coterie.schema import InputError
from coterie.schema.host.python_tool import load_python_tool, python_tool


def forecast(
    place: str,
    days: int = 1,
    *,
    unit: Literal["C", "F"] = "C",
    hours: list[int] | None = None,
    weights: Annotated[dict[str, float], "How much each source counts."] = {},  # noqa: B006
    limit: int | None = None,
    rest: Any = None,
) -> str:
    """Tell the weather.

    It is made up.

    Args:
        place: Where: a town,
            or a mountain.
        unit (str): The unit of degrees.

    Returns:
        One line.
    """
    return f"{place} {days} {unit} {hours} {weights} {limit} {rest}"


def test_a_model_is_told_what_hints_and_docstring_say() -> None:
    tool = python_tool(forecast)
    assert (tool.name, tool.description) == ("forecast", "Tell the weather.\n\nIt is made up.")
    assert tool.parameters == {
        "type": "object",
        "properties": {
            "place": {"type": "string", "description": "Where: a town, or a mountain."},
            "days": {"type": "integer"},
            "unit": {
                "type": "string",
                "enum": ["C", "F"],
                "description": "The unit of degrees.",
            },
            "hours": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]},
            "weights": {
                "type": "object",
                "additionalProperties": {"type": "number"},
                "description": "How much each source counts.",
            },
            "limit": {"type": ["integer", "null"]},
            "rest": {},
        },
        "required": ["place"],
        "additionalProperties": False,
    }


def undocumented(day: str) -> str:
    return day


def sized(size: bytes) -> str:
    """Size it."""
    return f"{size}"


def any_number(*numbers: int) -> int:
    """Add them."""
    return sum(numbers)


def Shout(text: str) -> str:  # noqa: N802
    """Shout."""
    return text


def lost(day: Nowhere) -> str:  # type: ignore[name-defined]  # noqa: F821
    """Look."""
    return str(day)


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (undocumented, r"undocumented: the function has no docstring. Write one: agents"),
        (sized, r"sized: size is bytes, which JSON cannot express\. Use str, int,"),
        (any_number, r"any_number: \*numbers: 'int' cannot be described to a model\. Use named"),
        (Shout, r"cannot be a tool\. Use a function defined with def, whose name has lower"),
        (lambda day: day, r"cannot be a tool\. Use a function defined with def"),
        ("weekday", r"'weekday' cannot be a tool\."),
        (lost, r"lost: its type hints cannot be read: name 'Nowhere' is not defined\."),
    ],
)
def test_what_a_model_could_not_call_is_no_tool(function: Any, why: str) -> None:
    with pytest.raises(InputError, match=why):
        python_tool(function)


FILE = '''\
from dataclasses import dataclass


@dataclass
class Day:
    name: str


def weekday(day: str) -> str:
    """Tell which weekday a date is."""
    return Day(day).name


renamed = weekday
'''


def test_a_function_of_a_file_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(FILE)
    assert load_python_tool("tools.py:weekday", tmp_path).function("Monday") == "Monday"


@pytest.mark.parametrize(
    ("named", "content", "why"),
    [
        ("nowhere.py:weekday", FILE, r"no file 'nowhere\.py' \(looked in "),
        ("tools.py:weekdya", FILE, r"tools\.py has no function 'weekdya'\. Did you mean 'weekday'"),
        ("tools.py:renamed", FILE, r"tools\.py:renamed: the function's own name is 'weekday'"),
        ("tools.py:weekday", "import nowhere_at_all", r"tools\.py cannot be imported: ModuleNotFo"),
        ("tools.py:weekday", "raise SystemExit(3)", r"tools\.py cannot be imported: SystemExit: 3"),
        ("tools.py:weekday", "def weekday(:", r"tools\.py cannot be imported: SyntaxError"),
    ],
)
def test_what_cannot_be_loaded_is_said(tmp_path: Path, named: str, content: str, why: str) -> None:
    (tmp_path / "tools.py").write_text(content)
    with pytest.raises(InputError, match=why):
        load_python_tool(named, tmp_path)
