"""The supported APIs, by name."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from .anthropic import AnthropicWire
from .chat import ChatWire
from .responses import ResponsesWire

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..http.wire import WireFormat

__all__ = ["WIRES"]

WIRES: Mapping[str, WireFormat] = MappingProxyType(
    {"anthropic": AnthropicWire(), "chat": ChatWire(), "responses": ResponsesWire()}
)
