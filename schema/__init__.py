"""The genotype: what a team file says, checked and typed, and how it is written back.

Loading finds every problem of a file at once, with its place. The values are frozen; whoever wants
a different team makes a new one.
"""

from typing import TYPE_CHECKING

from .first_use import on_first_use

if TYPE_CHECKING:
    from .catalogue import Catalogue, Server
    from .errors import (
        AgentError,
        ConfigError,
        CoterieError,
        InputError,
        JailError,
        LimitError,
        ModelError,
        RunError,
    )
    from .loading import load_models, load_task, load_team, parse_team
    from .models import Model
    from .problems import Place, Problem
    from .task import ScorerChoice, Task
    from .team import (
        Agent,
        Execution,
        Lineage,
        LineageStep,
        Notes,
        Recall,
        Recruit,
        Roster,
        Rounds,
        Skill,
        SolvedTask,
        Team,
    )
    from .tools_file import HostTools, load_tools
    from .writing import dump, write_yaml

__all__ = [
    "Agent",
    "AgentError",
    "Catalogue",
    "ConfigError",
    "CoterieError",
    "Execution",
    "HostTools",
    "InputError",
    "JailError",
    "LimitError",
    "Lineage",
    "LineageStep",
    "Model",
    "ModelError",
    "Notes",
    "Place",
    "Problem",
    "Recall",
    "Recruit",
    "Roster",
    "Rounds",
    "RunError",
    "ScorerChoice",
    "Server",
    "Skill",
    "SolvedTask",
    "Task",
    "Team",
    "dump",
    "load_models",
    "load_task",
    "load_team",
    "load_tools",
    "parse_team",
    "write_yaml",
]

_HOMES = {
    "Agent": "team",
    "AgentError": "errors",
    "Catalogue": "catalogue",
    "ConfigError": "errors",
    "CoterieError": "errors",
    "Execution": "team",
    "HostTools": "tools_file",
    "InputError": "errors",
    "JailError": "errors",
    "LimitError": "errors",
    "Lineage": "team",
    "LineageStep": "team",
    "Model": "models",
    "ModelError": "errors",
    "Notes": "team",
    "Place": "problems",
    "Problem": "problems",
    "Recall": "team",
    "Recruit": "team",
    "Roster": "team",
    "Rounds": "team",
    "RunError": "errors",
    "ScorerChoice": "task",
    "Server": "catalogue",
    "Skill": "team",
    "SolvedTask": "team",
    "Task": "task",
    "Team": "team",
    "dump": "writing",
    "load_models": "loading",
    "load_task": "loading",
    "load_team": "loading",
    "load_tools": "tools_file",
    "parse_team": "loading",
    "write_yaml": "writing",
}

__getattr__ = on_first_use(__name__, _HOMES)
