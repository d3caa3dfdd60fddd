"""Prints where an environment has SWE-agent. Executed by that environment's interpreter.

It prints one JSON object and imports nothing of SWE-agent, which takes seconds and may fail.
"""

import importlib.metadata
import importlib.util
import json
import sys
from pathlib import Path


def main() -> None:
    """Print what a jail must contain for this interpreter to run SWE-agent."""
    packages = {name: _folder(name) for name in ("sweagent", "swerex", "litellm")}
    fields = {
        "prefix": sys.prefix,
        "base": sys.base_prefix,
        "interpreter": str(Path(sys.executable).resolve()),
        "packages": packages,
        "versions": {name: _version(name) for name in ("sweagent", "swe-rex")},
    }
    print(json.dumps(fields))  # noqa: T201 - the answer


def _folder(package: str) -> str | None:
    spec = importlib.util.find_spec(package)
    return str(Path(spec.origin).resolve().parent) if spec and spec.origin else None


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


if __name__ == "__main__":
    main()
