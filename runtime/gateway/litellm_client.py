"""Calls of every provider that has no OpenAI-compatible endpoint, through litellm.

litellm takes seconds to import, so only the first such call imports it.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..importing import quiet_environment
from .answer import answer_of
from .errors import GIVEN_UP_ON, CallError, kind_of
from .retry import retry_after

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .body import Body
    from .chat import ChatAnswer
    from .endpoint import Endpoint
    from .errors import Kind

__all__ = ["LitellmClient"]

WRONG_SETUP = ("api_key", "api key", "credential", "LLM Provider NOT provided")
LONGEST_CALL = 86_400
"""Seconds until litellm gives up by itself; the gateway does so much earlier."""


class LitellmClient:
    """litellm, with its own retries, prices and prints switched off. Made in seconds, not less."""

    def __init__(self) -> None:
        # Without it, the import fetches a list of prices from the network.
        with quiet_environment(LITELLM_LOCAL_MODEL_COST_MAP="True"):
            import litellm

        litellm.suppress_debug_info = True
        self._litellm: Any = litellm

    async def chat(self, endpoint: Endpoint, body: Body) -> ChatAnswer:
        """Make one request; see `Client.chat`.

        Raises:
            CallError: No answer, or not one that the API promises.
        """
        parameters = {**body.fields, "model": endpoint.model, "drop_params": True}
        if endpoint.key:
            parameters["api_key"] = endpoint.key
        try:
            response = await self._litellm.acompletion(
                **parameters, timeout=LONGEST_CALL, max_retries=0, num_retries=0
            )
        except Exception as error:
            raise _mapped(endpoint, error) from error
        return answer_of(response.model_dump(), endpoint.model)

    async def close(self) -> None:
        """Close what litellm keeps open for the process, and end the tasks that it left behind."""
        folder = str(Path(self._litellm.__file__).parent)
        left = [task for task in asyncio.all_tasks() if _file_of(task).startswith(folder)]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await self._litellm.close_litellm_async_clients()
        self._litellm.in_memory_llm_clients_cache.flush_cache()


def _file_of(task: asyncio.Task[Any]) -> str:
    """Give the file of a task's code."""
    code = getattr(task.get_coro(), "cr_code", None)
    return code.co_filename if code else ""


def _mapped(endpoint: Endpoint, error: Exception) -> CallError:
    """Tell what happened by what lies behind litellm's exception.

    Its status is 500 also where there was no response; its cause is one of httpx's then.
    """
    said = " ".join(str(error).replace(endpoint.key or "\0", "[secret]").split())[:500]
    causes = {type(cause).__name__ for cause in _causes(error)}
    responded = "HTTPStatusError" in causes
    status = getattr(error, "status_code", None) if responded else None
    kind = _kind(causes, status, said)
    lost = not responded and "ConnectError" not in causes and kind in {"down", "malformed"}
    headers: Mapping[str, str] = getattr(error, "litellm_response_headers", None) or {}
    return CallError(
        f"{endpoint.model}: {type(error).__name__}: {said}",
        kind=kind,
        status=status,
        retry_after=retry_after(headers.get("retry-after")),
        may_be_billed=lost or status in GIVEN_UP_ON,
    )


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _kind(causes: set[str], status: int | None, said: str) -> Kind:
    if any(sign in said for sign in WRONG_SETUP):
        return "denied"
    if "ContextWindowExceededError" in causes:
        return "overflow"
    if status is not None:
        return kind_of(status, said)
    return "malformed" if "JSONDecodeError" in causes else "down"
