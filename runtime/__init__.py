"""The interpreter: compiles a team and runs it on a task.

load -> compile -> perform -> record. `run` does all of it in one call, `arun` and `stream` in an
event loop; `compile` and `perform` are for programs that run many teams over one gateway; `execute`
is a single pass of a team's agents.
"""

from typing import TYPE_CHECKING

from ..schema.values.first_use import on_first_use

if TYPE_CHECKING:
    from .agents.outcomes import AgentOutcome, Run, Score
    from .calls.calls import Calls
    from .engine.engine import Context, execute
    from .gateway import Gateway
    from .plan.plan import Plan, compile
    from .record.journal import Journal
    from .record.trace import RunFolder, Trace
    from .rounds.rounds import Ablation
    from .runs.api import areplay, aresume, arun, replay, resume, run, stream
    from .runs.options import Options
    from .runs.services import Services, Setting, open_services
    from .runs.whole import passes, perform
    from .scoring.scorers import Evidence
    from .tools import Toolbox
    from .values.budget import Budget, Caps

__all__ = [
    "Ablation",
    "AgentOutcome",
    "Budget",
    "Calls",
    "Caps",
    "Context",
    "Evidence",
    "Gateway",
    "Journal",
    "Options",
    "Plan",
    "Run",
    "RunFolder",
    "Score",
    "Services",
    "Setting",
    "Toolbox",
    "Trace",
    "areplay",
    "aresume",
    "arun",
    "compile",
    "execute",
    "open_services",
    "passes",
    "perform",
    "replay",
    "resume",
    "run",
    "stream",
]

__getattr__ = on_first_use(__name__)
