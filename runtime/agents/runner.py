"""The interface of runners: their input, their result, and their obligations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from ...schema.values.codec import stored
from ...schema.values.values import Json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from ...schema.team.task import Task
    from ...schema.team.team import Agent
    from ..gateway import ChatAnswer, Message
    from ..jail import Jails
    from ..record.once import Once
    from ..record.trace import Emit
    from ..repository.changes import RepositoryChange
    from ..repository.workspace import Workspace
    from ..tools import GrantedTool
    from .acting import Acting


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentReport:
    """An agent's output as its readers receive it.

    Attributes:
        content: The output: text, or JSON text if the reporter has an output schema.
        patch: The reporter's changes to the task's repository, as a git diff; None if it worked on
            none.
        changes: All repository changes that accompany the report: the reporter's own, or those that
            reached it.
    """

    agent_id: str
    role: str
    content: str
    patch: str | None = None
    changes: tuple[RepositoryChange, ...] = field(default=(), compare=False, repr=False)


@stored()
class AgentResult:
    """The result of an agent.

    Attributes:
        content: The output, for its readers and the trace.
        answer: The team's answer if this agent's output is the team's. Default: content.
        patch: The changes to the task's repository, as a git diff, if the agent worked on one.
        steps: The agent's steps, as JSON-able values, for the trace.
    """

    content: str
    answer: str | None = None
    patch: str | None = None
    steps: Sequence[Mapping[str, Json]] = ()


class AgentClient(Protocol):
    """An agent's access to its model. Every call is counted, traced and bounded."""

    async def chat(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int | None = None,
        stop: Sequence[str] = (),
        tools: Sequence[Mapping[str, Any]] = (),
        tool_choice: Any = None,
        schema: Mapping[str, Any] | None = None,
    ) -> ChatAnswer:
        """Call the agent's model, with the agent's own temperature and token limit.

        An answer's tool calls may be executed: they are complete, and fit the tools' schemas. If
        any does not, the answer has no calls, and `refused` explains why, in words for the model.

        Raises:
            CallError: The model gave no usable answer.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Assignment:
    """Everything that one agent receives for one attempt.

    Attributes:
        system: Its instructions: role, constitution and prompt.
        question: The task and the reports, as text. Other agents' text is fenced as data.
        task: The task, without its reference answer and other agents' briefs.
        reports: The outputs that it receives, in Kahn order.
        missing: Agents whose output is missing because they failed (`on_error: degrade`).
        tools: Its granted tools, by name; in an open roster also those that act on its team, if its
            backend supports tools.
        acting: Its available acts on its team in a turn of an open roster, if any: for a backend
            without tools. Such a turn may return an empty text.
        workspace: Its own folder, created on first use.
        jails: Creates the place where its code may run.
        waiting: Returns a context, for the event loop, whose time does not count against the
            agent's timeout: that of a wait for others. The client counts its own waits so.
        emit: Records an event of the agent in the trace: a type, and JSON-able fields.
        once: Records the result of an action of the agent, so that a resumed run finds it again.
            The client and the tools do so themselves.
    """

    agent: Agent
    system: str
    question: str
    task: Task
    reports: tuple[AgentReport, ...]
    missing: tuple[str, ...] = ()
    client: AgentClient
    tools: Mapping[str, GrantedTool]
    workspace: Workspace
    jails: Jails
    waiting: Callable[[], AbstractContextManager[None]] = nullcontext
    emit: Emit = field(repr=False)
    once: Once = field(repr=False)
    acting: Acting | None = None


class Runner(Protocol):
    """Adapter of one backend.

    * Must return an `AgentResult` only for an answer, and raise `AgentError` (or let a `CallError`
      pass) for everything else: a failure's text is never an output.
    * Must reach models through `assignment.client` only, and tools through `assignment.tools` only.
    * Must run code that a model wrote inside a jail of `assignment.jails`, or not at all.
    * Must leave nothing running when it returns, raises or is cancelled.
    * Must not keep state between calls of `run`, which may overlap.

    A backend with further requirements may have a class method `lacks()`, which returns an iterator
    of texts: what is missing, and how to get it. It is called once before anything is spent, may
    start programs, and is not called when a team is loaded. A backend may also have a coroutine
    method `probe()`, which checks that it works and returns a description; and a class method
    `load()`, called in a thread while earlier agents work, which imports libraries.
    """

    @classmethod
    def objections(cls, agent: Agent) -> Iterator[str]:
        """Return why this backend cannot run an agent as written; nothing when it can.

        Called when a team is loaded: must be fast and offline, without importing the backend's
        libraries.
        """
        ...

    @classmethod
    def calls_at_most(cls, agent: Agent) -> int:
        """Return the most model calls of one attempt, without retries of single calls."""
        ...

    @classmethod
    def needs_jail(cls, agent: Agent) -> bool:
        """Return whether the agent writes code that is run."""
        ...

    async def run(self, assignment: Assignment) -> AgentResult:
        """Run the agent once.

        Raises:
            AgentError: The agent ended without an answer.
            CallError: Its model gave no usable answer.
        """
        ...
