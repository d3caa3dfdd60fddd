"""Pages of a pool: its teams, where they come from, what it has learnt, and its evolutions."""

from .site import PoolSite, open_pool

__all__ = ["PoolSite", "open_pool"]
