"""Served teams as A2A agents, asked by the protocol's own client."""

import asyncio
import json
from pathlib import Path
from typing import Any

from a2a.client import ClientConfig, create_client
from a2a.helpers import get_artifact_text, get_message_text, new_text_message
from a2a.types.a2a_pb2 import (
    CancelTaskRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    TaskState,
)

from coterie.runtime.doubles import Reply, ScriptedModel

from .opened import ADDRESS, Opened, catalogue, opened


async def sent(
    at: Opened, message: Message, *, streamed: bool, address: str = ADDRESS
) -> list[Any]:
    """Send a message to the agent whose card is at an address; return all that comes."""
    config = ClientConfig(httpx_client=at.http, streaming=streamed)
    client = await create_client(address, client_config=config)
    return [event async for event in client.send_message(SendMessageRequest(message=message))]


def asked(text: str = "What is 3 + 4?") -> Message:
    return new_text_message(text, role=Role.ROLE_USER)


async def test_a_message_is_answered_by_a_task_with_an_artifact(
    here: Path, model: ScriptedModel
) -> None:
    async with opened(here, catalogue(model), keys=["k" * 16]) as at:
        (event,) = await sent(at, asked(), streamed=False)
        again = await sent(at, asked(), streamed=False, address=f"{ADDRESS}/a2a/pair")
    assert event.task.status.state == TaskState.TASK_STATE_COMPLETED
    assert [get_artifact_text(artifact) for artifact in event.task.artifacts] == ["It is 7."]
    assert again[0].task.id != event.task.id


async def test_a_streamed_message_shows_who_works(here: Path, model: ScriptedModel) -> None:
    async with opened(here, catalogue(model)) as at:
        events = await sent(at, asked(), streamed=True)
    updates = [event.status_update.status for event in events if event.HasField("status_update")]
    shown = [get_message_text(update.message) for update in updates if update.HasField("message")]
    assert shown == ["worker works", "worker is done", "judge works", "judge is done"]
    artifacts = [
        event.artifact_update.artifact for event in events if event.HasField("artifact_update")
    ]
    assert [get_artifact_text(artifact) for artifact in artifacts] == ["It is 7."]
    assert updates[-1].state == TaskState.TASK_STATE_COMPLETED


async def test_a_message_that_is_sent_twice_is_paid_once(here: Path, model: ScriptedModel) -> None:
    async with opened(here, catalogue(model)) as at:
        message = asked()
        for _ in range(2):
            (event,) = await sent(at, message, streamed=False)
            assert get_artifact_text(event.task.artifacts[0]) == "It is 7."
        assert len(model.calls) == 2
        at.http.headers["idempotency-key"] = "a key that goes before the message's id"
        for _ in range(2):
            await sent(at, asked("What is 4 + 3?"), streamed=False)
        assert len(model.calls) == 4


async def test_a_context_carries_its_earlier_messages(here: Path, model: ScriptedModel) -> None:
    async with opened(here, catalogue(model)) as at:
        first = asked("What is 3 + 4?")
        (event,) = await sent(at, first, streamed=False)
        second = asked("And twice that?")
        second.context_id = first.context_id = event.task.context_id
        await sent(at, second, streamed=False)
        # Sent again, the first message has its answer, and stays before the second.
        await sent(at, first, streamed=False)
        third = asked("Sure?")
        third.context_id = event.task.context_id
        await sent(at, third, streamed=False)
    tasks = [
        json.loads(file.read_text("utf-8")) for file in (here / "runs").glob("*-pair-*/task.json")
    ]
    contexts = {task["query"]: task.get("context", "") for task in tasks}
    assert contexts["What is 3 + 4?"] == ""
    assert len(tasks) == 3
    for question in ("What is 3 + 4?", "And twice that?"):
        assert question in contexts["Sure?"]


async def test_an_address_is_rejected_and_nothing_is_fetched(
    here: Path, model: ScriptedModel
) -> None:
    async with opened(here, catalogue(model)) as at:
        message = asked()
        message.parts.append(Part(url="https://example.org/secret"))
        (event,) = await sent(at, message, streamed=False)
    assert event.task.status.state == TaskState.TASK_STATE_REJECTED
    assert "not fetched" in get_message_text(event.task.status.message)
    assert not model.calls


async def test_a_task_can_be_cancelled_and_its_record_stays(here: Path) -> None:
    with ScriptedModel(Reply.fault("hang")) as model:
        async with opened(here, catalogue(model)) as at:
            client = await create_client(
                ADDRESS, client_config=ClientConfig(httpx_client=at.http, streaming=False)
            )
            request = SendMessageRequest(message=asked())
            request.configuration.return_immediately = True
            begun = [event async for event in client.send_message(request)]
            await asyncio.to_thread(model.wait_for, bool)
            task = await client.cancel_task(CancelTaskRequest(id=begun[0].task.id))
        assert task.status.state == TaskState.TASK_STATE_CANCELED
        (run,) = (here / "runs").glob("*-pair-*")
        assert '"interrupted"' in (run / "result.json").read_text("utf-8")
