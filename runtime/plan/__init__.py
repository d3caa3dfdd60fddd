"""Compiles a team into a plan: Kahn order, levels, resolved runners, models and tools."""
