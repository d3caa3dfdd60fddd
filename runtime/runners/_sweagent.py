"""Running an installed SWE-agent: its settings, its program, and what it leaves."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...schema.errors import AgentError, JailError
from ...schema.values import is_mapping
from ..jail import Limits, Shell
from ..jail.scratch import ScratchFolder
from ..jail.workspace import read_file
from ..messages import render
from ..workspace import git
from ._jailed import jailed
from ._steps import shortened
from .protocol import AgentResult

if TYPE_CHECKING:
    from ._loopback import LoopbackEndpoint
    from .bridge import Bridge
    from .protocol import Assignment

__all__ = ["run_swe_agent"]

PROGRAM = Path(__file__).with_name("_sweagent_main.py")
TASK = "task"
SECONDS = 6 * 3600
LIMITS = Limits(cpu=3600, memory=8 << 30, resident=4 << 30, processes=512, output=64_000)
ENVIRONMENT = {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}
"""Keeps litellm from fetching a list of prices, which we do not use, from the network."""
LARGEST_TRAJECTORY = 256 << 20
"""Bytes of the record that SWE-agent writes."""
CONTEXT_TOKENS = 100_000


def run_swe_agent(
    assignment: Assignment, bridge: Bridge, endpoint: LoopbackEndpoint, *, python: Path
) -> AgentResult:
    """Run SWE-agent on a copy of the workspace; see `SweAgentRunner.run`."""
    if not assignment.workspace.has_repository:
        raise AgentError("SWE-agent needs a task with a repo, and this one has none.")
    if not assignment.jails.unsafe:
        raise JailError(
            "SWE-agent writes to /root and to the root of the file system, which no jail allows."
            " Use agent_type: DefaultAgent, or, in a throw-away machine only, pass --unsafe-local."
        )
    with (
        ScratchFolder("swe") as scratch,
        jailed(assignment, bridge, limits=LIMITS, environment=ENVIRONMENT) as jail,
    ):
        settings = _write_settings(assignment, endpoint, scratch.path)
        try:
            command = shlex.join([str(python), str(PROGRAM), str(settings)])
            done = Shell(jail).run(command, timeout=SECONDS)
        finally:
            # Where SWE-agent copies the repository to: a name that nobody else has.
            shutil.rmtree(Path("/", scratch.path.name), ignore_errors=True)
        if done.returncode != 0:
            raise AgentError(f"SWE-agent failed: {shortened(done.output[-2000:])}")
        outcome = _outcome(scratch.path)
    return _result(assignment, outcome)


def _write_settings(assignment: Assignment, endpoint: LoopbackEndpoint, folder: Path) -> Path:
    """Write what differs from SWE-agent's default configuration."""
    model = {
        "name": "openai/model",
        "api_base": endpoint.api_base,
        "api_key": endpoint.key,
        "per_instance_cost_limit": 0,
        "total_cost_limit": 0,
        "max_input_tokens": CONTEXT_TOKENS,
        "max_output_tokens": assignment.agent.max_tokens,
        "retry": {"retries": 1, "min_wait": 0, "max_wait": 1},
        # Some versions of litellm cannot call tools without another package, unless told so.
        "completion_kwargs": {"_skip_mcp_handler": True},
    }
    text = render("swe_agent_task", instructions=assignment.system, question=assignment.question)
    settings = {
        "model": model,
        "env": {
            "deployment": {"type": "local"},
            "repo": {"type": "local", "path": str(_committed_copy(assignment, folder))},
        },
        "problem_statement": {"type": "text", "text": text, "id": TASK},
        "output_dir": str(folder),
    }
    path = folder / "settings.json"
    path.write_text(json.dumps(settings), encoding="utf-8")
    return path


def _committed_copy(assignment: Assignment, folder: Path) -> Path:
    """Copy the workspace, with nothing uncommitted in it: SWE-agent takes nothing else."""
    copy = folder / folder.name
    shutil.copytree(assignment.workspace.path, copy, symlinks=True)
    git(copy, "add", "--all")
    git(copy, "commit", "--quiet", "--allow-empty", "--message", "Where the agent starts.")
    return copy


def _outcome(folder: Path) -> dict[str, Any]:
    """Read the end of SWE-agent's record."""
    try:
        record = json.loads(read_file(folder, f"{TASK}/{TASK}.traj", limit=LARGEST_TRAJECTORY))
        info = record["info"]
    except (JailError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise AgentError(f"SWE-agent left no record of its work: {error}") from error
    return info if is_mapping(info) else {}


def _result(assignment: Assignment, outcome: dict[str, Any]) -> AgentResult:
    status, submission = outcome.get("exit_status"), str(outcome.get("submission") or "")
    if status != "submitted":
        raise AgentError(f"SWE-agent ended without submitting its work: {status!r}.")
    if not submission.strip():
        raise AgentError("SWE-agent submitted its work without having changed anything.")
    # Its patch starts from where it started, ours from the task's own state.
    git(assignment.workspace.path, "apply", "--whitespace=nowarn", "-", text=submission)
    patch = assignment.workspace.diff()
    return AgentResult(content=patch, patch=patch, steps=[{"exit_status": status}])
