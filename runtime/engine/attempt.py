"""One attempt of an agent: what it asks its model, what it does, and what that gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...schema.values.errors import AgentError, InputError, ModelError, StorageError
from ...schema.values.values import is_list
from ..agents.outcomes import ToolCall
from ..calls.calls import scrubbed
from ..gateway import CallError, ChatRequest
from ..gateway.chat.dialogue import as_dialogue
from ..gateway.chat.ending import why_only_thinking
from ..record.journal import digest
from ..values.bounds import LARGEST_WORK

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from ..gateway import ChatAnswer, Message
    from ..tools.requested import Requests
    from .agent_execution import AgentExecution


@dataclass(kw_only=True, eq=False, slots=True)
class Attempt:
    """One attempt. A repeated one uses the same paths, and so finds its answers.

    Attributes:
        number: Its number, from 1; 0 before the first one.
        dialogue: Its latest conversation with its model, if the run keeps any.
        unanswered: Why the latest answer of its model is empty; "" if it is not.
    """

    execution: AgentExecution
    number: int = 0
    tool_calls: list[ToolCall] = field(default_factory=list["ToolCall"])
    dialogue: tuple[Message, ...] = ()
    unanswered: str = ""
    _numbers: dict[str, int] = field(default_factory=dict[str, int])
    _output_size: int = 0
    _requests: Requests | None = None

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
        """Call the agent's model; see `AgentClient.chat`."""
        execution = self.execution
        agent, context, inputs = execution.planned.agent, execution.context, execution.inputs
        rules = execution.run.plan.team.execution
        if inputs.carried.earlier:
            from ..messages.conversation import continued

            messages = continued(messages, inputs.carried.earlier)
        context.trace.check()
        request = ChatRequest(
            model=agent.model_id,
            messages=messages,
            attachments={**inputs.attachments, **inputs.pictures},
            max_tokens=min(max_tokens or agent.max_tokens, agent.max_tokens),
            temperature=agent.temperature,
            top_p=agent.top_p,
            effort=agent.effort,
            stop=tuple(stop),
            tools=tools,
            tool_choice=tool_choice,
            schema=schema,
            retries=rules.max_retries,
            patience=agent.timeout,
        )
        # Other calls of the agent may be in flight: their spending is not this call's.
        spending, path = execution.spending.child(), self._next("call")
        try:
            with execution.waiting():
                answer = await execution.moves.once(
                    path,
                    lambda: context.calls.chat(
                        path,
                        request,
                        execution.emit,
                        budget=spending,
                        trim=rules.on_overflow == "trim",
                        on_words=context.trace.words_of(agent.id),
                    ),
                )
        except CallError:
            raise
        except (StorageError, InputError, ModelError) as error:
            execution.broken = error
            raise
        # The answer is from the journal or the cache; usage counted before a move stays out.
        if execution.moves.counts(path) and not spending.spent.calls:
            execution.recorded += answer.usage
        if context.dialogue:
            self.dialogue = as_dialogue(messages, answer, context.dialogue)
        self.unanswered = why_only_thinking(answer, request.max_tokens)
        if self.unanswered:
            execution.emit("only_thought", finish_reason=answer.finish_reason, why=self.unanswered)
        if not tools:
            self._requests = None
            return answer
        checked = self._checks().checked(answer, tools)
        if checked.refused:
            execution.emit("repair", problems=[checked.refused])
        return checked

    async def once(
        self, kind: str, inputs: Any, work: Callable[[], Awaitable[Mapping[str, Any]]]
    ) -> Mapping[str, Any]:
        """Return the recorded result of an action of the agent, or perform it; see `Once`."""
        execution = self.execution
        execution.has_acted = True
        question = digest(inputs)
        path = self._next(f"{kind} {question[:12]}")
        calls = execution.context.calls
        journal = calls.journal
        if journal is None:
            return scrubbed(await execution.moves.once(path, work), calls.scrub)
        try:
            recorded = journal.get(path, question)
            if recorded is not None:
                return recorded
            journal.must_be_live(path)
            # Earlier entries must survive a power cut, because the act itself is irreversible.
            await journal.flush()
            value = scrubbed(await work(), calls.scrub)
            self._bound(value)
            await journal.put(path, kind, question, value)
        except StorageError as error:
            execution.broken = error
            raise
        return value

    def _bound(self, value: Mapping[str, Any]) -> None:
        """Limit the output of all tools and code of an attempt, which the run's folder keeps."""
        texts = (text for item in value.values() for text in (item if is_list(item) else [item]))
        self._output_size += sum(len(text) for text in texts if isinstance(text, str))
        if self._output_size > LARGEST_WORK:
            raise AgentError(
                f"its tools and its code gave more than {LARGEST_WORK >> 20} MiB in one attempt."
            )

    def _next(self, name: str) -> str:
        """Return the path of the next action with this name in this attempt."""
        number = self._numbers[name] = self._numbers.get(name, 0) + 1
        return f"{self.execution.path}/attempt {self.number}/{name} {number}"

    def _checks(self) -> Requests:
        """Return the checks of its tool calls since it was last called without tools."""
        if self._requests is None:
            from ..tools.requested import Requests

            self._requests = Requests()
        return self._requests
