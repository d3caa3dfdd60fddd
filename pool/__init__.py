"""What is kept between tasks: teams as YAML, the ledger, lineage and memory.

A pool is a folder that a person can open, diff and version. Its text is the truth; statistics,
indexes and vectors are derived from it and can be rebuilt.
"""
