"""Baselines: a fixed team, and the best of n."""
