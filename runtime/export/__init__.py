"""Teams as files of other programs, for `mas dev export`: LangGraph, docker-agent.

A team is written only where all its agents are chat calls that are made once; `portable` tells what
stands in the way, and what is lost.
"""

from .docker_agent import docker_agent_text
from .langgraph import langgraph_text
from .portable import rules_for

__all__ = ["docker_agent_text", "langgraph_text", "rules_for"]
