"""Runs SWE-agent on the repository at /repo, inside a jail, and reports to the host.

Executed by the interpreter that has SWE-agent. Standard input and output carry messages, a line of
JSON each: the host sends the settings; then we send requests, and the host answers each in turn.
SWE-agent's own output goes to standard error.

    {"op": "chat", "request": …}    a model call, as OpenAI's chat API has it; the answer likewise
    {"op": "step", …}               a command and its output; the answer is the output to show
    {"op": "end", "status": …}      the end
"""

import ctypes
import importlib
import json
import os
import sys
from typing import Any, BinaryIO

_DUMPABLE = 4


class Host:
    """The connection to the host."""

    def __init__(self, receiving: BinaryIO, sending: BinaryIO) -> None:
        self._receiving = receiving
        self._sending = sending

    def tell(self, **message: Any) -> None:
        """Send a message, after flushing all output: the host reads that with the message."""
        sys.stdout.flush()
        self._sending.write(json.dumps(message).encode() + b"\n")
        self._sending.flush()

    def hear(self) -> Any:
        """Wait for a message; exit if the host is gone."""
        line = self._receiving.readline()
        if not line:
            os._exit(1)  # SWE-agent would continue after an exception
        return json.loads(line)

    def ask(self, **message: Any) -> Any:
        """Send a message and wait for its answer."""
        self.tell(**message)
        return self.hear()


def main() -> None:
    """Run SWE-agent until it ends."""
    host = _host()
    settings = host.hear()
    sweagent, litellm = _library("sweagent"), _library("litellm")
    run_single, yaml = _library("sweagent.run.run_single"), _library("yaml")

    def completion(**options: Any) -> Any:
        request = {name: options.get(name) for name in ("messages", "tools")}
        return litellm.ModelResponse(**host.ask(op="chat", request=request))

    litellm.completion = completion
    config: Any = yaml.safe_load((sweagent.CONFIG_DIR / "default.yaml").read_text("utf-8"))
    agent = config["agent"]
    agent["model"] = settings.pop("model")
    # The gateway knows which provider wants its cache controlled, and how.
    agent["history_processors"] = [
        item for item in agent.get("history_processors", ()) if item["type"] != "cache_control"
    ]
    run = run_single.RunSingle.from_config(run_single.RunSingleConfig(**config, **settings))
    run.agent.add_hook(_hook(host))
    run.run()


def _host() -> Host:
    """Take over the streams, so that nothing else in this process or below it can use them."""
    # The descriptors of a process that may be dumped can be opened by any other of the same user.
    ctypes.CDLL(None).prctl(_DUMPABLE, 0, 0, 0, 0)
    receiving, sending = os.dup(0), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    return Host(os.fdopen(receiving, "rb"), os.fdopen(sending, "wb"))


def _hook(host: Host) -> Any:
    """Return the hook that SWE-agent calls as it works."""
    hooks = _library("sweagent.agent.hooks.abstract")

    class Hook(hooks.AbstractAgentHook):
        def on_action_executed(self, *, step: Any) -> None:
            fields = {"command": step.action, "output": step.observation}
            step.observation = host.ask(op="step", **fields)["output"]

        def on_run_done(self, *, trajectory: Any, info: Any) -> None:
            del trajectory
            host.tell(op="end", status=info.get("exit_status"))

    return Hook()


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except (ImportError, AssertionError, RuntimeError) as error:  # SWE-agent asserts at import
        sys.exit(f"SWE-agent is not usable in {sys.executable}: {name}: {error!r}")


if __name__ == "__main__":
    main()
