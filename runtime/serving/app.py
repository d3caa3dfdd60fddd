"""The routes of a team server, as an ASGI application."""

from __future__ import annotations

import time
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ...schema.host.catalogue import find_package
from .account import key_of
from .bodies import read_body
from .chat import Chat
from .guard import HEALTH, LARGEST_BODY, Guard, refused
from .messages import task_of
from .refusals import Refusal, bad_request
from .responses import Responses
from .server import ServedQuestion
from .streaming import ClientGone, EventStream, until_hung_up

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Collection, Mapping

    from starlette.requests import Request
    from starlette.routing import BaseRoute

    from ...schema.team.task import Task
    from ..record.trace import Event
    from .keys import Keys
    from .server import ServedAnswer, TeamServer
    from .teams import ServedTeam

LONGEST_WAIT = 3600.0
"""The most seconds for which an agent waits for a client's answer."""
ANSWERS = "coterie-answers"
"""The header that says for how many seconds an agent may wait for the client's answer."""
KEY = "idempotency-key"
HUNG_UP = 499


def question_of(
    headers: Mapping[str, str],
    caller: str,
    team: ServedTeam,
    task: Task,
    *,
    key: str = "",
    **conversation: str,
) -> ServedQuestion:
    """Return the question of a request.

    Args:
        headers: The request's headers, with lower-case names.
        key: The idempotency key of the protocol; a header takes precedence.
        conversation: The fields of the question that name its conversation.

    Raises:
        Refusal: A header is wrong.
    """
    seconds = headers.get(ANSWERS, "0")
    if not seconds.isdecimal():
        raise bad_request(f"invalid header Coterie-Answers: {seconds!r}. Write seconds: 120.")
    return ServedQuestion(
        team=team,
        task=task,
        caller=caller,
        key=headers.get(KEY) or key,
        answer_seconds=min(float(seconds), LONGEST_WAIT),
        **conversation,
    )


def app_of(
    server: TeamServer,
    keys: Keys,
    *,
    origins: Collection[str] = (),
    is_local: bool = True,
    largest: int = LARGEST_BODY,
) -> Starlette:
    """Return the application; the installed extras decide which protocols it serves.

    Args:
        origins: Origins of other pages that may send requests.
        is_local: Whether the server listens to this machine only.
    """
    routes: list[BaseRoute] = [*_Endpoints(server).routes()]
    contexts: list[Any] = []
    if find_package("mcp") is not None:
        from .mcp_server import mcp_route

        route, running = mcp_route(server, largest)
        routes.append(route)
        contexts.append(running)
    if find_package("a2a") is not None:
        from .a2a_server import a2a_routes

        agents, handlers = a2a_routes(server, has_keys=bool(keys.texts))
        routes += agents
        contexts += [partial(aclosing, handler) for handler in handlers]

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        async with AsyncExitStack() as stack:
            for context in contexts:
                await stack.enter_async_context(context())
            yield

    cors = Middleware(
        CORSMiddleware, allow_origins=[*origins], allow_methods=["*"], allow_headers=["*"]
    )
    # Who asks whether it may ask sends no key, so this is answered ahead of the guard.
    guard = Middleware(Guard, keys=keys, origins=origins, is_local=is_local, largest=largest)
    return Starlette(
        routes=routes,
        middleware=[cors, guard],
        lifespan=lifespan,
        exception_handlers={
            HTTPException: _nothing_there,
            Refusal: _refused,
            ClientGone: _close_silently,
        },
    )


@dataclass(frozen=True, slots=True)
class _Endpoints:
    """The endpoints that need no library of a protocol."""

    server: TeamServer

    def routes(self) -> list[Route]:
        """Return them as routes."""
        post, get = ["POST"], ["GET"]
        return [
            Route("/v1/chat/completions", partial(self._answer, kind=Chat), methods=post),
            Route("/v1/responses", partial(self._answer, kind=Responses), methods=post),
            Route("/v1/models", self.models, methods=get),
            Route("/v1/models/{model:path}", self.model, methods=get),
            Route("/v1/questions", self.questions, methods=get),
            Route("/v1/questions/{key}", self.answer, methods=post),
            Route(HEALTH, self.health, methods=get),
        ]

    async def _answer(self, request: Request, *, kind: type[Chat | Responses]) -> Response:
        """Answer a chat completion, or a response."""
        body = read_body(await request.body())
        team, wire = self.server.teams.named(body.get("model")), kind(body=body)
        task = task_of(wire.messages(team.plan), self.server.teams.catalogue)
        names, caller = wire.conversation, request.user.display_name
        self._refuse_foreign(names.get("continues", ""), caller)
        question = question_of(request.headers, caller, team, task, **names)
        if body.get("stream"):
            return await self._streamed(request, question, wire)
        answer = await until_hung_up(request.receive, self.server.ask(question))
        return JSONResponse(wire.answered(answer), headers={"x-run": answer.run})

    def _refuse_foreign(self, response: str, caller: str) -> None:
        """Refuse to continue another client's response, or one that is no longer kept."""
        name = key_of(caller, response)
        if name and self.server.account.conversation(name) is None:
            message = f"previous_response_id: there is no response {response!r} to continue."
            code = "previous_response_not_found"
            raise Refusal(400, message, code=code, param="previous_response_id")

    async def _streamed(
        self, request: Request, question: ServedQuestion, wire: Chat | Responses
    ) -> Response:
        """Stream an answer. A refusal before the run begins has its own HTTP status."""
        happening = self.server.stream(question)
        first = await until_hung_up(request.receive, anext(happening))

        async def events() -> AsyncGenerator[Event | ServedAnswer]:
            yield first
            async for happened in happening:
                yield happened

        return EventStream(wire.streamed(events()), happening)

    async def models(self, _: Request) -> Response:
        """List the teams."""
        teams = [_model(team) for team in self.server.teams]
        return JSONResponse({"object": "list", "data": teams})

    async def model(self, request: Request) -> Response:
        """Describe a team."""
        return JSONResponse(_model(self.server.teams.named(request.path_params["model"])))

    async def questions(self, request: Request) -> Response:
        """List what awaits the client's answer: tool calls, and questions to a person."""
        waiting = self.server.approving.waiting_for(request.user.display_name)
        return JSONResponse({"object": "list", "data": [*waiting]})

    async def answer(self, request: Request) -> Response:
        """Take an answer: `{"allow": true}` of a call, `{"answer": "…"}` of a question."""
        body = read_body(await request.body())
        answer = body.get("allow", body.get("answer"))
        if not isinstance(answer, bool | str):
            raise bad_request("expected allow (true or false) or answer (a string).")
        key = request.path_params["key"]
        self.server.approving.answer(request.user.display_name, key, answer)
        return JSONResponse({"id": key})

    async def health(self, _: Request) -> Response:
        """Report whether the server takes requests."""
        stopping, admission = self.server.is_stopping, self.server.admission
        state = {"at_work": admission.at_work, "waiting": admission.waiting}
        value = {"status": "stopping" if stopping else "ok", **state}
        return JSONResponse(value, 503 if stopping else 200)


async def _refused(_: Request, error: Exception) -> Response:
    return refused(cast("Refusal", error))


async def _close_silently(_: Request, error: Exception) -> Response:
    """Answer a client that hung up; nobody reads the answer."""
    del error
    return Response(status_code=HUNG_UP)


async def _nothing_there(request: Request, error: Exception) -> Response:
    """Answer a request for an unknown path, as the OpenAI API does."""
    missing = cast("HTTPException", error)
    message = f"{request.method} {request.url.path}: {missing.detail}."
    return refused(Refusal(missing.status_code, message, code="not_found"))


def _model(team: ServedTeam) -> dict[str, Any]:
    fields = {"object": "model", "created": int(time.time()), "owned_by": "coterie"}
    return {"id": team.name, **fields, "description": team.description}
