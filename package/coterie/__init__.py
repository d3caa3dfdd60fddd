"""Teams of LLM agents as YAML files: load them, run them, read what came of it.

What most programs need is here; the rest is in the packages below: `coterie.schema` (teams, tasks
and their files), `coterie.runtime` (running them), `coterie.pool`, `coterie.operators` and
`coterie.benchmarks`.

    import coterie

    result = coterie.run("seeds/debate_3.yaml", query="Is this film review positive?")
"""

from importlib import import_module
from os.path import dirname, isdir
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coterie.runtime import Options, Run, areplay, aresume, arun, replay, resume, run, stream
    from coterie.runtime.doubles import ScriptedModel
    from coterie.runtime.tools import Tool, ToolError, Toolkit
    from coterie.schema import (
        Agent,
        Catalogue,
        ConfigError,
        CoterieError,
        Execution,
        InputError,
        Model,
        ScorerChoice,
        Task,
        Team,
        load_task,
        load_team,
        parse_team,
        write_yaml,
    )

    __version__: str

__all__ = [
    "Agent",
    "Catalogue",
    "ConfigError",
    "CoterieError",
    "Execution",
    "InputError",
    "Model",
    "Options",
    "Run",
    "ScorerChoice",
    "ScriptedModel",
    "Task",
    "Team",
    "Tool",
    "ToolError",
    "Toolkit",
    "__version__",
    "areplay",
    "aresume",
    "arun",
    "load_task",
    "load_team",
    "parse_team",
    "replay",
    "resume",
    "run",
    "stream",
    "write_yaml",
]

_HOMES = {
    "Options": "runtime",
    "Run": "runtime",
    "ScriptedModel": "runtime.doubles",
    "Tool": "runtime.tools",
    "ToolError": "runtime.tools",
    "Toolkit": "runtime.tools",
    "areplay": "runtime",
    "aresume": "runtime",
    "arun": "runtime",
    "replay": "runtime",
    "resume": "runtime",
    "run": "runtime",
    "stream": "runtime",
}
"""The packages of the names that are not of `coterie.schema`."""

# In a checkout, which an editable install leads to, the packages stand at the top of it.
if not isdir(f"{__path__[0]}/schema"):
    __path__ = [*__path__, dirname(dirname(__path__[0]))]


def __getattr__(name: str) -> Any:
    """Import a public name on first use: `import coterie` alone costs nothing."""
    if name == "__version__":
        from importlib.metadata import version

        return version("coterie")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES.get(name, 'schema')}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
