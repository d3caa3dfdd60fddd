"""Real clients against the double: what they accept is what a server of OpenAI's kind sends."""

import functools
import os
import subprocess
import sys
from pathlib import Path

import pytest

from coterie.runtime.doubles import Reply, ScriptedModel

MINI_SWE_AGENT = """
import sys
from minisweagent.models.litellm_model import LitellmModel

model = LitellmModel(
    model_name="openai/scripted",
    model_kwargs={"api_base": sys.argv[1], "api_key": "k"},
    cost_tracking="ignore_errors",
)
OUTPUT = {"output": "a.py", "returncode": 0, "exception_info": ""}
task = {"role": "user", "content": "Fix the bug."}
step = model.query([task])
print(step["extra"]["actions"][0]["command"])
observed = model.format_observation_messages(step, [OUTPUT])
print(model.query([task, step, *observed])["extra"]["actions"][0]["command"])
"""


def test_openai_client_under_a_code_agent() -> None:
    from smolagents import CodeAgent, LogLevel, OpenAIServerModel

    script = [Reply.code("answer = 6 * 7\nprint(answer)"), Reply.code("final_answer(answer)")]
    with ScriptedModel(script, key="k") as scripted:
        model = OpenAIServerModel("scripted", api_base=scripted.api_base, api_key="k")
        agent = CodeAgent(tools=[], model=model, verbosity_level=LogLevel.OFF)
        try:
            assert agent.run("What is 6 x 7?") == 42
        finally:
            model.client.close()

    first, second = scripted.calls
    assert "What is 6 x 7?" in first.text
    assert "42" in second.text


def test_openai_client_under_a_tool_calling_agent_that_streams() -> None:
    from smolagents import LogLevel, OpenAIServerModel, ToolCallingAgent

    with ScriptedModel(Reply.tool("final_answer", answer="42")) as scripted:
        model = OpenAIServerModel("scripted", api_base=scripted.api_base, api_key="k")
        agent = ToolCallingAgent(
            tools=[], model=model, stream_outputs=True, verbosity_level=LogLevel.OFF
        )
        try:
            assert agent.run("What is 6 x 7?") == "42"
        finally:
            model.client.close()

    assert scripted.calls[0].body is not None
    assert scripted.calls[0].body["stream"] is True


def test_openai_client_embeds_and_does_not_ask_again_when_the_script_ends() -> None:
    import openai

    with (
        ScriptedModel(["only"]) as scripted,
        openai.OpenAI(base_url=scripted.api_base, api_key="k") as client,
    ):
        vectors = client.embeddings.create(model="m", input=["a", "a"]).data
        assert vectors[0].embedding == vectors[1].embedding
        ask = functools.partial(
            client.chat.completions.create,
            model="m",
            messages=[{"role": "user", "content": "Hi"}],
        )
        assert ask().choices[0].message.content == "only"
        with pytest.raises(openai.InternalServerError, match="ended after 1"):
            ask()

    assert len(scripted.calls) == 3


@pytest.mark.nightly
def test_mini_swe_agent_through_litellm(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "MSWEA_GLOBAL_CONFIG_DIR": str(tmp_path),
        "MSWEA_SILENT_STARTUP": "1",
    }
    script = [Reply.bash("ls"), Reply.bash("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT")]
    with ScriptedModel(script, key="k") as scripted:
        command = [sys.executable, "-c", MINI_SWE_AGENT, scripted.api_base]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=120, check=False
        )

    assert done.stdout.split("\n")[:2] == ["ls", "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"], (
        done.stderr
    )
    assert "a.py" in scripted.calls[1].text
