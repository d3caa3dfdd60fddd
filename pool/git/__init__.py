"""Pools under git: merging two copies, comparing revisions, finding and repairing damage."""
