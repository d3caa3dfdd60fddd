"""How long hypothesis searches: always the same cases, unless a longer search is asked for.

`pytest --hypothesis-profile=search tests/schema` looks for new ones.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("suite", deadline=None, derandomize=True, max_examples=30)
settings.register_profile(
    "search", deadline=None, max_examples=3000, suppress_health_check=list(HealthCheck)
)


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("--hypothesis-profile"):
        settings.load_profile("suite")
