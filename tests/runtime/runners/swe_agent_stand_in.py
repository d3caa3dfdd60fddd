"""Stands in for `sweagent.run.run_single`: the same settings, calls and hooks, no more.

Like SWE-agent, it works on the repository at the root of the file system, copies its tools to /root
once, runs the commands of the tool `bash`, and ends at `submit`.
"""

# ruff: noqa: S602, T201 - as the program that it stands in for

import json
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

import litellm
from sweagent import CONFIG_DIR  # pyright: ignore[reportMissingImports]

TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
    for name in ("bash", "submit")
]


class RunSingleConfig:
    """Settings, as keyword arguments; unknown ones are an error, as there."""

    def __init__(self, *, agent: Any, env: Any, problem_statement: Any, output_dir: str) -> None:
        assert agent["type"] == "default"
        assert agent["history_processors"] == [{"type": "last_n_observations"}]
        assert env["deployment"] == {"type": "local"}
        assert env["repo"]["type"] == "preexisting"
        assert problem_statement["type"] == "text"
        self.model = agent["model"]
        self.repository = Path("/", env["repo"]["repo_name"])
        self.problem = problem_statement
        self.output = Path(output_dir)


class Engineer:
    """An agent."""

    def __init__(self) -> None:
        self.hooks: list[Any] = []

    def add_hook(self, hook: Any) -> None:
        self.hooks.append(hook)


class RunSingle:
    """A run on one task."""

    def __init__(self, config: RunSingleConfig) -> None:
        self.config = config
        self.agent = Engineer()

    @classmethod
    def from_config(cls, config: RunSingleConfig) -> Self:
        return cls(config)

    def run(self) -> None:
        shutil.copytree(CONFIG_DIR.with_name("tools"), "/root/tools/registry")
        Path("/root/state.json").write_text("{}", "utf-8")
        self.config.output.mkdir()
        print("a lot of words, " * 10_000)
        status = self.until_submitted()
        for hook in self.agent.hooks:
            hook.on_run_done(trajectory=[], info={"exit_status": status})

    def until_submitted(self) -> str:
        messages: list[Any] = [{"role": "user", "content": self.config.problem["text"]}]
        while True:
            response: Any = litellm.completion(
                model=self.config.model["name"], messages=messages, tools=TOOLS, temperature=0.0
            )
            message = response.choices[0]["message"]
            call = message["tool_calls"][0]
            arguments = json.loads(call["function"]["arguments"])
            seen = self.step(arguments.get("command", call["function"]["name"]))
            if call["function"]["name"] == "submit":
                return "submitted"
            messages += [message, {"role": "tool", "tool_call_id": call["id"], "content": seen}]

    def step(self, command: str) -> str:
        output = "submitted" if command == "submit" else self.shell(command)
        step = SimpleNamespace(action=command, observation=output)
        for hook in self.agent.hooks:
            hook.on_action_executed(step=step)
        return step.observation

    def shell(self, command: str) -> str:
        done = subprocess.run(
            command, shell=True, cwd=self.config.repository, capture_output=True, check=False
        )
        return f"exit code {done.returncode}\n{done.stdout.decode()}"
