"""Clients of a served team, one for each protocol, as the protocols' own libraries speak it."""

from collections.abc import Mapping
from typing import Any, Protocol

import httpx
from a2a.client import ClientConfig, create_client
from a2a.helpers import get_artifact_text, new_text_message
from a2a.types.a2a_pb2 import Role, SendMessageRequest, TaskState
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from openai import AsyncOpenAI

__all__ = ["CLIENTS", "Ask", "ask_a2a", "ask_mcp", "ask_openai", "ask_responses"]


class Ask(Protocol):
    """Asks a team a question; returns the answer."""

    async def __call__(
        self, http: httpx.AsyncClient, team: str, query: str, *, key: str, streamed: bool
    ) -> str:
        """Ask.

        Args:
            http: Knows the server's address and its key.
            team: The team's name.
            query: The question.
            key: The idempotency key.
            streamed: Whether the client wants to see who works.
        """
        ...


def _at(http: httpx.AsyncClient, path: str) -> str:
    return f"{str(http.base_url).rstrip('/')}/{path}"


def _openai(http: httpx.AsyncClient) -> AsyncOpenAI:
    from openai import AsyncOpenAI

    return AsyncOpenAI(
        api_key=http.headers["authorization"].removeprefix("Bearer "),
        base_url=_at(http, "v1"),
        http_client=http,
        max_retries=0,
    )


async def ask_openai(
    http: httpx.AsyncClient, team: str, query: str, *, key: str, streamed: bool
) -> str:
    """Ask by a chat completion; see `Ask`."""
    question: Any = {
        "model": team,
        "messages": [{"role": "user", "content": query}],
        "extra_headers": {"Idempotency-Key": key},
    }
    create = _openai(http).chat.completions.create
    if not streamed:
        return (await create(**question)).choices[0].message.content or ""
    deltas = [
        chunk.choices[0].delta.content
        async for chunk in await create(**question, stream=True)
        if chunk.choices
    ]
    return "".join(filter(None, deltas))


async def ask_responses(
    http: httpx.AsyncClient, team: str, query: str, *, key: str, streamed: bool
) -> str:
    """Ask by a response; see `Ask`."""
    question: Any = {"model": team, "input": query, "extra_headers": {"Idempotency-Key": key}}
    responses = _openai(http).responses
    if not streamed:
        return (await responses.create(**question)).output_text
    async with responses.stream(**question) as stream:
        return (await stream.get_final_response()).output_text


async def ask_mcp(
    http: httpx.AsyncClient, team: str, query: str, *, key: str, streamed: bool
) -> str:
    """Ask by a call of a tool, streamed with reports of progress; see `Ask`."""
    reports: list[str | None] = []

    async def report(progress: float, total: float | None, message: str | None) -> None:
        del progress, total
        reports.append(message)

    async with (
        streamable_http_client(_at(http, "mcp"), http_client=http) as (reads, writes, _),
        ClientSession(reads, writes) as session,
    ):
        await session.initialize()
        names = {tool.name for tool in (await session.list_tools()).tools}
        tool = team.replace(":", "_")
        assert tool in names
        result = await session.call_tool(
            tool,
            {"query": query},
            progress_callback=report if streamed else None,
            meta={"idempotency-key": key},
        )
    (part,) = result.content
    assert not result.isError, part
    assert streamed or not reports
    return part.text if part.type == "text" else ""


async def ask_a2a(
    http: httpx.AsyncClient, team: str, query: str, *, key: str, streamed: bool
) -> str:
    """Ask by a message, whose id is the key; see `Ask`."""
    message = new_text_message(query, role=Role.ROLE_USER)
    message.message_id = key
    client = await create_client(
        _at(http, f"a2a/{team.replace(':', '-')}"),
        client_config=ClientConfig(httpx_client=http, streaming=streamed),
    )
    events = [event async for event in client.send_message(SendMessageRequest(message=message))]
    if not streamed:
        (task,) = (event.task for event in events)
        assert task.status.state == TaskState.TASK_STATE_COMPLETED
        return get_artifact_text(task.artifacts[0])
    assert events[-1].status_update.status.state == TaskState.TASK_STATE_COMPLETED
    artifacts = (event.artifact_update for event in events if event.HasField("artifact_update"))
    return "".join(get_artifact_text(update.artifact) for update in artifacts)


CLIENTS: Mapping[str, Ask] = {
    "chat": ask_openai,
    "responses": ask_responses,
    "mcp": ask_mcp,
    "a2a": ask_a2a,
}
