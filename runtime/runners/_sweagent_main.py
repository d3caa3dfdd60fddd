"""Runs SWE-agent on one task.

Executed by the interpreter that has SWE-agent, as `python _sweagent_main.py SETTINGS`. SETTINGS is
a JSON file with what differs from SWE-agent's default configuration: `model`, and top-level parts
of the configuration.
"""

import importlib
import json
import re
import sys
from pathlib import Path
from typing import Any

OLDEST = (1, 1)


def main(settings: Path) -> None:
    """Run SWE-agent; it writes its record to the folder that the settings name."""
    sweagent = _library("sweagent")
    _library("swerex")
    version = str(getattr(sweagent, "__version__", "0"))
    if tuple(map(int, re.findall(r"\d+", version)[:2])) < OLDEST:
        sys.exit(f"SWE-agent {version} is too old: 1.1 or later is needed.")
    yaml = _library("yaml")
    run_single = _library("sweagent.run.run_single")
    config: Any = yaml.safe_load((sweagent.CONFIG_DIR / "default.yaml").read_text("utf-8"))
    ours: Any = json.loads(settings.read_text("utf-8"))
    config["agent"]["model"] = ours.pop("model")
    config |= ours
    run_single.RunSingle.from_config(run_single.RunSingleConfig(**config)).run()


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except (ImportError, AssertionError, RuntimeError) as error:  # SWE-agent asserts at import
        sys.exit(f"SWE-agent is not usable in {sys.executable}: {name}: {error!r}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
