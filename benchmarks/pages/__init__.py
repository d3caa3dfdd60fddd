"""Pages of evaluations: their figures, their samples down to single runs, and comparisons."""

from .site import ResultsSite, open_results

__all__ = ["ResultsSite", "open_results"]
