"""Comparisons of evaluations: paired differences, tables, merged shards, JUnit."""
