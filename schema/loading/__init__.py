"""Reads teams, agents, tasks, recipes and the host's files: all problems at once, or a value."""
