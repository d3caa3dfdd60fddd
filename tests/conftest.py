"""What all tests share: how much of a promise's test is run."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--nightly", action="store_true", help="Run the tests of promises at their full size."
    )


@pytest.fixture(scope="session")
def nightly(request: pytest.FixtureRequest) -> bool:
    """Whether tests of promises run at their full size, which takes hours."""
    return bool(request.config.getoption("--nightly"))
