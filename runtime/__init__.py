"""The interpreter: compiles a team and runs it on a task.

load -> compile -> execute -> record. `run` does all of it in one call; `compile` and `execute` are
for programs that run many teams over one gateway.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api import run
    from .engine import AgentOutcome, Run, execute
    from .gateway import Gateway
    from .plan import Plan, compile
    from .tools import Toolbox
    from .trace import RunFolder, Trace

__all__ = [
    "AgentOutcome",
    "Gateway",
    "Plan",
    "Run",
    "RunFolder",
    "Toolbox",
    "Trace",
    "compile",
    "execute",
    "run",
]

_HOMES = {
    "AgentOutcome": "engine",
    "Gateway": "gateway",
    "Plan": "plan",
    "Run": "engine",
    "RunFolder": "trace",
    "Toolbox": "tools",
    "Trace": "trace",
    "compile": "plan",
    "execute": "engine",
    "run": "api",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use: commands that only read files stay quick."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
