"""The package of our own that the tests of the benchmark play in."""

from ...benchmarks.plancraft.conftest import folder

__all__ = ["folder"]
