"""The genotype: the content of a team file, checked and typed, and how to write it back.

Loading finds every problem of a file at once, with its place. The values are frozen; to change a
team, build a new one.
"""

from typing import TYPE_CHECKING

from .values.first_use import on_first_use

if TYPE_CHECKING:
    from .host.catalogue import Catalogue, HostTools, ToolServer
    from .host.models import Model
    from .loading.loading import load_models, load_task, load_team, parse_team
    from .loading.tools_file import load_tools
    from .team.conditions import Each, When
    from .team.task import ScorerChoice, Task
    from .team.team import (
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
    from .team.writing import dump, write_yaml
    from .values.errors import (
        AgentError,
        ConfigError,
        CoterieError,
        InputError,
        JailError,
        LimitError,
        ModelError,
        RunError,
    )
    from .values.problems import Problem, TextPosition

__all__ = [
    "Agent",
    "AgentError",
    "Catalogue",
    "ConfigError",
    "CoterieError",
    "Each",
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
    "Problem",
    "Recall",
    "Recruit",
    "Roster",
    "Rounds",
    "RunError",
    "ScorerChoice",
    "Skill",
    "SolvedTask",
    "Task",
    "Team",
    "TextPosition",
    "ToolServer",
    "When",
    "dump",
    "load_models",
    "load_task",
    "load_team",
    "load_tools",
    "parse_team",
    "write_yaml",
]

__getattr__ = on_first_use(__name__)
