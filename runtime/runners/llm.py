"""The plain backend: one chat call, held to a schema where the agent has one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...schema.errors import AgentError
from ..structured import answer_in, parse_structured
from .protocol import AgentResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...schema.team import Agent
    from ..gateway import ChatAnswer, Message
    from ..trace import Emit
    from .protocol import Assignment

__all__ = ["LlmRunner"]

CUT_OFF = frozenset({"content_filter", "length"})
"""Why an answer may be less than the model had to say. It counts, and the trace says so."""


class LlmRunner:
    """Runs `agent_type: LLM`: a chat call, and one more where a structured answer needs repair."""

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
        """One call, two with an output schema."""
        return 2 if agent.output_schema else 1

    @classmethod
    def needs_jail(cls, agent: Agent) -> bool:
        """Say no: nothing that it writes is run."""
        del agent
        return False

    async def run(self, assignment: Assignment) -> AgentResult:
        """Ask once; with a schema, show the problems of a bad answer and ask once more."""
        messages: list[Message] = [
            {"role": "system", "content": assignment.system},
            {"role": "user", "content": assignment.question},
        ]
        schema = assignment.agent.output_schema
        answer = await assignment.line.chat(messages, schema=schema)
        if schema is None:
            return AgentResult(content=_text(answer, assignment.emit))
        value, problems = parse_structured(answer.text, schema)
        if problems:
            assignment.emit("repair", problems=problems)
            messages += [
                {"role": "assistant", "content": answer.text},
                {"role": "user", "content": _repair(problems)},
            ]
            answer = await assignment.line.chat(messages, schema=schema)
            value, problems = parse_structured(answer.text, schema)
        if problems:
            raise AgentError(f"the answer does not fit output_schema: {'; '.join(problems)}")
        content, short = answer_in(value)
        return AgentResult(content=content, answer=short)


def _text(answer: ChatAnswer, emit: Emit) -> str:
    text = answer.text.strip()
    if not text:
        why = f" (finish reason {answer.finish_reason!r})"
        advice = " Raise max_tokens." if answer.finish_reason == "length" else ""
        raise AgentError(f"the model answered with nothing{why}.{advice}")
    if answer.finish_reason in CUT_OFF:
        emit("cut_off", finish_reason=answer.finish_reason)
    return text


def _repair(problems: list[str]) -> str:
    listed = "\n".join(f"- {problem}" for problem in problems)
    return f"Your answer does not fit the required form:\n{listed}\nGive only the corrected JSON."
