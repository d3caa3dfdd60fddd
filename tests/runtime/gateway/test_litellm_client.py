"""The other providers: litellm inside our one layer of retries, usage and errors."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import asyncio, json, sys
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.gateway import CallError, ChatRequest, Gateway
from coterie.schema import Model

assert "litellm" not in sys.modules
definition = {"type": "function", "function": {"name": "add", "description": "", "parameters":
    {"type": "object", "properties": {}}}}
said = []

async def main(base):
    # A provider that has no endpoint of its own in our table, pointed at the scripted server.
    models = {"default": Model(alias="default", model="deepseek/m", key_env="A_KEY")}
    import os
    os.environ["DEEPSEEK_API_BASE"] = base
    async with Gateway(models, environment={"A_KEY": "sk-x"}, seed=1) as gateway:
        for tools in ((), (definition,)):
            request = ChatRequest(model="default", messages=[{"role": "user", "content": "hi"}],
                                  tools=tools, retries=0)
            try:
                answer = await gateway.chat(request)
                names = [call.name for call in answer.tool_calls]
                said.append([answer.text, names, answer.usage.calls])
            except CallError as error:
                said.append([error.kind, error.status])

with ScriptedModel(["hello", Reply.tool("add")]) as model:
    asyncio.run(main(model.api_base))
    calls = len(model.calls)
with ScriptedModel(Reply.error(500)) as model:
    asyncio.run(main(model.api_base))
    calls += len(model.calls)
print(json.dumps({"said": said, "calls": calls}))
"""


def test_litellm_answers_calls_tools_and_fails_once() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert '"hello", [], 1' in done.stdout
    assert '["add"]' in done.stdout
    assert '["down", 500]' in done.stdout
    assert '"calls": 4' in done.stdout
