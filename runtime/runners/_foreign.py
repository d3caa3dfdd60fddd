"""The boundary to agent libraries, whose errors become failures of the agent."""

from __future__ import annotations

import contextlib
from collections.abc import Generator

from ...schema.values.errors import AgentError, CoterieError
from ._steps import shortened


@contextlib.contextmanager
def foreign_errors(library: str) -> Generator[None]:
    """Map what a library raises in a block. Text of a model can upset any of them.

    Raises:
        CoterieError: One of ours, which the library let pass or wrapped in one of its own.
        AgentError: Anything else that it raised.
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
