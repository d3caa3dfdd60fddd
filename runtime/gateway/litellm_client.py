"""Calls through litellm, for every provider without an API that we use directly.

litellm takes seconds to import, so only the first such call imports it.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..values.importing import quiet_environment, without_collecting
from .chat.answer import answer_of, without
from .chat.errors import GIVEN_UP_ON, CallError, kind_of
from .http.refusals import wait_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .chat.body import Body
    from .chat.errors import Kind
    from .chat.messages import ChatAnswer
    from .endpoint import Endpoint
    from .stream_sink import StreamSink

WRONG_SETUP = ("api_key", "api key", "credential", "llm provider not provided", "jwt key")
LONGEST_CALL = 86_400
"""Seconds until litellm's own timeout; the gateway's is much shorter."""


class LitellmClient:
    """litellm without its own retries, prices and output. Creating one takes seconds."""

    def __init__(self) -> None:
        # Without them, it fetches lists from the network: of prices when it is imported, and of
        # headers on the first call of a Claude.
        local = dict.fromkeys(
            ("LITELLM_LOCAL_MODEL_COST_MAP", "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS"), "True"
        )
        with quiet_environment(**local), without_collecting():
            import litellm
            from litellm.anthropic_beta_headers_manager import reload_beta_headers_config

            reload_beta_headers_config()  # reads its own file, and then keeps that
        litellm.suppress_debug_info = True
        self._litellm: Any = litellm

    async def chat(
        self, endpoint: Endpoint, body: Body, _sink: StreamSink | None = None
    ) -> ChatAnswer:
        """Make one request; see `Client.chat`."""
        # It raises, before it sends anything, for what a model does not take, unless it is told to
        # drop that in silence.
        parameters = {**body.fields, **_settings(endpoint), "drop_params": False}
        try:
            response = await self._litellm.acompletion(
                **parameters, timeout=LONGEST_CALL, max_retries=0, num_retries=0
            )
        except Exception as error:
            raise _mapped(endpoint, error) from error
        return answer_of(response.model_dump(), endpoint.model)

    async def close(self) -> None:
        """Close litellm's process-wide connections, and end the tasks that it left running."""
        folder = str(Path(self._litellm.__file__).parent)
        left = [task for task in asyncio.all_tasks() if _file_of(task).startswith(folder)]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await self._litellm.close_litellm_async_clients()
        self._litellm.in_memory_llm_clients_cache.flush_cache()


def _settings(endpoint: Endpoint) -> dict[str, Any]:
    """Return litellm's parameters besides the request; litellm fills in unset ones."""
    settings = {
        "model": endpoint.model,
        "api_key": endpoint.key,
        "api_version": endpoint.api_version,
        "extra_headers": dict(endpoint.headers),
        "extra_body": dict(endpoint.extra),
    }
    return {name: value for name, value in settings.items() if value}


def _file_of(task: asyncio.Task[Any]) -> str:
    code = getattr(task.get_coro(), "cr_code", None)
    return code.co_filename if code else ""


def _mapped(endpoint: Endpoint, error: Exception) -> CallError:
    """Return the `CallError` for the cause of litellm's exception.

    litellm's status is 500 even without a response; the cause is then an httpx exception. If the
    status is 4xx without a response, or a package is missing, nothing was sent.
    """
    words = str(error).partition("Traceback (most recent call last)")[0]
    words = without(endpoint.secrets, words.encode()).decode()
    text = " ".join(words.split())[:500]
    causes = {type(cause).__name__ for cause in _causes(error)}
    responded = "HTTPStatusError" in causes
    status: int | None = getattr(error, "status_code", None)
    if not responded and status in GIVEN_UP_ON:
        status = None  # litellm's own status for a timeout with unknown outcome
    kind = _kind(causes, status, text, responded=responded)
    lost = not responded and "ConnectError" not in causes and kind in {"down", "malformed"}
    headers: Mapping[str, str] = getattr(error, "litellm_response_headers", None) or {}
    return CallError(
        f"{endpoint.model}: {type(error).__name__}: {text}",
        kind=kind,
        status=status if responded or kind == "rejected" else None,
        words=words,
        retry_after=wait_of(headers, b""),
        may_be_billed=lost or (responded and status in GIVEN_UP_ON),
    )


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _kind(causes: set[str], status: int | None, message: str, *, responded: bool) -> Kind:
    if "ModuleNotFoundError" in causes or any(sign in message.lower() for sign in WRONG_SETUP):
        return "denied"
    if "ContextWindowExceededError" in causes:
        return "overflow"
    if status is not None and (responded or 400 <= status < 500):
        return kind_of(status, message)
    return "malformed" if "JSONDecodeError" in causes else "down"
