"""Plain values, as JSON and YAML have them, told apart in a way that type checkers follow."""

from __future__ import annotations

from typing import Any, TypeGuard

__all__ = ["is_list", "is_mapping"]


def is_mapping(value: object) -> TypeGuard[dict[str, Any]]:
    """Tell whether a plain value is a mapping; its keys are text, as our readers make sure."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Tell whether a plain value is a list."""
    return isinstance(value, list)
