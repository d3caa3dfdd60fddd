"""Calls of every provider that has no OpenAI-compatible endpoint, through litellm.

litellm takes seconds to import, so only the first such call imports it.
"""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

from .errors import CallError, Kind
from .openai_http import answer_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .chat import ChatAnswer
    from .endpoint import Endpoint

__all__ = ["LitellmClient"]

WRONG_SETUP = ("api_key", "api key", "credential", "LLM Provider NOT provided")


class LitellmClient:
    """litellm, with its own retries, prices and prints switched off."""

    async def chat(self, endpoint: Endpoint, body: Mapping[str, Any], timeout: float) -> ChatAnswer:
        """Make one call; arguments and errors are those of `OpenAIClient.chat`.

        Raises:
            CallError: No answer, or not one that the API promises.
        """
        litellm = await asyncio.to_thread(_litellm)
        parameters = {**body, "model": endpoint.model, "drop_params": True}
        if endpoint.key:
            parameters["api_key"] = endpoint.key
        try:
            async with asyncio.timeout(timeout):
                response = await litellm.acompletion(
                    **parameters, timeout=timeout, max_retries=0, num_retries=0
                )
        except TimeoutError:
            message = f"{endpoint.model}: no whole answer within {timeout:g} seconds."
            raise CallError(message, kind="timeout") from None
        except Exception as error:
            raise _mapped(endpoint, error) from error
        return answer_of(response.model_dump(), endpoint.model)

    async def close(self) -> None:
        """Nothing to close: litellm keeps its connections for the process."""


def _litellm() -> Any:
    # Without it, the import fetches a list of prices from the network.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm

    litellm.suppress_debug_info = True
    return litellm


def _mapped(endpoint: Endpoint, error: Exception) -> CallError:
    status = getattr(error, "status_code", None)
    said = " ".join(str(error).split())[:500]
    return CallError(
        f"{endpoint.model}: {type(error).__name__}: {said}",
        kind=_kind(status if isinstance(status, int) else None, said),
        status=status if isinstance(status, int) else None,
    )


def _kind(status: int | None, said: str) -> Kind:
    # litellm shows a missing key as status 500, and waiting does not bring a key.
    if status in {401, 403} or any(sign in said for sign in WRONG_SETUP):
        return "denied"
    kinds: dict[int | None, Kind] = {404: "unknown", 400: "rejected", 422: "rejected"}
    if status in {408, 409, 425, 429}:
        return "busy"
    return kinds.get(status, "down")
