"""The only way to a language model: one place for retries, limits, usage and prices.

Who answers a call, by `Endpoint.kind`:

* `openai`: we send the request ourselves, over one pool of connections. These are addresses of the
  user's own and the providers in `PROVIDERS` that have a wire. The wires (`wires`) write a request
  and read its answer as the provider documents it; `chat.fallback` remembers what a model
  refuses. litellm would take seconds to import, and reports no answer before it is whole.
* `local`: the embedded model, called in the same way at the server that `..local` starts.
* `litellm`: every other provider, such as Bedrock and Vertex AI, and logins that are no key, such
  as Azure's directory. `litellm_client` imports litellm on the first such call.

What litellm knows of models is used for all of them: `prices` reads prices, context lengths, inputs
and the API that a model answers from litellm's list, and `providers` the names of its providers, as
files and without importing it. We keep no table of models. Retries, limits, budgets and usage are
ours for all three kinds; litellm's own are switched off.
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
