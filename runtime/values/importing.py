"""Importing libraries that are large, or read and change the environment while imported."""

from __future__ import annotations

import contextlib
import gc
import os
import threading
from collections.abc import Generator

_ALONE = threading.RLock()


@contextlib.contextmanager
def without_collecting() -> Generator[None]:
    """Collect no garbage for a block that makes objects to keep, such as a large import.

    They would all be searched again and again for nothing.
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
    """Set environment variables for a block, then put the environment back as it was.

    No `.env` file is loaded in the block by python-dotenv. Where its version is too old to be
    told, what it loaded is gone after the block.
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
