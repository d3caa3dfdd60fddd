"""The source of this installation, and the command that adds an extra to it."""

from __future__ import annotations

import json
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

DISTRIBUTION = "coterie"
"""The package's name. It is not published, so installers also need an address."""


def how_to_get(extra: str) -> str:
    """Return the command that installs an extra into this environment, with or without pip.

    Args:
        extra: Its name, as in `coterie[mcp]`.
    """
    if find_spec("pip"):
        installer = [sys.executable, "-m", "pip", "install"]
    else:
        beside = Path(sys.executable).with_name("uv")
        uv = str(beside) if beside.exists() else "uv"
        installer = [uv, "pip", "install", "--python", sys.prefix]
    return shlex.join([*installer, *_requirement(extra)])


def _requirement(extra: str) -> list[str]:
    """Return this installation's requirement with an extra, by its record of origin (PEP 610)."""
    from importlib.metadata import distribution

    origin = json.loads(distribution(DISTRIBUTION).read_text("direct_url.json") or "{}")
    address = origin.get("url", "")
    if origin.get("dir_info", {}).get("editable"):
        return ["-e", f"{unquote(urlsplit(address).path)}[{extra}]"]
    if repository := origin.get("vcs_info"):
        address = f"{repository['vcs']}+{address}@{repository['commit_id']}"
    return [f"{DISTRIBUTION}[{extra}]" + (f" @ {address}" if address else "")]
