"""The memory: lessons found by task similarity, in this process or on a Qdrant server."""
