"""Runs git without any configuration of the user or of a repository."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path

from ...schema.values.errors import AgentError
from ..values.missing import MissingProgram

GIT_SECONDS = 120
QUIET_GIT = (
    "-c", "core.hooksPath=/dev/null",
    "-c", "core.fsmonitor=false",
    "-c", "user.name=coterie",
    "-c", "user.email=coterie@localhost",
    "-c", "commit.gpgsign=false",
)  # fmt: skip
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_TEMPLATE_DIR": "",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_ALLOW_PROTOCOL": "file",
}


def git(
    folder: Path,
    *arguments: str,
    text: str | None = None,
    limit: int | None = None,
    accepted: Collection[int] = (0,),
    environment: Mapping[str, str] | None = None,
) -> str:
    """Run git in a folder, without hooks, pagers or the user's own settings.

    Args:
        accepted: Exit codes that are no failure.

    Raises:
        AgentError: git failed, with its message, or printed too much.
    """
    command = next(word for word in arguments if not word.startswith("-"))
    with tempfile.TemporaryFile() as random:
        try:
            process = subprocess.run(
                ["git", *QUIET_GIT, *arguments],  # noqa: S607 - whichever git the host has
                cwd=folder, env={**ENVIRONMENT, **(environment or {})},
                input=(text or "").encode("utf-8", "surrogateescape"),
                stdout=random, stderr=subprocess.PIPE, timeout=GIT_SECONDS, check=False,
            )  # fmt: skip
        except FileNotFoundError:
            if not folder.is_dir():
                raise AgentError(f"git {command}: there is no folder {folder}.") from None
            raise MissingProgram("git", f"is needed ({command})") from None
        except subprocess.TimeoutExpired:
            raise AgentError(f"git {command} took more than {GIT_SECONDS} seconds.") from None
        if process.returncode not in accepted:
            words = process.stderr.decode("utf-8", "replace").strip()[-500:]
            raise AgentError(f"git {command}: {words}")
        size = random.seek(0, os.SEEK_END)
        if limit is not None and size > limit:
            raise AgentError(f"git {command} gives {size} bytes, more than the {limit} allowed.")
        random.seek(0)
        return random.read().decode("utf-8", "surrogateescape")
