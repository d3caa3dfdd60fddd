"""The Python packages that commands of agents find in their jail."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

__all__ = ["host_programs"]


def host_programs(environment: Path | None = None) -> dict[str, Any]:
    """Let a jail have the host's virtual environment, to read, and its programs first.

    A repository's tests need its dependencies and pytest. They come from the virtual environment
    that is active (`VIRTUAL_ENV`), else from the one that we run in: the host's choice, as in any
    shell. Nothing is added where there is none, for the interpreter itself is always there.

    Args:
        environment: A virtual environment to have instead.

    Returns:
        `readable` and `environment`, as `Jails.open` takes them.
    """
    prefix = environment or Path(os.environ.get("VIRTUAL_ENV") or sys.prefix)
    if prefix == Path(sys.base_prefix) or not (prefix / "bin").is_dir():
        return {}
    home = _home(prefix)
    parts = (home, home.parent / "lib") if home.parent != Path(sys.base_prefix) else ()
    return {
        "readable": (prefix, *(part for part in parts if part.is_dir())),
        "environment": {
            "VIRTUAL_ENV": str(prefix),
            "PATH": f"{prefix}/bin:{home}:/usr/local/bin:/usr/bin:/bin",
        },
    }


def _home(prefix: Path) -> Path:
    """Find the folder of the interpreter that a virtual environment was made with."""
    try:
        lines = (prefix / "pyvenv.cfg").read_text(encoding="utf-8").splitlines()
    except OSError:
        return Path(sys.base_prefix) / "bin"
    settings = dict(line.split(" = ", 1) for line in lines if " = " in line)
    return Path(settings.get("home", f"{sys.base_prefix}/bin"))
