"""A smolagents CodeAgent whose code runs in a jail."""

import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

smolagents = pytest.importorskip("smolagents")

from smolagents import CodeAgent, Model, tool  # noqa: E402
from smolagents.local_python_executor import InterpreterError  # noqa: E402
from smolagents.models import ChatMessage, MessageRole  # noqa: E402

from coterie.runtime.jail import Jail  # noqa: E402
from coterie.runtime.jail.code.smol_executor import ExecutionKilled, JailExecutor  # noqa: E402


class Scripted(Model):
    """Says what it was told to say, one step after the other."""

    def __init__(self, *cells: str) -> None:
        super().__init__(model_id="scripted")
        self.cells = list(cells)

    def generate(self, messages: Any, *_: Any, **__: Any) -> ChatMessage:
        return ChatMessage(
            role=MessageRole.ASSISTANT, content=f"Next.\n<code>\n{self.cells.pop(0)}\n</code>"
        )


@tool
def repeat(text: str, times: int = 2) -> list:
    """Repeat a text.

    Args:
        text: What to repeat.
        times: How often.
    """
    return [text] * times


@pytest.fixture
def executor(jail: Jail) -> Iterator[JailExecutor]:
    executor = JailExecutor(jail)
    yield executor
    executor.cleanup()


def run(executor: JailExecutor, *cells: str, **additional: Any) -> Any:
    agent = CodeAgent(
        tools=[repeat], model=Scripted(*cells), executor=executor, max_steps=5, verbosity_level=-1
    )
    return agent.run("Go.", return_full_result=True, additional_args=additional or None)


def test_an_agent_calls_tools_keeps_state_and_answers(executor: JailExecutor) -> None:
    result = run(
        executor,
        "found = repeat(word, times=3)\nprint(len(found))",
        "final_answer({'found': found})",
        word="hey",
    )
    assert result.state == "success"
    assert result.output == {"found": ["hey", "hey", "hey"]}
    assert "3" in result.steps[1]["observations"]


def test_an_agent_sees_its_errors_and_goes_on(executor: JailExecutor) -> None:
    result = run(
        executor,
        "print('before')\nrepeat(7, 7, 7, 7)",
        "import sys; sys.exit(1)",
        "final_answer('done')",
    )
    first, second = result.steps[1:3]
    assert "4 arguments were given" in first["error"]["message"]
    assert "before" in first["observations"]
    assert "SystemExit" in second["error"]["message"]
    assert result.output == "done"


def test_a_step_without_end_is_an_error(jail: Jail) -> None:
    executor = JailExecutor(jail, timeout=0.3)
    with closing(executor._worker), pytest.raises(InterpreterError, match=r"longer than 0\.3 sec"):
        executor("while True: pass")


@pytest.mark.parametrize(
    "call", ["repeat()", "repeat('a', 1, 2)", "repeat('a', text='b')", "repeat('a', other=1)"]
)
def test_arguments_are_checked_before_a_tool_runs(executor: JailExecutor, call: str) -> None:
    result = run(executor, call, "final_answer(1)")
    assert "repeat failed" in result.steps[1]["error"]["message"]


def test_a_kill_ends_the_agent_and_not_only_its_step(executor: JailExecutor) -> None:
    threading.Timer(0.3, executor.kill, ["out of time"]).start()
    with pytest.raises(ExecutionKilled, match="out of time"):
        run(executor, "import time; time.sleep(30)", "final_answer('never')")
