"""The only way to a language model: one place for retries, limits, usage and prices.

`Endpoint.kind` decides how a call is sent:

* `openai`: we send the request ourselves, through one connection pool. This covers the user's own
  addresses and the providers in `PROVIDERS` that have a wire. A wire (`wires`) writes requests and
  reads answers as the provider documents them; `chat.fallback` remembers what a model refuses.
  litellm would take seconds to import, and reports no answer before it is complete.
* `local`: the embedded model, called in the same way at the server that `..local` starts.
* `litellm`: every other provider, such as Bedrock and Vertex AI, and logins without a key, such as
  Azure's directory. `litellm_client` imports litellm on the first such call.

All three kinds use litellm's model data without importing it: `prices` reads prices, context
lengths, input types and the supported API from litellm's list, and `providers` reads its provider
names. We maintain no model table. Retries, limits, budgets and usage are ours for all three kinds;
litellm's own are switched off.
"""

from typing import TYPE_CHECKING

from ...schema.values.first_use import on_first_use

if TYPE_CHECKING:
    from .chat.errors import CallError
    from .chat.given_back import bare, call_ids, spoken
    from .chat.messages import ChatAnswer, ChatRequest, Message, ToolRequest, Usage
    from .endpoint import Endpoint, endpoint_of
    from .gateway import Gateway

__all__ = [
    "CallError",
    "ChatAnswer",
    "ChatRequest",
    "Endpoint",
    "Gateway",
    "Message",
    "ToolRequest",
    "Usage",
    "bare",
    "call_ids",
    "endpoint_of",
    "spoken",
]

__getattr__ = on_first_use(__name__)
