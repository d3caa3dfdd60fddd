"""Options of a run from Python, and the objects that they resolve to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypedDict

from ...schema.host.catalogue import Catalogue, HostTools
from ...schema.host.python_tool import python_tool
from ...schema.loading.host import resolve_models, resolve_tools
from ...schema.loading.loading import check_team, load_task, load_team, team_path
from ...schema.team.task import Task
from ...schema.team.team import Team
from ...schema.team.writing import dump
from ...schema.values.errors import ConfigError, InputError
from ..plan.plan import Plan, compile
from ..record.trace import Event
from ..values.budget import Caps
from .again import known_again, load_recorded
from .record import read_setting
from .services import Setting


class Options(TypedDict, total=False):
    """How `run`, `arun` and `stream` run a team. All options are optional.

    Attributes:
        query: A question, in place of a task.
        model: The models for aliases, as in `--model`: one or several texts, each
            `ALIAS=PROVIDER/NAME` or a model for `default`; or a mapping by alias.
        models: The models.yaml to use. By default, the one that commands find.
        tools: Python functions that the team's agents may be granted by their names. Their type
            hints and docstrings tell a model what it needs to know.
        approve: Tools to call without asking, even if tools.yaml says to ask.
        unsafe_local: Run agents' code without a jail.
        seed: Makes sampling repeatable if the endpoint allows it.
        budget: What the run may cost, as in `--budget`: `usd=2,tokens=500000`.
        cache: A folder of answers that runs share.
        pool: The folder of the pool for agents with `recall`.
        embedder: Finds similar tasks in the pool; see `mas-run --embedder`.
        runs: Where to create the run's folder, for `mas-run --resume`. None for no folder.
        listener: Called with every event.
    """

    query: str | None
    model: str | Iterable[str] | Mapping[str, str]
    models: str | Path
    tools: Iterable[Callable[..., Any]]
    approve: Iterable[str]
    unsafe_local: bool
    seed: int | None
    budget: str
    cache: str | Path | None
    pool: str | Path | None
    embedder: str | None
    runs: str | Path | None
    listener: Callable[[Event], None] | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """A run ready to start: its team, task and settings.

    Attributes:
        place: Where the task comes from, for messages.
        offline: Whether it is a replay, which calls no model and writes nothing.
        folder: The folder of a recorded run; None for a new run.
    """

    catalogue: Catalogue
    plan: Plan
    task: Task
    place: str
    setting: Setting
    offline: bool = False
    folder: Path | None = None


def prepared(team: Team | str | Path, task: Task | str | Path | None, options: Options) -> Prepared:
    """Load a team and a task."""
    loaded, catalogue = _team(team, _catalogue(options))
    question, place = _task(task, options.get("query"), catalogue)
    return Prepared(
        catalogue=catalogue,
        plan=compile(loaded, catalogue),
        task=question,
        place=place,
        setting=_setting(options, Setting()),
    )


def recorded(folder: Path, options: Options, *, offline: bool) -> Prepared:
    """Load a recorded run's team, task and settings.

    Raises:
        InputError: It is not the folder of a run, or options do not suit a recorded run.
    """
    if wrong := sorted({"query", "runs"} & options.keys()):
        raise InputError(f"{wrong[0]}: already set by the recorded run {folder}. Leave it out.")
    setting, models = read_setting(folder)
    chosen = _chosen(options)
    catalogue = known_again(folder, _catalogue(options), models, chosen, offline=offline)
    team, task, catalogue = load_recorded(folder, catalogue)
    return Prepared(
        catalogue=catalogue,
        plan=compile(team, catalogue),
        task=task,
        place=f"{folder / 'task.json'}:1",
        setting=replace(_setting(options, setting), **({"cache": None} if offline else {})),
        offline=offline,
        folder=folder,
    )


def _chosen(options: Options) -> list[str]:
    """Return the models for aliases as a list of `--model` values."""
    chosen = options.get("model", ())
    if isinstance(chosen, str):
        return [chosen]
    if isinstance(chosen, Mapping):
        return [f"{alias}={model}" for alias, model in chosen.items()]
    return [*chosen]


def _catalogue(options: Options) -> Catalogue:
    """Return the models and tools that this host and the caller offer."""
    models = resolve_models(_chosen(options), models_file=options.get("models"))
    catalogue = Catalogue.of_host(models=models, host_tools=resolve_tools())
    described = [python_tool(function) for function in options.get("tools", ())]
    python = {tool.name: tool for tool in described}
    if len(python) < len(described):
        raise InputError(
            f"tools: two functions have one name: {[tool.name for tool in described]}."
        )
    return catalogue.having(HostTools(python=python)).approving(options.get("approve", ()))


def _team(team: Team | str | Path, catalogue: Catalogue) -> tuple[Team, Catalogue]:
    """Load a team, or check one built in Python; return also the names available to it."""
    if isinstance(team, Team):
        _, problems = check_team(dump(team).encode(), f"team {team.name!r}", catalogue)
        if problems:
            raise ConfigError(problems)
        return team, catalogue
    path = team_path(team)
    return load_team(path, catalogue), catalogue.beside(path.parent)


def _task(
    task: Task | str | Path | None, query: str | None, catalogue: Catalogue
) -> tuple[Task, str]:
    """Load a task, or create one from a question; return also where it comes from."""
    if (task is None) == (query is None):
        raise InputError("give either a task, or a question as query=….")
    if query is not None:
        return Task(id="query", query=query), "query"
    if isinstance(task, Task):
        return task, "given as a value"
    if not Path(str(task)).is_file():
        raise InputError(f"no task file {str(task)!r}. To ask a question, write query=….")
    return load_task(str(task), catalogue), f"{task}:1"


def _setting(options: Options, recorded: Setting) -> Setting:
    """Return the setting from the options, and from the record for the rest."""
    values: dict[str, Any] = {"seed": options.get("seed"), "embedder": options.get("embedder")}
    values = {name: value for name, value in values.items() if value is not None}
    if (budget := options.get("budget")) is not None:
        values["budget"] = Caps.parse(budget)
    values |= {name: Path(path) for name in ("cache", "pool") if (path := options.get(name))}
    return replace(recorded, **values, unsafe_local=options.get("unsafe_local", False))
