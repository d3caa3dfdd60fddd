"""The other providers: litellm inside our one layer of retries, usage and errors."""

from __future__ import annotations

import json
import subprocess
import sys

SCRIPT = """
import asyncio, json, os, sys
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.gateway import CallError, ChatRequest, Gateway
from coterie.schema import Model

assert "litellm" not in sys.modules
definition = {"type": "function", "function": {"name": "add", "description": "", "parameters":
    {"type": "object", "properties": {}}}}
replies = {
    "text": "hello",
    "tool": Reply.tool("add"),
    "500": Reply.error(500),
    "429": Reply.error(429, retry_after=7),
    "502": Reply.error(502),
    "404": Reply.error(404),
    "400": Reply.error(400),
    "overflow": Reply.fault("context_overflow"),
    "page": Reply.fault("html_body"),
    "cut": Reply.fault("truncated_body"),
    "no choices": Reply.fault("no_choices"),
    "no usage": Reply.fault("no_usage"),
}

async def ask(base):
    # A provider that has no endpoint of its own in our table, pointed at the scripted server.
    models = {"default": Model(alias="default", model="deepseek/m", key_env="A_KEY")}
    os.environ["DEEPSEEK_API_BASE"] = base
    async with Gateway(models, environment={"A_KEY": "sk-x"}, seed=1) as gateway:
        request = ChatRequest(model="default", messages=[{"role": "user", "content": "hi"}],
                              tools=(definition,), retries=0)
        try:
            answer = await gateway.chat(request)
        except CallError as error:
            return [error.kind, error.status, error.retry_after, error.may_be_billed]
    names = [call.name for call in answer.tool_calls]
    return [answer.text, names, answer.usage.calls, answer.usage.unmetered_calls]

said = {"refused": asyncio.run(ask("http://127.0.0.1:9/v1")) + [0]}
for name, reply in replies.items():
    with ScriptedModel(reply) as model:
        said[name] = asyncio.run(ask(model.api_base)) + [len(model.calls)]
print(json.dumps(said))
"""


def test_litellm_answers_calls_tools_and_fails_once() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {
        # what came of it, and how many requests it took
        "text": ["hello", [], 1, 0, 1],
        "tool": ["", ["add"], 1, 0, 1],
        "no usage": ["This answer is complete.", [], 1, 1, 1],
        # kind, status, Retry-After, whether it may have been billed
        "refused": ["down", None, None, False, 0],
        "500": ["down", 500, None, False, 1],
        "429": ["busy", 429, 7.0, False, 1],
        "502": ["down", 502, None, True, 1],
        "404": ["unknown", 404, None, False, 1],
        "400": ["rejected", 400, None, False, 1],
        "overflow": ["overflow", 400, None, False, 1],
        "page": ["malformed", None, None, True, 1],
        "cut": ["down", None, None, True, 1],
        "no choices": ["malformed", None, None, True, 1],
    }
    assert "Unclosed" not in done.stderr
