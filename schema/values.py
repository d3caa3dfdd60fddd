"""Plain values, as JSON and YAML have them, told apart in a way that type checkers follow."""

from __future__ import annotations

from typing import Any, TypeGuard

__all__ = ["equal_numbers_alike", "is_list", "is_mapping"]


def is_mapping(value: object) -> TypeGuard[dict[str, Any]]:
    """Tell whether a plain value is a mapping; its keys are text, as our readers make sure."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Tell whether a plain value is a list."""
    return isinstance(value, list)


def equal_numbers_alike(value: Any) -> Any:
    """Copy a plain value with equal numbers written alike: `600.0` as `600`."""
    if is_mapping(value):
        return {key: equal_numbers_alike(item) for key, item in value.items()}
    if is_list(value):
        return [equal_numbers_alike(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
