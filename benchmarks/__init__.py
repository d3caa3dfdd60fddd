"""Adapters of public benchmarks, baselines, and comparisons.

An adapter provides tasks, tools, a scorer and an aggregation that agree with the original to the
last verdict; the loop that runs them exists once.
"""
