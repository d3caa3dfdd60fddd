"""The memory: entries found by the likeness of tasks, in this process or on a Qdrant server."""
