"""The workplace of our own that the tests of the benchmark work in."""

from ...benchmarks.workbench.conftest import folder

__all__ = ["folder"]
