"""Map the command options in messages to arguments of the Python functions."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager

from ...schema.values.errors import CoterieError

ARGUMENTS: Mapping[str, str] = {
    "--approve": "approve=[…]",
    "--budget": "budget=…",
    "--cache": "cache=…",
    "--embedder": "embedder=…",
    "--model": "model=…",
    "--models": "models=…",
    "--pool": "pool=…",
    "--query": "query=…",
    "--replay": "coterie.replay(folder)",
    "--resume": "coterie.resume(folder)",
    "--seed": "seed=…",
    "--unsafe-local": "unsafe_local=True",
}
_OPTION = re.compile(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*")


@contextmanager
def naming_arguments() -> Generator[None]:
    """Add a note to an error that gives the argument for each option in its message.

    Raises:
        CoterieError: The error, with the note, which tracebacks show.
    """
    try:
        yield
    except CoterieError as error:
        options = dict.fromkeys(_OPTION.findall(str(error)))
        named = [f"{option} is {ARGUMENTS[option]}" for option in options if option in ARGUMENTS]
        if named and not hasattr(error, "__notes__"):
            error.add_note(f"From Python, {', '.join(named)}.")
        raise
