"""Stands in for `sweagent.run.run_single`: the same settings, model calls and record, no more.

It works on a copy of the repository, runs the commands of the tool `bash`, and ends at `submit`.
"""

# ruff: noqa: S310, S602, T201 - as the program that it stands in for

from __future__ import annotations

import json
import shutil
import subprocess
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Self

TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
    for name in ("bash", "submit")
]


class RunSingleConfig:
    """Settings, as keyword arguments; unknown ones are an error, as there."""

    def __init__(self, *, agent: Any, env: Any, problem_statement: Any, output_dir: str) -> None:
        assert agent["type"] == "default"
        assert env["deployment"] == {"type": "local"}
        assert env["repo"]["type"] == "local"
        assert problem_statement["type"] == "text"
        self.model = agent["model"]
        self.repository = Path(env["repo"]["path"])
        self.problem = problem_statement
        self.output = Path(output_dir)


class RunSingle:
    """A run on one task."""

    def __init__(self, config: RunSingleConfig) -> None:
        self.config = config

    @classmethod
    def from_config(cls, config: RunSingleConfig) -> Self:
        return cls(config)

    def run(self) -> None:
        repository = self.config.repository
        if git(repository, "status", "--porcelain"):
            raise ValueError("the repository is dirty")
        # SWE-agent copies to the root of the file system, which tests leave alone.
        copy = repository.with_name("copy")
        shutil.copytree(repository, copy)
        status, submission = self.until_submitted(copy)
        folder = self.config.output / self.config.problem["id"]
        folder.mkdir(parents=True)
        record = {"info": {"exit_status": status, "submission": submission}, "trajectory": []}
        (folder / f"{self.config.problem['id']}.traj").write_text(json.dumps(record), "utf-8")
        print("a lot of words")

    def until_submitted(self, copy: Path) -> tuple[str, str | None]:
        messages: list[Any] = [{"role": "user", "content": self.config.problem["text"]}]
        while True:
            try:
                message = self.ask(messages)
            except urllib.error.HTTPError as error:
                if error.code != 401:  # SWE-agent would try again
                    raise
                return "exit_error", None
            call = message["tool_calls"][0]
            if call["function"]["name"] == "submit":
                git(copy, "add", "--all")
                return "submitted", git(copy, "diff", "--cached", "HEAD")
            command = json.loads(call["function"]["arguments"])["command"]
            done = subprocess.run(command, shell=True, cwd=copy, check=False)
            text = f"exit code {done.returncode}"
            messages += [message, {"role": "tool", "tool_call_id": call["id"], "content": text}]

    def ask(self, messages: list[Any]) -> Any:
        model = self.config.model
        request = urllib.request.Request(
            f"{model['api_base']}/chat/completions",
            json.dumps(
                {"model": model["name"], "messages": messages, "tools": TOOLS, "n": 1}
            ).encode(),
            {"Authorization": f"Bearer {model['api_key']}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request) as response:
            return json.load(response)["choices"][0]["message"]


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, text=True, check=True
    ).stdout
