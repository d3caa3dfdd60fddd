"""Adapters between mini-swe-agent and an agent's assignment. Importing this imports it."""

from __future__ import annotations

from types import MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from minisweagent.agents.default import DefaultAgent
from minisweagent.exceptions import FormatError
from minisweagent.models.utils.actions_toolcall import (
    BASH_TOOL,
    format_toolcall_observation_messages,
    parse_toolcall_actions,
)

from ....schema.values.errors import AgentError
from ....schema.values.json_text import dumps, loads
from ...agents.runner import AgentResult
from ...gateway import bare, call_ids, spoken
from ...gateway.chat.ending import only_thinks
from ...gateway.chat.messages import WORDLESS
from ...jail.code.mini_environment import JailEnvironment
from ...jail.code.shell import CommandResult
from ...prompts import render
from ...tools import ToolError
from .._foreign import foreign_errors
from .._jailed import jailed, recording
from .._repository import handed_patch, told_of_start
from .._steps import shortened
from ..programs import host_programs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ...agents.runner import AgentClient, Assignment
    from ...gateway import ChatAnswer
    from ...jail import AnyJail
    from ...tools import GrantedTool
    from ..bridge import Bridge

NOTHING: Mapping[str, GrantedTool] = MappingProxyType({})
MARKER = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
COMMAND_SECONDS = 120
LARGEST_OUTPUT = 16_000
"""Bytes of a command's output that the agent sees."""

# The library renders these with Jinja; foreign text only enters as a variable's value.
OBSERVATION = (
    "{% if output.exception_info %}{{ output.exception_info }}\n{% endif %}"
    "exit code {{ output.returncode }}\n{{ output.output }}"
)
FORMAT_ERROR = (
    "{% if only_thinks %}You thought, and did not answer. Think less."
    "{% elif finish_reason == 'length' %}Your answer was cut off at its largest length. Be shorter."
    "{% else %}{{ error }}{% endif %} Answer with a call of the tool bash; to hand in your work, "
    "call it with `echo " + MARKER + "`."
)

FAILURES = {
    "LimitsExceeded": "it used its {steps} steps without handing in its work.",
    "RepeatedFormatError": "its model answered three times in a row without a usable call of bash.",
}


def run_default_agent(assignment: Assignment, bridge: Bridge, *, max_steps: int) -> AgentResult:
    """Run a DefaultAgent in its own jail; see `MiniSweAgentRunner.run`."""
    with jailed(assignment, bridge, host_programs()) as jail:
        acts = assignment.acting.tools if assignment.acting else {}
        agent = DefaultAgent(
            _GatewayModel(assignment.client, bridge, acts),
            _Environment(
                acts,
                bridge,
                jail,
                timeout=COMMAND_SECONDS,
                output=LARGEST_OUTPUT,
                view=recording(assignment, bridge, CommandResult),
            ),
            system_template="{{ instructions }}",
            instance_template="{{ task }}",
            step_limit=max_steps,
            cost_limit=0,
        )
        ended = _run(agent, assignment, told_of_start(assignment, bridge))
    if ended["exit_status"] != "Submitted":
        text = FAILURES.get(ended["exit_status"], "it ended with {status}.")
        raise AgentError(text.format(steps=max_steps, status=ended["exit_status"]))
    # The jail is closed by now: none of the agent's processes run while its work is read.
    return _result(assignment, agent.messages, ended["submission"])


class _GatewayModel:
    """mini-swe-agent's model over the agent's client. It retries nothing: the gateway does."""

    config = None

    def __init__(
        self, client: AgentClient, bridge: Bridge, acts: Mapping[str, GrantedTool] = NOTHING
    ) -> None:
        self._client = client
        self._bridge = bridge
        self._acts = acts

    def query(self, messages: list[dict[str, Any]], **_: Any) -> dict[str, Any]:
        """Ask for the next commands."""
        sent = [{k: v for k, v in message.items() if k != "extra"} for message in messages]
        tools = [BASH_TOOL, *(act.tool.definition for act in self._acts.values())]
        answer = self._bridge.wait(self._client.chat(sent, tools=tools))
        if answer.refused:
            raise _format_error(answer)
        ids = call_ids(answer, lambda number: f"call_{len(messages)}_{number}")
        actions = self._actions(_calls(answer, ids), answer)
        return {**spoken(answer, ids), "extra": {"actions": actions}}

    def _actions(self, calls: list[SimpleNamespace], answer: ChatAnswer) -> list[dict[str, Any]]:
        """Return the actions in order: commands, and acts on the team."""
        commands = [call for call in calls if call.function.name not in self._acts]
        if calls and not commands:
            return [_act(call) for call in calls]
        actions = parse_toolcall_actions(
            commands,
            format_error_template=FORMAT_ERROR,
            template_kwargs={
                "finish_reason": answer.finish_reason,
                "only_thinks": only_thinks(answer),
            },
        )
        left = iter(actions)
        return [_act(call) if call.function.name in self._acts else next(left) for call in calls]

    def format_message(self, **message: Any) -> dict[str, Any]:
        """Return one of the agent's own messages in the form to send."""
        return message

    def format_observation_messages(
        self,
        message: dict[str, Any],
        outputs: list[dict[str, Any]],
        template_vars: dict[str, Any] | None = None,
    ) -> list[dict[str, Any]]:
        """Return the results of an answer's commands as messages."""
        del template_vars
        actions = message["extra"]["actions"]
        return format_toolcall_observation_messages(
            actions=actions, outputs=outputs, observation_template=OBSERVATION
        )

    def get_template_vars(self, **_: Any) -> dict[str, Any]:
        """Return no variables for prompts."""
        return {}

    def serialize(self) -> dict[str, Any]:
        """Return nothing for a trajectory file: we keep none."""
        return {}


class _Environment(JailEnvironment):
    """Runs an agent's commands, and performs its acts on its team."""

    def __init__(
        self, acts: Mapping[str, GrantedTool], bridge: Bridge, jail: AnyJail, **options: Any
    ) -> None:
        super().__init__(jail, **options)
        self._acts = acts
        self._bridge = bridge

    def execute(
        self, action: dict[str, Any], cwd: str = "", *, timeout: float | None = None
    ) -> dict[str, Any]:
        if "act" not in action:
            return super().execute(action, cwd, timeout=timeout)
        try:
            result = self._bridge.wait(self._acts[action["act"]].call(action["arguments"]))
        except ToolError as error:
            return {"output": str(error), "returncode": 1, "exception_info": ""}
        text = result if isinstance(result, str) else dumps(result, ensure_ascii=False)
        return {"output": text, "returncode": 0, "exception_info": ""}


def _format_error(answer: ChatAnswer) -> FormatError:
    """Show the model its answer, and why none of it is executed."""
    fields = {"role": "assistant", "content": answer.text or WORDLESS}
    return FormatError(fields, {"role": "user", "content": answer.refused})


def _act(call: SimpleNamespace) -> dict[str, Any]:
    """Parse a call of an act; arguments that are not JSON are refused on execution."""
    name, arguments = call.function.name, call.function.arguments
    try:
        parsed = loads(arguments)
    except ValueError:
        parsed = None
    shown = f"{name} {arguments}"
    return {"command": shown, "tool_call_id": call.id, "act": name, "arguments": parsed}


def _calls(answer: ChatAnswer, ids: Sequence[str]) -> list[SimpleNamespace]:
    """Return an answer's tool calls in the library's form."""
    return [
        SimpleNamespace(id=name, function=SimpleNamespace(name=call.name, arguments=call.arguments))
        for name, call in zip(ids, answer.tool_calls, strict=True)
    ]


def _run(agent: DefaultAgent, assignment: Assignment, start: str) -> Mapping[str, Any]:
    task = render(
        "shell_task",
        question=assignment.question,
        start=start,
        has_repository=assignment.workspace.has_repository,
        marker=MARKER,
    )
    instructions = render("shell_system", instructions=assignment.system, seconds=COMMAND_SECONDS)
    with foreign_errors("mini-swe-agent"):
        return agent.run(task=task, instructions=instructions)


def _result(assignment: Assignment, messages: list[Any], submission: str) -> AgentResult:
    steps = list(_steps(messages))
    if not assignment.workspace.has_repository:
        content = submission.strip() or _last_text(messages)
        if not content:
            raise AgentError("it handed in nothing.")
        return AgentResult(content=content, steps=steps)
    patch = handed_patch(assignment)
    return AgentResult(content=patch, patch=patch, steps=steps)


def _last_text(messages: list[Any]) -> str:
    texts = (
        bare(message).get("content")
        for message in reversed(messages)
        if message["role"] == "assistant"
    )
    return next((text.strip() for text in texts if text), "")


def _steps(messages: list[Any]) -> Iterator[dict[str, Any]]:
    """Describe each command for the trace, whose model calls contain the rest."""
    outputs = {item["tool_call_id"]: item["extra"] for item in messages if item["role"] == "tool"}
    for message in messages:
        for action in message.get("extra", {}).get("actions", ()):
            result = outputs.get(action["tool_call_id"], {})
            yield {
                "command": shortened(action["command"]),
                "exit_code": result.get("returncode"),
                "output": shortened(result.get("raw_output", "")),
            }
