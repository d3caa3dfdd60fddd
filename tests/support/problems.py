"""What is wrong with a file, as its reader reports it."""

from collections.abc import Callable
from typing import Any

import pytest

from coterie.schema import ConfigError


def problems_of(load: Callable[..., Any], *words: Any, **options: Any) -> list[str]:
    """Return the problems with which a call is refused, a line each."""
    with pytest.raises(ConfigError) as caught:
        load(*words, **options)
    return [str(problem) for problem in caught.value.problems]
