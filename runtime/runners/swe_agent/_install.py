"""An installed SWE-agent: its location, and whether we can run it."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ....schema.values.errors import AgentError
from ....schema.values.values import is_mapping
from ..programs import host_programs

VARIABLE = "MAS_SWE_AGENT_PYTHON"
HOW = (
    "Install SWE-agent 1.1 or later from its repository into a virtual environment of its own:\n"
    "    git clone https://github.com/SWE-agent/SWE-agent\n"
    "    python3 -m venv SWE-agent/.venv\n"
    "    SWE-agent/.venv/bin/pip install --editable SWE-agent\n"
    f"    export {VARIABLE}=$PWD/SWE-agent/.venv/bin/python"
)
SHORTLY = (
    "Install SWE-agent 1.1 or later from its repository (pip install --editable) into a virtual"
    f" environment of its own, and set {VARIABLE} to that environment's python."
)
OLDEST = {"sweagent": (1, 1), "swe-rex": (1, 2)}
PROBE = Path(__file__).with_name("_probe.py")
PROBE_SECONDS = 60
PARTS = ("config", "tools")
"""Folders beside SWE-agent's package that it reads. Other folders there may hold keys."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Installation:
    """An environment that has SWE-agent.

    Attributes:
        python: Its interpreter, as named by the user.
        versions: Those of `sweagent` and `swe-rex`.
        readable: The paths that its jail must contain.
        home: The folder with SWE-agent's package and its other folders.
    """

    python: Path
    versions: dict[str, str]
    readable: tuple[Path, ...]
    home: Path

    @classmethod
    def detect(cls) -> Installation:
        """Probe the interpreter in `MAS_SWE_AGENT_PYTHON`; takes some tenths of a second.

        Raises:
            AgentError: The variable names no interpreter, or it has no SWE-agent or one that is too
                old.
        """
        python = Path(os.environ.get(VARIABLE, ""))
        fields = _answer(python)
        if missing := [name for name, folder in fields["packages"].items() if folder is None]:
            raise AgentError(f"{python} has no {' and no '.join(missing)}. {HOW}")
        if wrong := list(_too_old(fields["versions"])):
            raise AgentError(f"{python} has {' and '.join(wrong)}. {HOW}")
        packages = {name: Path(folder) for name, folder in fields["packages"].items()}
        home = packages["sweagent"].parent
        if lost := [name for name in PARTS if not (home / name).is_dir()]:
            raise AgentError(
                f"the SWE-agent of {python} has no folder {home / lost[0]}: it was not installed"
                f" with --editable. {HOW}"
            )
        parts = (home / name for name in PARTS)
        return cls(
            python=python,
            versions=fields["versions"],
            readable=(*_programs(python, fields), *packages.values(), *parts),
            home=home,
        )

    def __str__(self) -> str:
        named = (f"{name} {version}" for name, version in self.versions.items())
        return f"{', '.join(named)} in {self.python}"


def _answer(python: Path) -> dict[str, Any]:
    """Run the probe."""
    # Its own variables could lead the interpreter to other packages than those in its jail.
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    try:
        process = subprocess.run(
            [python, PROBE], capture_output=True, check=True, timeout=PROBE_SECONDS, text=True,
            env=environment, cwd="/",
        )  # fmt: skip
        result = json.loads(process.stdout)
    except subprocess.CalledProcessError as error:
        words = error.stderr.strip()[-500:]
        raise AgentError(f"{VARIABLE} is {str(python)!r}, which failed: {words} {HOW}") from None
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise AgentError(
            f"{VARIABLE} is {str(python)!r}, and not a Python that can be asked: {error}. {HOW}"
        ) from None
    if not is_mapping(result) or not {"packages", "versions", "prefix"} <= result.keys():
        raise AgentError(f"{VARIABLE} is {str(python)!r}, and not a Python. {HOW}")
    return dict(result)


def _too_old(versions: dict[str, str | None]) -> Iterator[str]:
    for name, oldest in OLDEST.items():
        version = versions[name] or "0"
        if tuple(map(int, re.findall(r"\d+", version)[:2])) < oldest:
            yield f"{name} {version}, and {'.'.join(map(str, oldest))} or later is needed"


def _programs(python: Path, installed: dict[str, Any]) -> Iterator[Path]:
    """Yield the folders of the interpreter, its packages, and its libraries."""
    yield Path(installed["prefix"])
    yield from host_programs(Path(installed["prefix"])).readable
    base = Path(installed["base"])
    yield from (base / name for name in ("bin", "lib") if (base / name).is_dir())
    yield from {python.parent, Path(installed["interpreter"]).parent}
