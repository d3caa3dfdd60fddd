"""Scorers, votes, and functions that stand in for a model call."""
