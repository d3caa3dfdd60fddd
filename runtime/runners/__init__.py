"""Backends: each runs one agent once and gives back one type of result.

A backend is a class with the methods of `Runner`, registered under its name in the entry-point
group `coterie.runners`. The evolution code never learns which one ran.
"""

from ..agents.runner import AgentClient, AgentReport, AgentResult, Assignment, Runner

__all__ = ["AgentClient", "AgentReport", "AgentResult", "Assignment", "Runner"]
