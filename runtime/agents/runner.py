"""What a runner is given, what it gives back, and what it must keep to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from ...schema.values.codec import kept
from ...schema.values.values import Json
from ..record.once import unkept

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
    """An agent's output as its receivers get it.

    Attributes:
        content: The output: text, or JSON text where the reporter has an output schema.
        patch: The changes of the task's repository that the reporter made, as a git diff; None
            where it worked on none.
        changes: All changes of the repository that go along with the report: the reporter's own,
            or those that reached it.
    """

    agent_id: str
    role: str
    content: str
    patch: str | None = None
    changes: tuple[RepositoryChange, ...] = field(default=(), compare=False, repr=False)


@kept()
class AgentResult:
    """The result of an agent.

    Attributes:
        content: The output, as its receivers and the trace get it.
        answer: What counts as the answer when this agent's output is the team's. Default: content.
        patch: The changes of the task's repository, as a git diff, where the agent worked on one.
        steps: What the agent did on the way, as JSON-able values, for the trace.
    """

    content: str
    answer: str | None = None
    patch: str | None = None
    steps: Sequence[Mapping[str, Json]] = ()


class AgentClient(Protocol):
    """An agent's line to its model. Every call is counted, traced and bounded."""

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
        """Ask the agent's model; temperature and the limit on tokens are the agent's own.

        An answer's tool calls may be done: they are whole, and fit the tools' schemas. Where they
        do not, there are none, and `refused` says why, in words for the model.

        Raises:
            CallError: The model gave no usable answer.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Assignment:
    """Everything that one agent gets for one attempt.

    Attributes:
        system: Its instructions: role, constitution and prompt.
        question: The task and the reports, as text. What others wrote is fenced as data.
        task: The task, without its reference answer and others' briefs.
        reports: The outputs that it receives, in Kahn order.
        missing: Agents whose output is missing because they failed (`on_error: degrade`).
        tools: The tools that it is granted, by name; in an open roster, those by which it acts on
            its team, too, where its backend lets it use tools.
        acting: What it may do to its team in a turn of an open roster, where it may do anything:
            for a backend that lets it use no tools. Such a turn may come to nothing: an empty text.
        workspace: A folder of its own, made on first use.
        jails: Makes the place where code that it writes may run.
        waiting: Gives a context, to be used on the event loop, whose time does not count against
            the agent's timeout: that of a wait for others. The line counts its own so already.
        emit: Notes an event of the agent in the trace: a type, and JSON-able fields.
        once: Keeps what came of something that the agent did, so that a resumed run finds it
            again. The line and the tools do so already.
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
    once: Once = field(default=unkept, repr=False)
    acting: Acting | None = None


class Runner(Protocol):
    """Adapter of one backend.

    * Must give an `AgentResult` only for an answer, and raise `AgentError` (or let a `CallError`
      pass) for everything else: a failure's text is never an output.
    * Must reach models through `assignment.line` only, and tools through `assignment.tools` only.
    * Must run code that a model wrote inside a jail of `assignment.jails`, or not at all.
    * Must leave nothing running when it returns, raises or is cancelled.
    * Must not keep state between calls of `run`, which may overlap.

    A backend that needs more of the machine than its package may have a class method `lacks()`,
    which gives an iterator of texts: what is missing, and how to get it. It is asked once before
    anything is spent, may start programs, and is not asked when a team is loaded. It may also have
    a coroutine method `probe()`, which makes sure that it works and says what was found; and a
    class method `load()`, called in a thread while earlier agents work, which imports libraries.
    """

    @classmethod
    def objections(cls, agent: Agent) -> Iterator[str]:
        """Return why this backend cannot run an agent as written; nothing when it can.

        Called when a team is loaded: cheap, offline, without importing the backend's libraries.
        """
        ...

    @classmethod
    def calls_at_most(cls, agent: Agent) -> int:
        """Bound the model calls of one attempt, retries of single calls not counted."""
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
