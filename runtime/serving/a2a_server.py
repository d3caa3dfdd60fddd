"""The teams as A2A agents: each has a card, and answers messages, streamed or not.

A run continues when its client hangs up, as the protocol demands: the client asks for the task
later, or cancels it.
"""

from __future__ import annotations

from contextlib import aclosing
from importlib.metadata import version
from typing import TYPE_CHECKING

from a2a.helpers.proto_helpers import new_task, new_text_message, new_text_part
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.request_handlers.response_helpers import agent_card_to_dict
from a2a.server.routes import create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types.a2a_pb2 import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    HTTPAuthSecurityScheme,
    SecurityRequirement,
    SecurityScheme,
    StringList,
    TaskState,
)
from starlette.responses import JSONResponse
from starlette.routing import Route

from ...schema.values.json_text import dumps
from .app import question_of
from .messages import ClientMessage, file_of, task_of
from .progress import line_of
from .refusals import Refusal, bad_request
from .server import ServedAnswer

if TYPE_CHECKING:
    from a2a.server.agent_execution import RequestContext
    from a2a.server.context import ServerCallContext
    from a2a.server.events import EventQueue
    from a2a.types.a2a_pb2 import Message, Part, Task
    from starlette.requests import Request

    from .server import ServedQuestion, TeamServer
    from .teams import ServedTeam

CARD = "/.well-known/agent-card.json"
PROTOCOLS = ("1.0", "0.3")
MOST_TASKS = 1_000
"""Finished tasks of a team that clients can still query; the records stay on disk."""
BEARER = "bearer"


def a2a_routes(
    server: TeamServer, *, has_keys: bool
) -> tuple[list[Route], list[DefaultRequestHandler]]:
    """Return the routes of all teams, and what to close at the end.

    The first team is also the agent of the whole server.
    """
    routes: list[Route] = []
    handlers: list[DefaultRequestHandler] = []
    for team in server.teams:
        place = f"/a2a/{team.name.replace(':', '-')}"
        for card in (f"{place}{CARD}", *([] if routes else [CARD])):
            routes.append(_card_route(server, team.name, card, place, has_keys=has_keys))
        handler = DefaultRequestHandler(
            agent_executor=_Executor(server, team.name),
            task_store=_Recent(),
            agent_card=_card(team, place, has_keys=has_keys),
        )
        handlers.append(handler)
        routes += create_jsonrpc_routes(handler, place, enable_v0_3_compat=True)
    return routes, handlers


def _card_route(server: TeamServer, name: str, path: str, place: str, *, has_keys: bool) -> Route:
    async def card(request: Request) -> JSONResponse:
        address = f"{str(request.base_url).rstrip('/')}{place}"
        return JSONResponse(
            agent_card_to_dict(_card(server.teams.named(name), address, has_keys=has_keys))
        )

    return Route(path, card, methods=["GET"])


def _card(team: ServedTeam, address: str, *, has_keys: bool) -> AgentCard:
    """Return the card of a team at an address."""
    skill = AgentSkill(
        id=team.name, name=team.name, description=team.description, tags=[*team.plan.agents]
    )
    login = SecurityScheme(http_auth_security_scheme=HTTPAuthSecurityScheme(scheme=BEARER))
    needed = SecurityRequirement(schemes={BEARER: StringList()})
    return AgentCard(
        name=team.name,
        description=team.description,
        version=version("coterie"),
        supported_interfaces=[
            AgentInterface(url=address, protocol_binding="JSONRPC", protocol_version=protocol)
            for protocol in PROTOCOLS
        ],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain", "image/png", "image/jpeg", "application/pdf"],
        default_output_modes=["text/plain"],
        skills=[skill],
        security_schemes={BEARER: login} if has_keys else {},
        security_requirements=[needed] if has_keys else [],
    )


class _Executor(AgentExecutor):
    """Answers messages with runs of a team."""

    def __init__(self, server: TeamServer, name: str) -> None:
        self._server = server
        self._name = name

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Answer a message; see `AgentExecutor`."""
        message = context.message
        if message is None or context.task_id is None or context.context_id is None:
            raise ValueError("a message, its task and its context are always there")
        await event_queue.enqueue_event(
            new_task(
                context.task_id,
                context.context_id,
                TaskState.TASK_STATE_SUBMITTED,
                history=[message],
            )
        )
        updates = TaskUpdater(event_queue, context.task_id, context.context_id)
        try:
            await self._answer(self._question(message, context), updates)
        except Refusal as refusal:
            why = new_text_message(str(refusal))
            await (updates.reject(why) if refusal.run is None else updates.failed(why))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Report that a task, and its run, is cancelled; see `AgentExecutor`."""
        await TaskUpdater(event_queue, context.task_id or "", context.context_id or "").cancel()

    def _question(self, message: Message, context: RequestContext) -> ServedQuestion:
        teams, state = self._server.teams, context.call_context.state
        texts = [_text_of(part) for part in message.parts]
        raw = [part for part in message.parts if part.HasField("raw")]
        files = [(part.filename, file_of(part.raw)) for part in raw]
        written = ClientMessage(role="user", text="\n".join(filter(None, texts)), files=files)
        conversation = f"a2a {self._name} {context.context_id}"
        return question_of(
            state["headers"],
            context.call_context.user.user_name,
            teams.named(self._name),
            task_of([written], teams.catalogue),
            # Whoever sends a message again does not want it answered twice.
            key=f"a2a {message.message_id}",
            continues=conversation,
            conversation=conversation,
        )

    async def _answer(self, question: ServedQuestion, updates: TaskUpdater) -> None:
        await updates.start_work()
        async with aclosing(self._server.stream(question)) as events:
            async for event in events:
                if isinstance(event, ServedAnswer):
                    part, about = new_text_part(event.text), {"coterie": event.about}
                    await updates.add_artifact([part], name="answer", metadata=about)
                    await updates.complete()
                elif line := line_of(event):
                    words = new_text_message(line.strip())
                    await updates.update_status(TaskState.TASK_STATE_WORKING, words)


def _text_of(part: Part) -> str:
    """Return the text of a part; data is JSON."""
    if part.HasField("url"):
        raise bad_request("a part has a URL, which is not fetched. Send the file itself.")
    if part.HasField("data"):
        from google.protobuf.json_format import MessageToDict

        return dumps(MessageToDict(part.data), ensure_ascii=False)
    return part.text


class _Recent(InMemoryTaskStore):
    """Keeps the last tasks, so that a server's memory does not grow with its age."""

    def __init__(self) -> None:
        super().__init__()
        self._contexts: dict[tuple[str, str], ServerCallContext] = {}

    async def save(self, task: Task, context: ServerCallContext) -> None:
        """Keep a task, and forget the oldest of too many."""
        self._contexts.setdefault((context.user.user_name, task.id), context)
        await super().save(task, context)
        while len(self._contexts) > MOST_TASKS:
            _, oldest = key = next(iter(self._contexts))
            await self.delete(oldest, self._contexts.pop(key))
