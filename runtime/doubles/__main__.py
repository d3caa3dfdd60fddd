"""Serves a script file until interrupted: `python -m coterie.runtime.doubles script.yaml`."""

from __future__ import annotations

import argparse
import sys
import threading

from ...schema.values.errors import InputError
from .script_file import load_script
from .server import ScriptedModel


def main() -> int:
    """Serve the script; return 0 when the user ends it, 2 when the script does not load."""
    options = _parser().parse_args()
    try:
        script = load_script(options.script)
        with ScriptedModel(
            script, key=options.key, latency=options.latency, port=options.port
        ) as model:
            sys.stdout.write(f"{model.api_base}\n")
            sys.stdout.flush()
            threading.Event().wait()
    except KeyboardInterrupt:
        pass
    except InputError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    except OSError as error:
        sys.stderr.write(f"port {options.port} cannot be used: {error.strerror}. Try --port 0.\n")
        return InputError.exit_code
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m coterie.runtime.doubles",
        description="Play a language model: answer OpenAI-compatible requests from a script.",
    )
    parser.add_argument("script", help="YAML file with the replies")
    parser.add_argument("--port", type=int, default=0, help="0 (the default) takes a free one")
    parser.add_argument("--key", help="what clients must send as their key; default: any")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each reply")
    return parser


if __name__ == "__main__":
    sys.exit(main())
