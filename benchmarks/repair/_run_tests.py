"""Runs tests in the jail: `python3 -I _run_tests.py RECORD FOLDER TEST…`.

A separate program, for any Python from 3.7 on that has pytest. It writes the outcome of each test
to RECORD at once, one JSON value per line, and finally pytest's exit status.

pytest is imported before the tree under test can be, and takes no settings or plugins from it. So
neither a file of the tree nor a newer release of the installed package can interfere. Conftest
files count, as in any run of pytest.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest


class Record:
    """The plugin that writes the outcomes of the tests."""

    def __init__(self, path: Path) -> None:
        self._stream = path.open("w", encoding="utf-8", buffering=1)

    def write(self, value: object) -> None:
        """Write a value on a line of its own, at once."""
        self._stream.write(json.dumps(value) + "\n")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Record a file whose tests cannot be collected."""
        if report.failed:
            self.write([report.nodeid, "ERROR"])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record a test's outcome if this phase decides it."""
        status = _status(report)
        if status:
            self.write([report.nodeid, status])


def _status(report: pytest.TestReport) -> str | None:
    """Return SWE-bench's name of a test's outcome. An unexpected pass has no name there."""
    if report.failed:
        return "FAILED" if report.when == "call" else "ERROR"
    if report.skipped:
        return "XFAIL" if hasattr(report, "wasxfail") else "SKIPPED"
    if report.when == "call" and not hasattr(report, "wasxfail"):
        return "PASSED"
    return None


def main(record_path: str, folder: str, tests: list[str]) -> int:
    """Run the tests in a folder; return pytest's exit status."""
    record = Record(Path(record_path))
    places = [str(place) for place in (Path(folder, "src"), Path(folder)) if place.is_dir()]
    sys.path[:0] = places
    os.environ["PYTHONPATH"] = os.pathsep.join(places)  # for programs that tests start
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    plain = ["-q", "--tb=short", "-p", "no:cacheprovider", "-c", os.devnull]
    inside = ["--rootdir", folder, "--confcutdir", folder]
    status = int(pytest.main([*plain, *inside, *tests], plugins=[record]))
    record.write(status)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
