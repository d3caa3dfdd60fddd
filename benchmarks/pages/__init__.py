"""Pages of evaluations: their figures, their samples down to the run, and how they compare."""

from .site import ResultsSite, open_results

__all__ = ["ResultsSite", "open_results"]
