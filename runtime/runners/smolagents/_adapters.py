"""Adapters between smolagents and an agent's assignment. Importing this imports smolagents."""

# smolagents has type hints, but does not say so.
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

import ast
import functools
import importlib.resources
import re
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

import yaml
from smolagents import CodeAgent, LogLevel, Model, Tool, ToolCallingAgent
from smolagents.memory import ActionStep, PlanningStep
from smolagents.models import (
    ChatMessage,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    MessageRole,
    remove_content_after_stop_sequences,
)
from smolagents.monitoring import TokenUsage

from ....schema.values.errors import AgentError
from ....schema.values.json_text import dumps
from ...agents.runner import AgentResult
from ...gateway import call_ids, spoken
from ...gateway.chat.ending import is_cut_off, only_thinks
from ...jail.code.smol_executor import JailExecutor
from ...jail.code.worker import CellResult
from ...prompts import render
from ...values.structured import answer_in, parse_structured
from .._bounds import LARGEST_ANSWER, check_answer
from .._foreign import foreign_errors
from .._jailed import jailed, recording
from .._steps import shortened
from ..programs import host_packages
from ._tools import HostTool, PersonWait, definition
from ._turns import KeepingMemory, KeptTurn, ToldOfMistakes, Unusable, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from ...agents.runner import AgentClient, Assignment
    from ...gateway import ToolRequest
    from ..bridge import Bridge

IMPORTS = ["any module of Python's standard library"]
"""Imports that smolagents' prompt lists besides its own. Nothing checks imports: the jail is the
limit."""

CUT_OFF = "your answer was cut off ({}) in its code. Nothing was executed. Write less at once."
HOW_TO_END = "Call a tool, or final_answer to answer."
THOUGHT_ONLY = "(I thought, and did not answer. I will think less.)"
"""Replaces an answer of thinking alone in an agent's memory; it holds no code and no call."""
END_IN_CODE = (
    "your code was cut where it has </code> in it, which ends it. Nothing was executed. Write that"
    " text in two parts there: '</' + 'code>'."
)
_OPENING = re.compile(r"```(?:python|py)\b")
_CLOSING = re.compile(r"\n```")
MOST_ENDS = 20
"""The most fences to try as the end of a block."""
LARGEST_PARSED = LARGEST_ANSWER // 10


def run_code_agent(assignment: Assignment, bridge: Bridge, *, max_steps: int) -> AgentResult:
    """Run a CodeAgent with its code in its own jail; see `SmolagentsRunner.run`."""
    packages, wait = assignment.agent.imports, PersonWait()
    tools = {name: wait.counting(granted) for name, granted in assignment.tools.items()}
    assignment = replace(assignment, tools=tools)
    with (
        jailed(assignment, bridge, host_packages(packages)) as jail,
        foreign_errors("smolagents"),
        _Coder(
            **_common(assignment, bridge, max_steps),
            prompt_templates=_prompt_templates("code_agent"),
            instructions=render(
                "code_system", instructions=assignment.system, seconds=f"{jail.limits.wall:g}"
            ),
            executor=JailExecutor(
                jail, view=recording(assignment, bridge, CellResult), waited=lambda: wait.seconds
            ),
            additional_authorized_imports=[*IMPORTS, *packages],
        ) as agent,
    ):
        return _result(agent, assignment)


def run_tool_calling_agent(
    assignment: Assignment, bridge: Bridge, *, max_steps: int
) -> AgentResult:
    """Run a ToolCallingAgent; see `SmolagentsRunner.run`."""
    with foreign_errors("smolagents"):
        agent = _ToolCaller(
            **_common(assignment, bridge, max_steps, as_text=True),
            prompt_templates=_prompt_templates("toolcalling_agent"),
            instructions=assignment.system,
            max_tool_threads=1 if _keep_state(assignment) else None,
        )
        return _result(agent, assignment)


def _keep_state(assignment: Assignment) -> bool:
    """Return whether the order of tool calls matters, so that they must run one at a time."""
    return any(granted.tool.keeps_state for granted in assignment.tools.values())


class _GatewayModel(Model):
    """smolagents' model over the agent's client. It retries nothing: the gateway does."""

    def __init__(self, client: AgentClient, bridge: Bridge) -> None:
        super().__init__(flatten_messages_as_text=True)
        self._client = client
        self._bridge = bridge
        self.writes_code = False

    def generate(
        self,
        messages: list[ChatMessage],
        stop_sequences: list[str] | None = None,
        response_format: dict[str, str] | None = None,
        tools_to_call_from: list[Tool] | None = None,
        **_: Any,
    ) -> ChatMessage:
        tools = [definition(tool) for tool in tools_to_call_from or ()]
        answer = self._bridge.wait(
            self._client.chat(
                plain(messages),
                stop=stop_sequences or (),
                tools=tools,
                tool_choice="required" if tools else None,
            )
        )
        text = THOUGHT_ONLY if only_thinks(answer) else answer.text
        check_answer(text)
        usage = answer.usage
        used = TokenUsage(input_tokens=usage.prompt_tokens, output_tokens=usage.completion_tokens)
        if answer.refused:
            raise Unusable(answer.refused, text, used)
        if self.writes_code:
            if is_cut_off(answer.finish_reason):
                raise Unusable(CUT_OFF.format(answer.finish_reason), text, used)
            if ends_in_code(text):
                raise Unusable(END_IN_CODE, text, used)
            text = whole_code(text)
        # Endpoints leave ids out or repeat them, and smolagents would drop calls of the same id.
        ids = call_ids(answer, "call_{}".format)
        return ChatMessage(
            role=MessageRole.ASSISTANT,
            # Some endpoints ignore stop sequences.
            content=remove_content_after_stop_sequences(text, stop_sequences) or None,
            tool_calls=[*map(_called, ids, answer.tool_calls)],
            raw=KeptTurn(message=spoken(answer, ids)) if answer.kept else None,
            token_usage=used,
        )

    def parse_tool_calls(self, message: ChatMessage) -> ChatMessage:
        """Refuse text in place of calls: any calls in it have already been read."""
        raise ValueError(f"there is no call of a tool in it. {HOW_TO_END}")


class _Bounded:
    """Ends an agent that used all its steps, instead of smolagents' extra call for a guess."""

    def provide_final_answer(self, task: str) -> ChatMessage:
        agent = cast("CodeAgent | ToolCallingAgent", self)
        last = agent.memory.steps[-1]
        error = getattr(last, "error", None)
        why = f" The last one failed: {shortened(str(error))}" if error else ""
        raise AgentError(f"it used its {agent.max_steps} steps without a final answer.{why}")


class _Coder(_Bounded, ToldOfMistakes, CodeAgent):
    """A CodeAgent that ends with its last step."""

    def _step_stream(self, memory_step: ActionStep) -> Generator[Any]:
        model = cast("_GatewayModel", self.model)
        model.writes_code = True  # its plans are text
        try:
            yield from super()._step_stream(memory_step)
        finally:
            model.writes_code = False


class _ToolCaller(_Bounded, ToldOfMistakes, KeepingMemory):
    """A ToolCallingAgent that ends with its last step."""


def _common(
    assignment: Assignment, bridge: Bridge, max_steps: int, *, as_text: bool = False
) -> dict[str, Any]:
    schema = assignment.agent.output_schema
    return {
        "tools": [HostTool(tool, bridge, as_text=as_text) for tool in assignment.tools.values()],
        "model": _GatewayModel(assignment.client, bridge),
        "max_steps": max_steps,
        "planning_interval": assignment.agent.planning_interval,
        "verbosity_level": LogLevel.OFF,
        "step_callbacks": [_failure_teller(assignment, bridge)],
        "final_answer_checks": [_form_check(schema, assignment, bridge)] if schema else [],
    }


@functools.cache
def _prompt_templates(name: str) -> Any:
    """Read smolagents' own prompts once, since it would for every agent, with a slow YAML reader.

    smolagents runs them as Jinja templates, so no foreign text may go into them.
    """
    text = importlib.resources.files("smolagents.prompts").joinpath(f"{name}.yaml").read_text()
    return yaml.load(text, Loader=yaml.CSafeLoader)


def _failure_teller(assignment: Assignment, bridge: Bridge) -> Callable[[ActionStep], None]:
    def tell(step: ActionStep) -> None:
        """Record a step whose code or tool calls failed: smolagents continues with the next."""
        if step.error is not None:
            text = shortened(str(step.error))
            bridge.tell(functools.partial(assignment.emit, "step_failed", error=text))

    return tell


def _form_check(
    schema: Mapping[str, Any], assignment: Assignment, bridge: Bridge
) -> Callable[..., bool]:
    def output_schema(answer: Any, memory: object, agent: object) -> bool:
        """Smolagents shows the agent this function's name and the text of its error."""
        _, problems = _fitting(answer, schema)
        if problems:
            bridge.tell(functools.partial(assignment.emit, "repair", problems=problems))
            raise ValueError(f"the final answer does not fit its form: {'; '.join(problems)}")
        return True

    return output_schema


def _result(agent: CodeAgent | ToolCallingAgent, assignment: Assignment) -> AgentResult:
    answer: Any = agent.run(assignment.question)
    steps = [
        _plan(step) if isinstance(step, PlanningStep) else _step(step)
        for step in agent.memory.steps
        if isinstance(step, ActionStep | PlanningStep)
    ]
    if assignment.acting is not None and answer == "":  # it has no report, or not yet
        return AgentResult(content="", steps=steps)
    content, short = _content(answer, assignment.agent.output_schema)
    return AgentResult(content=content, answer=short, steps=steps)


def _content(answer: Any, schema: Mapping[str, Any] | None) -> tuple[str, str | None]:
    if schema is not None:
        return answer_in(_fitting(answer, schema)[0])
    text = str(answer) if isinstance(answer, str) else dumps(answer, ensure_ascii=False)
    if answer is None or not text.strip():
        raise AgentError(f"its final answer is empty: {answer!r}.")
    return text.strip(), None


def _fitting(answer: Any, schema: Mapping[str, Any]) -> tuple[Any, list[str]]:
    """Check an answer as a value; if it is text, as JSON text, too."""
    value, problems = parse_structured(dumps(answer), schema)
    if problems and isinstance(answer, str):
        return parse_structured(answer, schema)
    return value, problems


def _called(call_id: str, call: ToolRequest) -> ChatMessageToolCall:
    return ChatMessageToolCall(
        function=ChatMessageToolCallFunction(name=call.name, arguments=call.arguments),
        id=call_id,
        type="function",
    )


def _plan(step: PlanningStep) -> dict[str, Any]:
    seconds = round(step.timing.duration or 0.0, 3)
    return {"plan": shortened(step.model_output_message.content), "seconds": seconds}


def _step(step: ActionStep) -> dict[str, Any]:
    """Describe a step for the trace, whose model calls contain the rest."""
    calls = [
        {"name": tool_call.name, "arguments": shortened(tool_call.arguments)}
        for tool_call in step.tool_calls or ()
    ]
    fields = {"observations": step.observations, "error": step.error and str(step.error)}
    return {
        "step": step.step_number,
        "seconds": round(step.timing.duration or 0.0, 3),
        "calls": calls,
        **{name: shortened(text) for name, text in fields.items() if text},
    }


def whole_code(text: str) -> str:
    """Return an answer with its fenced code between smolagents' tags, if the code contains fences.

    A block ends at the first fence at which it is valid Python.
    """
    if "<code>" in text or len(text) > LARGEST_PARSED:
        return text
    blocks: list[str] = []
    at, is_otherwise = 0, False
    while opening := _OPENING.search(text, at):
        ends = [end.span() for end in islice(_CLOSING.finditer(text, opening.end()), MOST_ENDS)]
        if not ends:
            break
        start, at = ends[0]
        if len(ends) > 1:
            whole = (end for end in ends if not _fault(text[opening.end() : end[0]]))
            start, at = next(whole, ends[0])
        is_otherwise |= start != ends[0][0]
        blocks.append(text[opening.end() : start].strip())
    code = "\n\n".join(blocks)
    return f"<code>\n{code}\n</code>" if is_otherwise and "</code>" not in code else text


def ends_in_code(text: str) -> bool:
    """Return whether the end-of-code tag is in a string of the code itself."""
    _, opening, after = text.partition("<code>")
    code = after.partition("</code>")[0]
    return bool(opening) and len(code) <= LARGEST_PARSED and "unterminated" in _fault(code)


def _fault(code: str) -> str:
    try:
        ast.parse(code.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return str(error)
    return ""
