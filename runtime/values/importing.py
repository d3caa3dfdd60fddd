"""Import libraries that are large, or that read and change the environment on import."""

from __future__ import annotations

import contextlib
import gc
import os
import threading
from collections.abc import Generator

_ALONE = threading.RLock()


@contextlib.contextmanager
def without_collecting() -> Generator[None]:
    """Collect no garbage in a block that creates lasting objects, such as a large import.

    Each collection would search all of them without effect.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextlib.contextmanager
def quiet_environment(**variables: str) -> Generator[None]:
    """Set environment variables for a block, then restore the environment.

    python-dotenv loads no `.env` file in the block. If its version is too old to be disabled, its
    variables are gone after the block.
    """
    with _ALONE:
        before = dict(os.environ)
        os.environ.update({"PYTHON_DOTENV_DISABLED": "1", **variables})
        try:
            yield
        finally:
            for name in os.environ.keys() - before.keys():
                del os.environ[name]
            for name, value in before.items():
                if os.environ.get(name) != value:
                    os.environ[name] = value
