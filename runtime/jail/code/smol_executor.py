"""Runs the code of a smolagents CodeAgent in a jail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smolagents.local_python_executor import CodeOutput, InterpreterError, PythonExecutor

from ..process import JailKilled
from .worker import MOST_CALLS, PythonWorker

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from smolagents import Tool

    from ..protocol import AnyJail
    from .worker import CellResult


class ExecutionKilled(BaseException):
    """The host ended the agent's code for good.

    Not an `Exception`, because the agent shows every exception to its model and continues.
    """


class JailExecutor(PythonExecutor):
    """The Python executor for `CodeAgent(executor=...)`.

    Code runs in the jail, in a full Python. Tools and managed agents run here, with arguments that
    were checked against their declarations. Only JSON values pass between the two.

    Args:
        timeout: seconds that a step's code may take, including its tools; None: `Limits.wall`.
        view: called with a step's code and its result; returns the result to show to the agent. A
            resumed run repeats a step for its effects, and shows the original result.
        waited: returns the seconds for which tools have waited for a person; see `PythonWorker`.

    Attributes:
        state: `_print_outputs` in it is the output of the last code, where smolagents looks for it
            after a failure.
    """

    def __init__(
        self,
        jail: AnyJail,
        *,
        timeout: float | None = None,
        view: Callable[[str, CellResult], CellResult] = lambda _code, result: result,
        waited: Callable[[], float] = float,
    ) -> None:
        self._worker = PythonWorker(jail, on_tool=self._call_tool, calls=MOST_CALLS, waited=waited)
        self._timeout = timeout
        self._view = view
        self._tools: dict[str, Tool] = {}
        self.state: dict[str, Any] = {"_print_outputs": ""}

    def send_tools(self, tools: dict[str, Tool]) -> None:
        """Let code call these tools by name. The jail has its own `final_answer`."""
        self._tools = {name: tool for name, tool in tools.items() if name != "final_answer"}
        self._worker.send_tools(self._tools)

    def send_variables(self, variables: Mapping[str, Any]) -> None:
        """Set variables for the code."""
        self._worker.send_variables(variables)

    def __call__(self, code_action: str) -> CodeOutput:
        """Run the code of one step.

        Raises:
            InterpreterError: the code failed; the agent may try again.
            ExecutionKilled: `kill` was called.
            JailError: the jail no longer exists.
        """
        try:
            result = self._worker.execute(code_action, timeout=self._timeout)
        except JailKilled as killed:
            raise ExecutionKilled(str(killed)) from killed
        result = self._view(code_action, result)
        self.state["_print_outputs"] = result.logs
        if result.error is not None:
            raise InterpreterError(result.error)
        return CodeOutput(
            output=result.output, logs=result.logs, is_final_answer=result.is_final_answer
        )

    def kill(self, reason: str = "the host killed it") -> None:
        """End the code for good. May be called from any thread."""
        self._worker.kill(reason)

    def cleanup(self) -> None:
        """End the interpreter. smolagents calls this when the agent is done."""
        self._worker.close()

    def _call_tool(self, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        tool = self._tools[name]
        if len(args) > len(tool.inputs):
            raise TypeError(f"{len(args)} arguments were given, it takes {len(tool.inputs)}")
        named = dict(zip(tool.inputs, args, strict=False))
        if doubled := named.keys() & kwargs.keys():
            raise TypeError(f"{', '.join(sorted(doubled))} was given twice")
        return tool(**named, **kwargs)
