"""The genotype: what a team file says, checked and typed, and how it is written back.

Loading finds every problem of a file at once, with its place. The values are frozen; whoever wants
a different team makes a new one.
"""

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
