"""The other providers: litellm inside our one layer of retries, usage and errors."""

import json
from importlib.util import find_spec
from pathlib import Path

from ...support.processes import importing, python

SCRIPT = """
import asyncio, json, os, sys
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.gateway import CallError, ChatRequest, Gateway
from coterie.schema import Model

assert "litellm" not in sys.modules
places, environments = set(), []

def watched(event, arguments):
    if event == "open" and str(arguments[0]).endswith(".env"):
        environments.append(arguments[0])
    if event == "socket.getaddrinfo":
        places.add(str(arguments[0]))
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        places.add(arguments[1][0])

sys.addaudithook(watched)
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

async def ask(base, name="ovhcloud/m", key="A_KEY", **more):
    # A provider that has no endpoint of its own in our table, pointed at the scripted server.
    models = {"default": Model(alias="default", model=name, key_env=key, **more)}
    os.environ["OVHCLOUD_API_BASE"] = base
    async with Gateway(models, environment={"A_KEY": "sk-x"}, seed=1) as gateway:
        request = ChatRequest(model="default", messages=[{"role": "user", "content": "hi"}],
                              tools=(definition,), retries=0)
        try:
            answer = await gateway.chat(request)
        except CallError as error:
            return [error.kind, error.status, error.retry_after, error.may_be_billed]
    names = [call.name for call in answer.tool_calls]
    adapted = [answer.adapted] if answer.adapted else []
    return [answer.text, names, answer.usage.calls, answer.usage.unmetered_calls, *adapted]

said = {"refused": asyncio.run(ask("http://127.0.0.1:9/v1")) + [0]}
# What litellm refuses by itself was never sent.
said["no key"] = asyncio.run(ask("", "snowflake/m", None)) + [0]
said["no package"] = asyncio.run(ask("", "databricks/m", None)) + [0]
with ScriptedModel("hello") as model:
    settings = {"effort": "low", "body": {"top_k": 4}, "headers": {"X-Title": "me"}}
    came = asyncio.run(ask(model.api_base, **settings))
    [call] = model.calls
    sent = [call.body.get("reasoning_effort"), call.body["top_k"], call.headers["x-title"]]
    said["settings"] = came + sent
for name, reply in replies.items():
    with ScriptedModel(reply) as model:
        said[name] = asyncio.run(ask(model.api_base)) + [len(model.calls)]
# What it does on the first call of a Claude.
sys.modules["litellm.anthropic_beta_headers_manager"]._load_beta_headers_config()
said["places"] = sorted(places)
said["environments"] = [environments, "FROM_DOTENV" in os.environ]
print(json.dumps(said))
"""


def test_litellm_answers_calls_tools_and_fails_once(tmp_path: Path) -> None:
    """The environment is in a folder of the project, where libraries look for `.env`."""
    spec = find_spec("litellm")
    assert spec is not None
    assert spec.origin is not None
    packages = tmp_path / ".venv" / "lib"
    packages.mkdir(parents=True)
    (packages / "litellm").symlink_to(Path(spec.origin).parent)
    (tmp_path / ".env").write_text("FROM_DOTENV=x\n")
    (tmp_path / "asked.py").write_text(SCRIPT)
    done = python("asked.py", cwd=tmp_path, env=importing(packages))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "places": ["127.0.0.1"],
        # what was read of the project's .env, and whether its variables are there
        "environments": [[], False],
        # what came of it, and how many requests it took
        "text": ["hello", [], 1, 0, 1],
        "tool": ["", ["add"], 1, 0, 1],
        "no usage": ["This answer is complete.", [], 1, 1, 1],
        # what litellm would have dropped in silence, and what it was told to add
        "settings": ["hello", [], 1, 0, {"reasoning_effort": "left out"}, None, 4, "me"],
        # kind, status, Retry-After, whether it may have been billed
        "refused": ["down", None, None, False, 0],
        "no key": ["denied", None, None, False, 0],
        "no package": ["denied", None, None, False, 0],
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
