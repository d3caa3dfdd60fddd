"""P15: no secret of the host is in anything that a run writes.

Secrets are planted where a host has them, and come back where they must not: in answers of models,
output of tools, files, code that agents run, and errors of providers. The real commands run, and
then every byte below their folder is searched, also decoded, and all that they printed.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime.command.run import main as mas_run
from coterie.runtime.doubles import Reply, ScriptedModel, message_text

from ..jails import needs_jail
from ..leaks import leaks, written
from ..support.commands import invoked_in
from .secret_host import DEPTH, Host, Secrets, forms


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(folder=tmp_path, secrets=Secrets.drawn(seed=15))


TOOLS = ["leaky.tell", "leaky.fail", "leaky.keep", "leaky.recite", "read_file"]
AGENTS: Mapping[str, Mapping[str, Any]] = {
    "writer": {"agent_type": "LLM"},
    "coder": {"agent_type": "CodeAgent", "tools": TOOLS},
    "caller": {"agent_type": "ToolCallingAgent", "tools": TOOLS, "max_steps": 20},
    "shell": {"agent_type": "DefaultAgent"},
}


def team_of(*names: str) -> dict[str, Any]:
    """These agents, and one that puts all that they said together."""
    agents = {name: {**AGENTS[name], "prompt": f"You are [{name}]."} for name in names}
    agents["all"] = {"agent_type": "Function", "function": "concat"}
    execution = {"max_retries": 1, "on_error": "degrade"}
    reports = {name: ["all"] for name in names}
    return {
        "name": "leaky",
        "agents": agents,
        "topology": {"reports_to": reports},
        "execution": execution,
    }


def parts(secret: str, size: int = 10) -> list[str]:
    """A secret in pieces, of which none tells much."""
    return [secret[start : start + size] for start in range(0, len(secret), size)]


def joined(secret: str) -> str:
    """Python for a secret whose pieces stand apart."""
    return f"({' + '.join(map(repr, parts(secret)))})"


def answers(secrets: Secrets) -> dict[str, list[Reply]]:
    """What the model says to each agent: secrets in every form, and code that says more."""
    texts = [text for secret in (secrets.key, secrets.token) for text in forms(secret)]
    code = (
        "import base64, json, urllib.parse\n"
        f"for secret in ({joined(secrets.key)}, {joined(secrets.token)}):\n"
        "    print(secret, repr(secret), json.dumps(json.dumps(secret)))\n"
        "    print(urllib.parse.quote(secret, safe=''), secret.encode().hex())\n"
        "    print(base64.encodebytes(b'-' * 50 + secret.encode()).decode())\n"
        "open('left.txt', 'w').write(secret)\n"
    )
    key, token, apart = secrets.key, secrets.token, "''".join(parts(secrets.key))
    shell = (
        f'K={apart}; echo $K; printf %s "user:$K" | base64; '
        "printf %s $K | od -An -tx1 | tr -d ' \\n'; echo $K > left.txt; ls /$K"
    )
    return {
        "[writer]": [Reply(text="\n".join(texts))],
        "[coder]": [
            Reply.code("print(leaky_tell())\nprint(read_file(path='notes.txt'))"),
            Reply.code(code),
            Reply.code(f"raise ValueError({joined(token)})"),
            Reply.code("leaky_fail()"),
            Reply.code(f"final_answer({{'it is': {joined(key)}, 'or': {joined(token)}}})"),
        ],
        "[caller]": [
            Reply.tool("leaky_tell"),
            Reply.tool("leaky_fail"),
            Reply.tool("leaky_keep", part="\n".join(texts)),
            *(Reply.tool("leaky_keep", part=part) for part in parts(key)),
            Reply.tool("leaky_recite"),
            Reply.tool("read_file", path="notes.txt"),
            Reply.tool("read_file", path=key),
            Reply.tool(key, **{key: token}),
            Reply.tool("final_answer", answer=json.dumps({"key": key, "token": forms(token)})),
        ],
        "[shell]": [
            Reply.bash(shell),
            Reply.bash(f"echo '{key}' > whole.txt; cat whole.txt notes.txt"),
            Reply.bash(f"echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT; echo {apart}"),
        ],
    }


def said_by(replies: Mapping[str, Sequence[Reply]]) -> bytes:
    texts = [reply.text or repr(reply.tool_calls) for each in replies.values() for reply in each]
    return "\n".join(texts).encode()


@needs_jail
def test_p15_no_secret_is_in_what_agents_of_every_backend_leave(
    tmp_path: Path, nightly: bool
) -> None:
    rounds = 50 if nightly else 1
    searched = 0
    for seed in range(rounds):
        folder = tmp_path / str(seed)
        folder.mkdir()
        searched += searched_after_a_run(Host(folder=folder, secrets=Secrets.drawn(seed)))
    assert searched >= rounds * 5 * 9


def searched_after_a_run(host: Host) -> int:
    """Run agents of every backend, and again from the journal; count secrets times files."""
    secrets = host.secrets
    replies = answers(secrets)
    pairs = leaks(said_by(replies), *secrets.all(), depth=DEPTH)
    assert {secret for secret, _ in pairs} == {secrets.key, secrets.token}
    assert len(pairs) >= 12, "the model tells what it should not, in many forms"
    host.put("notes.txt", f"{secrets.token}\n{secrets.password}\n{forms(secrets.key)[6]}\n")
    host.put("task.json", {"id": "t", "query": "What is it?", "files": ["notes.txt"]})
    host.put("team.yaml", team_of(*AGENTS))
    with ScriptedModel(replies, key=secrets.key) as model:  # pyright: ignore[reportArgumentType]
        host.offers(model)
        done = host.mas_run("team.yaml", "task.json", "--cache", "cache")
        calls, sent = model.calls, "".join(message_text(call.body or {}) for call in model.calls)
    assert done.code == 0, done.text.decode()
    assert len(calls) == sum(len(each) for each in replies.values()), "all of it was said"
    assert host.found(done) == []
    assert done.marks > 200
    names = {path.name for path, _ in done.files}
    assert {"events.jsonl", "journal.log", "result.json", "task.json", "team.yaml"} <= names
    assert secrets.pin not in sent
    (run,) = (host.work / "runs").iterdir()
    for words in (["--resume", str(run)], ["--replay", str(run), "--verify"]):
        with ScriptedModel("no more", key=secrets.key) as model:
            host.offers(model)
            again = host.mas_run(*words)
            assert model.calls == ()
        assert again.code == 0, again.text.decode()
        assert host.found(again) == []
    return len(secrets.all()) * len(done.files)


def odd_completion(secrets: Secrets) -> Reply:
    """An answer with secrets in every field that a provider fills in."""
    key = secrets.key
    call = {"id": key, "type": key, "function": {"name": key, "arguments": {key: key}}}
    message = {"role": key, "content": "well", "tool_calls": [call], key: key}
    usage = {"prompt_tokens": key, "completion_tokens": 1, key: secrets.token}
    choice = {"finish_reason": key, "message": message}
    return Reply(body=json.dumps({"id": key, "model": key, "choices": [choice], "usage": usage}))


ECHOES: Mapping[str, Callable[[Secrets], list[Reply]]] = {
    "refused": lambda s: [Reply.error(401, message=f"no user has the key Bearer {s.key}")],
    "busy": lambda s: [
        Reply.error(503, message=f"try again, {s.key} and {forms(s.token)[6]}"),
        Reply.error(400, message=f"no, {json.dumps(forms(s.token))}"),
    ],
    "page": lambda s: [Reply(status=403, body=f"<pre>Authorization: Bearer {s.key}</pre>")],
    "no_json": lambda s: [Reply(body=f"Authorization: Bearer {s.key}")] * 2,
    "no_choices": lambda s: [Reply(body=json.dumps({"key": s.key, "token": s.token}))] * 2,
    "nothing": lambda s: [Reply(text="", finish_reason=s.key)] * 2,
    "cut_words": lambda s: [Reply.error(400, message=f"{'x' * 470} {s.key}")],
    "cut_page": lambda s: [Reply(status=400, body=f"{'x' * 180} {s.key}")],
    "cut_answer": lambda s: [Reply(body=json.dumps({"a" * 20: s.key}))] * 2,
    "cut_text": lambda s: [Reply(body=f"{'x' * 30}{s.key}")] * 2,
    "fields": lambda s: [odd_completion(s)] * 2,
    "header": lambda s: [Reply.error(429, message="later", retry_after=s.key)] * 2,
    "long": lambda s: [Reply(text="\n".join(f"{n} {s.key}" for n in range(3_000)))],
}


def test_p15_no_secret_that_a_provider_sends_back_is_shown_or_kept(host: Host) -> None:
    replies = {f"[{name}]": echo(host.secrets) for name, echo in ECHOES.items()}
    team = team_of("writer")
    del team["agents"]["writer"]
    for name in ECHOES:
        team["agents"][name] = {"prompt": f"You are [{name}].", "model_id": name}
    team["topology"] = {"reports_to": {name: ["all"] for name in ECHOES}, "output": "all"}
    host.put("team.yaml", team)
    with ScriptedModel(replies, key=host.secrets.key) as model:  # pyright: ignore[reportArgumentType]
        host.offers(model, *ECHOES)
        done = host.mas_run("team.yaml", "-q", "What is it?")
        assert all(call.authorized for call in model.calls)
        assert len(model.calls) == sum(len(each) for each in replies.values())
    assert b"Traceback" not in done.text
    assert all(name.encode() in done.text for name in ECHOES)
    assert len(done.files) >= 6
    assert done.marks > 3_000
    assert host.found(done) == []


def test_p15_no_secret_is_shown_by_what_goes_wrong_before_a_run(host: Host) -> None:
    secrets = host.secrets
    host.put("team.yaml", team_of("caller"))
    with ScriptedModel("well", key=secrets.key) as model:
        host.offers(model, broken=True)
        broken = host.mas_run("team.yaml", "-q", "What is it?")
        assert model.calls == ()
    assert broken.code == 2
    assert b"cannot log in with [secret] or [secret]" in broken.text
    assert host.found(broken) == []
    host.put("team.yaml", team_of("writer"))
    host.environment["OPENAI_BASE_URL"] = f"http://user:{secrets.password}@127.0.0.1:9/v1"
    down = host.mas_run("team.yaml", "-q", "What is it?", "--model", "openai/m")
    assert down.code == 2
    assert b"OPENAI_BASE_URL" in down.text
    assert host.found(down) == []


LIKE_A_KEY = "sk-proj-" + "4bC8dE2fG6hJ0kL3mN7pQ"


@pytest.mark.parametrize(
    "place", ["prompt", "role", "constitution", "prompt file", "question", "option"]
)
def test_p15_a_key_in_a_file_is_refused_and_not_shown(host: Host, place: str) -> None:
    team, task, text = team_of("writer"), {"id": "t", "query": "q"}, f"Use {LIKE_A_KEY}."
    words = ["team.yaml", "task.json"]
    match place:
        case "question":
            task["query"] = text
        case "option":
            words = ["team.yaml", "--query", text]
        case "constitution":
            team["constitution"] = text
        case "prompt file":
            team["agents"]["writer"]["prompt"] = "use_it"
            (host.work / "prompts").mkdir()
            host.put("prompts/use_it.md", text)
        case _:
            team["agents"]["writer"][place] = text
    host.put("team.yaml", team)
    host.put("task.json", task)
    with ScriptedModel("well", key=host.secrets.key) as model:
        host.offers(model)
        before = dict(written(host.folder))
        done = invoked_in(host.work, mas_run, words, "mas-run").ended(2)
        assert model.calls == ()
    assert "this looks like a secret key" in done.err
    assert dict(written(host.folder)) == before
    assert leaks(f"{done.out}{done.err}".encode(), LIKE_A_KEY) == set()


@needs_jail
def test_p15_agents_see_nothing_of_the_hosts_environment(host: Host) -> None:
    look = (
        "for place in /proc/[0-9]*/environ /proc/self/task/*/environ; do tr '\\0' '\\n' < $place; "
        "done; env; set; cat ~/.env /root/.env .env ../.env; ls -la $HOME /tmp; mount"
    )
    code = (
        "import os, pathlib, subprocess\n"
        "print(dict(os.environ))\n"
        "for place in pathlib.Path('/proc').glob('[0-9]*/environ'):\n"
        "    try: print(place.read_bytes())\n"
        "    except OSError as error: print(error)\n"
        f"print(subprocess.run(['/bin/sh', '-c', {look!r}], capture_output=True, text=True))\n"
    )
    replies = {
        "[coder]": [Reply.code(code), Reply.code("final_answer('seen')")],
        "[shell]": [
            Reply.bash(look),
            Reply.bash("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT; echo seen"),
        ],
    }
    host.put("team.yaml", team_of("coder", "shell"))
    with ScriptedModel(replies, key=host.secrets.key) as model:  # pyright: ignore[reportArgumentType]
        host.offers(model)
        done = host.run("-m", "coterie.schema.command", "run", "team.yaml", "-q", "What is it?")
        sent = "".join(message_text(call.body or {}) for call in model.calls).encode()
    assert done.code == 0, done.text.decode()
    assert sent.count(b"PATH=") >= 2, "agents see an environment of their own"
    assert leaks(sent, *host.secrets.all()) == set(), "no agent saw a secret, even to be taken out"
    for name in ("MY_MODEL", "BILLING_TOKEN", "DATABASE", "LEAKY_PIN", "FROM_DOTENV", "MAS_HOME"):
        assert name.encode() not in sent
    assert host.found(done) == []


DRIVER = """
import json, os, sys
opened = []
def hook(event, arguments):
    if event == "open" and isinstance(arguments[0], str) and arguments[0].endswith(".env"):
        opened.append(arguments[0])
before = dict(os.environ)
sys.addaudithook(hook)
from coterie.runtime.command.run import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
import qdrant_client
changed = sorted(name for name in os.environ if os.environ[name] != before.get(name))
here = [name for name in LIBRARIES if name in sys.modules]
print(json.dumps({"changed": changed, "opened": opened, "here": here}), file=sys.stderr)
"""
LIBRARIES = ("dotenv", "litellm", "mcp", "minisweagent", "qdrant_client", "smolagents")


@needs_jail
@pytest.mark.nightly
@pytest.mark.parametrize("started", ["from a file", "in a REPL"])
def test_p15_no_library_reads_the_env_file_of_the_project(host: Host, started: str) -> None:
    """As where the environment is a folder of the project, and as where one types it in.

    On every change, runtime/gateway/test_litellm_client.py shows it of litellm alone.
    The provider that litellm calls sends back the key that it got.
    """
    packages = host.folder / "project" / ".venv" / "lib"
    packages.mkdir(parents=True)
    for name in LIBRARIES:
        spec = find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        (packages / name).symlink_to(Path(spec.origin).parent)
    host.environment |= {"PYTHONPATH": str(packages), "LITELLM_LOG": "DEBUG"}
    team = team_of("writer", "caller", "shell")
    team["agents"]["writer"]["model_id"] = "other"
    host.put("team.yaml", team)
    driver = DRIVER.replace("LIBRARIES", repr(LIBRARIES))
    host.put("driver.py", driver)
    text = f"no user has the key {host.secrets.key} {forms(host.secrets.key)[6]}"
    script = {
        "[writer]": Reply.error(401, message=text),
        "[caller]": Reply.tool("final_answer", answer=7),
        "[shell]": Reply.bash("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT; echo 7"),
    }
    with ScriptedModel(script, key=host.secrets.key) as model:  # pyright: ignore[reportArgumentType]
        host.offers(model)
        models = json.loads((host.work / "models.yaml").read_text())
        models["models"]["other"] = {"model": "ovhcloud/m", "key_env": "MY_MODEL"}
        host.put("models.yaml", models)
        host.environment["OVHCLOUD_API_BASE"] = model.api_base
        done = host.run(
            *(["driver.py"] if started == "from a file" else ["-c", driver]),
            *("team.yaml", "-q", "What is it?"),
        )
        assert len(model.calls) == 3, done.text.decode()
    report = json.loads(done.text.decode().strip().splitlines()[-1])
    assert report["here"] == list(LIBRARIES)
    assert report["opened"] == []
    assert not {"FROM_DOTENV", "OPENAI_API_KEY"} & set(report["changed"])
    assert b"AuthenticationError" in done.text
    assert done.marks >= 4
    assert host.found(done) == []
