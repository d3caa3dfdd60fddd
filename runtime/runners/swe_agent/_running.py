"""Run an installed SWE-agent in a jail: its settings, its calls, its commands, its end."""

from __future__ import annotations

import functools
import subprocess
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....schema.values.errors import AgentError
from ...agents.runner import AgentResult
from ...gateway import bare, spoken
from ...jail import JailLimits, JailRequest
from ...jail.code.wire import HungUp, WireError, WorkerConnection
from ...prompts import render
from ...repository.git import git
from .._jailed import jailed, recording
from .._kept import KeptAnswers, numbered
from .._repository import handed_patch, told_of_start
from .._steps import shortened
from ..programs import host_programs

if TYPE_CHECKING:
    from ...agents.runner import Assignment
    from ...jail import AnyJail, AnyProcess
    from ..bridge import Bridge
    from ._install import Installation

PROGRAM = Path(__file__).with_name("_main.py")
REPOSITORY = Path("/repo")
"""The repository's path for SWE-agent: the same in every run, because its model sees it."""
HOME = Path("/root")
"""Where SWE-agent keeps its tools and its state, for any user."""
TASK = "task"
SECONDS = 6 * 3600
LIMITS = JailLimits(
    cpu=3600,
    memory=8 << 30,
    resident=4 << 30,
    processes=512,
    open_files=1024,
    output=256 << 10,
    message=32 << 20,
)
ENVIRONMENT = {
    # The jail has no network; programs that look for one would wait.
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "PIP_NO_INDEX": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "SWE_AGENT_TRAJECTORY_DIR": "/tmp",  # noqa: S108 - the jail's own
    "SWE_AGENT_LOG_STREAM_LEVEL": "INFO",
}
CONTEXT_TOKENS = 100_000
LAST_WORDS = 2000
"""Characters of its log to show after a failure."""
LARGEST_LOG = 100_000
"""Characters of its log's end to keep in the trace."""


def run_swe_agent(
    assignment: Assignment, bridge: Bridge, installation: Installation, *, max_steps: int
) -> AgentResult:
    """Run SWE-agent on the workspace; see `SweAgentRunner.run`."""
    if not assignment.workspace.has_repository:
        raise AgentError("SWE-agent needs a task with a repo, and this one has none.")
    _commit(assignment.workspace.path)
    programs = host_programs()
    request = JailRequest(
        limits=LIMITS,
        readable=(*programs.readable, *installation.readable, PROGRAM),
        environment={**programs.environment, **ENVIRONMENT},
        alias=REPOSITORY,
        own=(HOME,),
    )
    with jailed(assignment, bridge, request) as jail:
        settings = _settings(assignment, told_of_start(assignment, bridge))
        conversation = _Conversation(assignment, bridge, max_steps)
        status = conversation.held(jail, installation.python, settings)
    if status != "submitted":
        raise AgentError(f"SWE-agent ended without submitting its work: {status!r}.")
    # The jail is closed by now: none of the agent's processes run while its work is read.
    patch = handed_patch(assignment)
    return AgentResult(content=patch, patch=patch, steps=conversation.steps)


def _commit(folder: Path) -> None:
    """Commit the agent's initial state, so that it sees only its own changes."""
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "Where the agent starts.")


@dataclass(frozen=True, kw_only=True, slots=True)
class _StepOutput:
    """A command's output as the agent saw it."""

    output: str


class _Conversation:
    """SWE-agent's requests from its jail, and our answers."""

    def __init__(self, assignment: Assignment, bridge: Bridge, max_steps: int) -> None:
        self.steps: list[dict[str, Any]] = []
        self._log = ""
        self._assignment = assignment
        self._bridge = bridge
        self._answers = KeptAnswers()
        self._record = recording(assignment, bridge, _StepOutput)
        self._max_steps = self._left = max_steps

    def held(self, jail: AnyJail, python: Path, settings: dict[str, Any]) -> str:
        """Start SWE-agent, answer its requests until it ends, and return its status."""
        process = jail.start(
            [str(python), str(PROGRAM)], stdin=subprocess.PIPE, stderr=subprocess.PIPE
        )
        wire = WorkerConnection(process, jail.limits)
        try:
            wire.send(settings)
            return self._answered(wire)
        except (WireError, TimeoutError) as error:
            jail.check()
            process.wait(2.0)
            self._read_log(wire)
            raise AgentError(_failure(process, self._log, error)) from error
        finally:
            partial = functools.partial(self._assignment.emit, "program_log", text=self._log)
            self._bridge.tell(partial)
            wire.close()
            process.close()

    def _answered(self, wire: WorkerConnection) -> str:
        deadline = time.monotonic() + SECONDS
        while True:
            message = wire.receive(deadline)
            self._read_log(wire)
            match message:
                case {"op": "chat", "request": {"messages": list(messages), "tools": tools}}:
                    wire.send(self._completion(messages, tools or ()))
                case {"op": "step", "command": str(command), "output": str(output)}:
                    wire.send({"output": self._run_step(command, output)})
                case {"op": "end", "status": status}:
                    return str(status)
                case _:
                    raise WireError(f"it sent an unknown message, {str(message)[:200]!r}")

    def _read_log(self, wire: WorkerConnection) -> None:
        """Add SWE-agent's output to its log, whose end is kept."""
        self._log = (self._log + wire.printed())[-LARGEST_LOG:]

    def _completion(self, messages: list[Any], tools: Any) -> dict[str, Any]:
        if self._left == 0:
            raise AgentError(f"it used its {self._max_steps} steps without handing in its work.")
        self._left -= 1
        sent = self._answers.given_back(messages)
        answer = self._bridge.wait(self._assignment.client.chat(sent, tools=tools))
        if answer.refused:
            answer = replace(answer, text=f"{answer.text}\n[{answer.refused}]")
        self._answers.remember(answer)
        message = bare(spoken(answer, numbered(answer)))
        choice = {"index": 0, "message": message, "finish_reason": answer.finish_reason}
        return {"model": "model", "choices": [choice]}

    def _run_step(self, command: str, output: str) -> str:
        text = self._record(command, _StepOutput(output=output)).output
        self.steps.append({"command": shortened(command), "output": shortened(text)})
        return text


def _settings(assignment: Assignment, start: str) -> dict[str, Any]:
    """Return the differences from SWE-agent's default configuration."""
    text = render(
        "swe_agent_task",
        instructions=assignment.system,
        question=assignment.question,
        start=start,
    )
    return {
        "model": {
            "name": "openai/model",
            "api_key": "none",
            "per_instance_cost_limit": 0,
            "total_cost_limit": 0,
            "max_input_tokens": CONTEXT_TOKENS,
            "retry": {"retries": 1, "min_wait": 0, "max_wait": 1},
        },
        "env": {
            "deployment": {"type": "local"},
            "repo": {"type": "preexisting", "repo_name": REPOSITORY.name, "reset": False},
        },
        "problem_statement": {"type": "text", "text": text, "id": TASK},
        "output_dir": "/tmp/output",  # noqa: S108 - the jail's own
    }


def _failure(process: AnyProcess, log: str, error: Exception) -> str:
    """Return why SWE-agent did not finish."""
    text = log.strip()[-LAST_WORDS:]
    why = process.stopped or ("" if isinstance(error, HungUp) else str(error))
    return f"SWE-agent failed{f': {why}' if why else ''}: {shortened(text)}"
