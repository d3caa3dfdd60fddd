"""The only way to a language model: one place for retries, limits, usage and prices.

OpenAI-compatible endpoints and the embedded model are called over one pool of connections; every
other provider through litellm, which is imported on first use.
"""

from typing import TYPE_CHECKING

from ...schema.first_use import on_first_use

if TYPE_CHECKING:
    from .chat import ChatAnswer, ChatRequest, Message, ToolCall, Usage
    from .endpoint import Endpoint, endpoint_of
    from .errors import CallError
    from .gateway import Gateway
    from .given_back import bare, call_ids, spoken

__all__ = [
    "CallError",
    "ChatAnswer",
    "ChatRequest",
    "Endpoint",
    "Gateway",
    "Message",
    "ToolCall",
    "Usage",
    "bare",
    "call_ids",
    "endpoint_of",
    "spoken",
]

_HOMES = {
    "CallError": "errors",
    "ChatAnswer": "chat",
    "ChatRequest": "chat",
    "Endpoint": "endpoint",
    "Gateway": "gateway",
    "Message": "chat",
    "ToolCall": "chat",
    "Usage": "chat",
    "bare": "given_back",
    "call_ids": "given_back",
    "endpoint_of": "endpoint",
    "spoken": "given_back",
}

__getattr__ = on_first_use(__name__, _HOMES)
