"""Teams as files of other programs, for `mas export`: LangGraph, docker-agent.

`portable` reports what of a team the other program cannot do, and what is lost; `carried` takes our
functions along as source text.
"""

from .docker_agent import docker_agent_text
from .langgraph import langgraph_text
from .portable import rules_for

__all__ = ["docker_agent_text", "langgraph_text", "rules_for"]
