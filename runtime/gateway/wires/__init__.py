"""The supported APIs, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....schema.values.first_use import ImportedOnUse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..http.wire import WireFormat

__all__ = ["WIRES"]

WIRES: Mapping[str, WireFormat] = ImportedOnUse(
    __name__,
    {"anthropic": "anthropic:ANTHROPIC", "chat": "chat:CHAT", "responses": "responses:RESPONSES"},
)
