"""The interpreter: compiles a team and runs it on a task.

load -> compile -> perform -> record. `run` does all of it in one call, `arun` and `stream` in an
event loop; `compile` and `perform` are for programs that run many teams over one gateway; `execute`
is a single pass of a team's agents.
"""

from typing import TYPE_CHECKING

from ..schema.first_use import on_first_use

if TYPE_CHECKING:
    from .api import arun, run, stream
    from .budget import Budget, Caps
    from .calls import Calls
    from .engine import Context, execute
    from .gateway import Gateway
    from .journal import Journal
    from .outcomes import AgentOutcome, Run
    from .plan import Plan, compile
    from .score import Score
    from .scorers import Evidence
    from .services import Services, Setting, open_services
    from .silence import Silence
    from .tools import Toolbox
    from .trace import RunFolder, Trace
    from .whole import passes, perform

__all__ = [
    "AgentOutcome",
    "Budget",
    "Calls",
    "Caps",
    "Context",
    "Evidence",
    "Gateway",
    "Journal",
    "Plan",
    "Run",
    "RunFolder",
    "Score",
    "Services",
    "Setting",
    "Silence",
    "Toolbox",
    "Trace",
    "arun",
    "compile",
    "execute",
    "open_services",
    "passes",
    "perform",
    "run",
    "stream",
]

_HOMES = {
    "AgentOutcome": "outcomes",
    "Budget": "budget",
    "Calls": "calls",
    "Caps": "budget",
    "Context": "engine",
    "Evidence": "scorers",
    "Gateway": "gateway",
    "Journal": "journal",
    "Plan": "plan",
    "Run": "outcomes",
    "RunFolder": "trace",
    "Score": "score",
    "Services": "services",
    "Setting": "services",
    "Silence": "silence",
    "Toolbox": "tools",
    "Trace": "trace",
    "arun": "api",
    "compile": "plan",
    "execute": "engine",
    "open_services": "services",
    "passes": "whole",
    "perform": "whole",
    "run": "api",
    "stream": "api",
}

__getattr__ = on_first_use(__name__, _HOMES)
