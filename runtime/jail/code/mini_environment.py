"""Runs the commands of a mini-swe-agent agent in a jail.

Importing this imports minisweagent, which prints a banner and reads its user's configuration unless
`MSWEA_SILENT_STARTUP` and `MSWEA_GLOBAL_CONFIG_DIR` are set first.
"""

from __future__ import annotations

import dataclasses
import platform
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from minisweagent.exceptions import Submitted

from ..protocol import AnyJail
from .shell import CommandResult, Shell

_MARKER = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"


@dataclass(frozen=True, kw_only=True, slots=True)
class JailEnvironmentConfig:
    """The part of an environment that mini-swe-agent records and that prompts may name.

    Attributes:
        cwd: the folder where commands start.
        timeout: seconds that a command may take.
    """

    cwd: str
    timeout: float


class JailEnvironment:
    """The environment for a mini-swe-agent agent.

    Each command runs in the jail, in its own processes, and starts in the work folder. Prompts
    contain nothing of the host's environment.

    Args:
        timeout: seconds that a command may take; None: `Limits.wall`.
        output: bytes of a command's output that the model sees; None: `Limits.output`.
        view: called with a command and its result; returns the result to show to the agent. A
            resumed run repeats a command for its effects, and shows the original result.
    """

    def __init__(
        self,
        jail: AnyJail,
        *,
        timeout: float | None = None,
        output: int | None = None,
        view: Callable[[str, CommandResult], CommandResult] = lambda _command, result: result,
    ) -> None:
        self._shell = Shell(jail, output=output)
        self._view = view
        self.config = JailEnvironmentConfig(
            cwd=str(jail.work), timeout=jail.limits.wall if timeout is None else timeout
        )

    def execute(
        self, action: dict[str, Any], cwd: str = "", *, timeout: float | None = None
    ) -> dict[str, Any]:
        """Run the command of an action.

        Args:
            action: its `command` is for bash.
            cwd: where the command starts; empty for the work folder.
            timeout: seconds that it may take; None: as configured.

        Raises:
            Submitted: the command succeeded, and its output begins with the line that ends a task.
            JailKilled: `kill` was called.
            JailError: the jail no longer exists.
        """
        command = str(action.get("command", ""))
        result = self._shell.run(
            command,
            timeout=self.config.timeout if timeout is None else timeout,
            folder=Path(cwd) if cwd else None,
        )
        result = self._view(command, result)
        _end_if_submitted(result)
        stopped = "" if result.stopped is None else f"The command was stopped: {result.stopped}."
        return {"output": result.output, "returncode": result.returncode, "exception_info": stopped}

    def get_template_vars(self, **kwargs: Any) -> dict[str, Any]:
        """Return the variables that prompts may name: the configuration and the kind of system."""
        system = platform.uname()._asdict() | {"node": "jail"}
        return {**dataclasses.asdict(self.config), **system, **kwargs}

    def serialize(self) -> dict[str, Any]:
        """Return the environment's entry in the trajectory file."""
        kind = f"{type(self).__module__}.{type(self).__name__}"
        described = {"environment": dataclasses.asdict(self.config), "environment_type": kind}
        return {"info": {"config": described}}

    def kill(self, reason: str = "the host killed it") -> None:
        """End the running command for good. May be called from any thread."""
        self._shell.kill(reason)


def _end_if_submitted(result: CommandResult) -> None:
    first, _, rest = result.output.lstrip().partition("\n")
    if result.returncode == 0 and first.strip() == _MARKER:
        extra = {"exit_status": "Submitted", "submission": rest}
        raise Submitted({"role": "exit", "content": rest, "extra": extra})
