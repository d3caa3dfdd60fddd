"""The plain backend: one chat call, constrained to a schema if the agent has one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ...schema.values.errors import AgentError
from ..agents.runner import AgentResult
from ..gateway.chat.ending import ONLY_THINKING, is_cut_off, only_thinks, why_only_thinking
from ..gateway.chat.messages import WORDLESS
from ..values.bounds import apart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ...schema.team.team import Agent
    from ..agents.acting import Acting
    from ..agents.runner import Assignment
    from ..gateway import ChatAnswer, Message
    from ..record.trace import Emit

LOOKS_OF_A_CHECK = 32
"""How many times longer it takes to check a text against a schema than to scan it."""


class LlmRunner:
    """Runs `agent_type: LLM`: a chat call, and one more if a structured answer needs repair.

    In an open roster it acts by an object that it answers with.
    """

    acts_by = "object"

    @classmethod
    def objections(cls, agent: Agent) -> Iterator[str]:
        """Object to agents that need more than one chat call."""
        if agent.agent_type not in {None, "LLM"}:
            yield f"the backend llm runs agents of type LLM, not {agent.agent_type!r}."
        if agent.tools:
            yield (
                "an agent of type LLM makes one chat call and cannot use tools. Write agent_type:"
                " ToolCallingAgent or CodeAgent, or leave out its tools."
            )
        if not agent.prompt:
            yield "an agent of type LLM needs a prompt."

    @classmethod
    def calls_at_most(cls, agent: Agent) -> int:
        """Return 1, or 2 with an output schema."""
        return 2 if agent.output_schema else 1

    @classmethod
    def needs_jail(cls, agent: Agent) -> bool:
        """Return False: it writes no code."""
        del agent
        return False

    async def run(self, assignment: Assignment) -> AgentResult:
        """Call the model once; with a schema, show it the problems of a bad answer and call again.

        Raises:
            AgentError: The answer is empty, or does not fit the schema the second time either.
            CallError: Its model gave no usable answer.
        """
        schema = assignment.agent.output_schema
        if assignment.acting is not None:
            return await _acted(assignment, assignment.acting)
        if schema is None:
            answer = await assignment.client.chat(_messages(assignment))
            _refuse_only_thinking(answer, assignment.agent)
            return AgentResult(content=_text(answer, assignment.emit))
        from ..values.structured import answer_in, parse_structured

        value, problems = await _repaired(
            assignment, schema, lambda text: parse_structured(text, schema)
        )
        if problems:
            raise AgentError(f"the answer does not fit output_schema: {'; '.join(problems)}")
        content, short = answer_in(value)
        return AgentResult(content=content, answer=short)


def _messages(assignment: Assignment) -> list[Message]:
    return [
        {"role": "system", "content": assignment.system},
        {"role": "user", "content": assignment.question},
    ]


async def _repaired(
    assignment: Assignment,
    schema: Mapping[str, Any],
    read: Callable[[str], tuple[Any, list[str]]],
) -> tuple[Any, list[str]]:
    """Request a structured answer, and once more if it has problems."""
    messages = _messages(assignment)
    answer = await assignment.client.chat(messages, schema=schema)
    value, problems = await _read(answer, read)
    if not problems:
        return value, problems
    assignment.emit("repair", problems=problems)
    messages += [
        {"role": "assistant", "content": answer.text or WORDLESS},
        {"role": "user", "content": _repair(problems)},
    ]
    answer = await assignment.client.chat(messages, schema=schema)
    _refuse_only_thinking(answer, assignment.agent)
    return await _checked(answer.text, read)


async def _read(
    answer: ChatAnswer, read: Callable[[str], tuple[Any, list[str]]]
) -> tuple[Any, list[str]]:
    if only_thinks(answer):
        return None, [ONLY_THINKING]
    return await _checked(answer.text, read)


async def _checked(
    text: str, read: Callable[[str], tuple[Any, list[str]]]
) -> tuple[Any, list[str]]:
    return await apart(LOOKS_OF_A_CHECK * len(text), partial(read, text))


def _refuse_only_thinking(answer: ChatAnswer, agent: Agent) -> None:
    if why := why_only_thinking(answer, agent.max_tokens):
        raise AgentError(why)


async def _acted(assignment: Assignment, acting: Acting) -> AgentResult:
    """Let an agent of an open roster act by an object, without acts that remain impossible.

    Its report is the result of its turn, which may be empty.
    """
    value, problems = await _repaired(assignment, acting.schema, acting.checked)
    if value is None:
        raise AgentError(f"the answer is no object of the required form: {'; '.join(problems)}")
    await acting.do(value["acts"])
    report: Any = value["report"]
    if isinstance(report, str):
        return AgentResult(content=report.strip())
    from ..values.structured import answer_in

    content, short = answer_in(report)
    return AgentResult(content=content, answer=short)


def _text(answer: ChatAnswer, emit: Emit) -> str:
    text = answer.text.strip()
    if not text:
        why = f" (finish reason {answer.finish_reason!r})"
        advice = " Raise max_tokens." if answer.finish_reason == "length" else ""
        raise AgentError(f"the model answered with nothing{why}.{advice}")
    if is_cut_off(answer.finish_reason):  # it counts, and the trace records it
        emit("cut_off", finish_reason=answer.finish_reason)
    return text


def _repair(problems: list[str]) -> str:
    listed = "\n".join(f"- {problem}" for problem in problems)
    return f"Your answer does not fit the required form:\n{listed}\nGive only the corrected JSON."
