"""How to get a package that comes with an extra, said where it is missing."""

from __future__ import annotations

import sys
from importlib.util import find_spec

__all__ = ["how_to_get"]


def how_to_get(extra: str) -> str:
    """Give the command that installs an extra into this environment, be there a pip in it or not.

    Args:
        extra: Its name, as in `coterie[mcp]`.
    """
    command = f"pip install 'coterie[{extra}]'"
    return command if find_spec("pip") else f"uv {command} --python {sys.prefix}"
