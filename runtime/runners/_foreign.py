"""The boundary to agent libraries, whose errors become failures of the agent."""

from __future__ import annotations

import contextlib
from collections.abc import Generator

from ...schema.values.errors import AgentError, CoterieError
from ._steps import shortened


@contextlib.contextmanager
def foreign_errors(library: str) -> Generator[None]:
    """Convert a library's exceptions in a block. A model's text can upset any library.

    Raises:
        CoterieError: One of ours, which the library raised unchanged or wrapped in its own.
        AgentError: Any other exception.
    """
    try:
        yield
    except CoterieError:
        raise
    except Exception as error:
        if isinstance(error.__cause__, CoterieError):
            raise error.__cause__ from None
        text = shortened(str(error))
        raise AgentError(f"{library} failed: {type(error).__name__}: {text}") from error
