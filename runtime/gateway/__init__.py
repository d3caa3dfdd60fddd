"""The only way to a language model: one place for retries, limits, usage and prices.

OpenAI-compatible endpoints and the embedded model are called over one pool of connections; every
other provider through litellm, which is imported on first use.
"""

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
