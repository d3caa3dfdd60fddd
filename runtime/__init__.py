"""The interpreter: compiles a team and runs it on a task.

load -> compile -> execute -> record. `run` does all of it in one call; `compile` and `execute` are
for programs that run many teams over one gateway.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api import run
    from .budget import Budget, Caps
    from .calls import Calls
    from .engine import AgentOutcome, Run, execute
    from .gateway import Gateway
    from .journal import Journal
    from .plan import Plan, compile
    from .services import Services, Setting, open_services
    from .tools import Toolbox
    from .trace import RunFolder, Trace

__all__ = [
    "AgentOutcome",
    "Budget",
    "Calls",
    "Caps",
    "Gateway",
    "Journal",
    "Plan",
    "Run",
    "RunFolder",
    "Services",
    "Setting",
    "Toolbox",
    "Trace",
    "compile",
    "execute",
    "open_services",
    "run",
]

_HOMES = {
    "AgentOutcome": "engine",
    "Budget": "budget",
    "Calls": "calls",
    "Caps": "budget",
    "Gateway": "gateway",
    "Journal": "journal",
    "Plan": "plan",
    "Run": "engine",
    "RunFolder": "trace",
    "Services": "services",
    "Setting": "services",
    "Toolbox": "tools",
    "Trace": "trace",
    "compile": "plan",
    "execute": "engine",
    "open_services": "services",
    "run": "api",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use: commands that only read files stay quick."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
