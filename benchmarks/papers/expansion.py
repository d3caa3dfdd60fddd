"""Expansions: the recipe, teams and models of a run, as files for a person to read and edit."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from textwrap import wrap
from typing import Any

from ...operators.evolution.strategy import strategy_of
from ...pool.teams.sources import load_source
from ...schema.host.catalogue import Catalogue
from ...schema.host.models import DEFAULT_ALIAS, Model
from ...schema.loading.ceiling import CapabilityPolicy
from ...schema.loading.loading import parse_team, read_file
from ...schema.loading.recipe import DEFAULT_SEEDS
from ...schema.loading.seeds import is_seed
from ...schema.team.team import Team
from ...schema.team.writing import dump, team_value, write_team_yaml, write_yaml
from ...schema.values.errors import InputError
from ...schema.values.files import make_folders, write_atomically
from ...schema.values.json_text import dumps
from ...schema.values.values import is_mapping
from ...schema.values.yaml_text import read_yaml
from ..evaluation.baselines import equipped
from ..evaluation.benchmark import find_benchmark
from .streams import PaperStream
from .tables import HERE, How, PaperRun, merged

RECIPE, MODELS, TASKS, HELD_OUT = "recipe.yaml", "models.yaml", "tasks.jsonl", "held_out.jsonl"
FOUNDER, POLICY = "solver.yaml", "policy.yaml"
ALONE = "seed:single_agent"
"""The team for an empty list of seeds."""
FOUNDERS = HERE.parents[1] / "seeds" / "founders"
WIDTH = 98


@dataclass(frozen=True, kw_only=True, slots=True)
class Expansion:
    """A run as files.

    Attributes:
        files: The texts by path in the folder, without tasks.
    """

    run: PaperRun
    files: Mapping[str, str]

    def write(self, folder: Path, stream: PaperStream | None) -> None:
        """Write the files, and the tasks if available.

        Raises:
            InputError: The folder has other files of these names.
            StorageError: The folder cannot be written.
        """
        files = dict(self.files)
        if stream is not None:
            files[TASKS] = _lines(stream.tasks)
            if stream.held_out:
                files[HELD_OUT] = _lines(stream.held_out)
        for name, text in files.items():
            path = folder / name
            if path.exists() and path.read_bytes() != text.encode():
                raise InputError(
                    f"{path} differs from {self.run.address} and is not overwritten. Run your own"
                    f" version by hand, or name another folder with --write:"
                    f" {shlex.join(['mas-evolve', *self.words(folder, stream)])}"
                )
        for name, text in files.items():
            path = folder / name
            make_folders(path.parent)
            write_atomically(path, text, flushed=False)

    def words(self, folder: Path, stream: PaperStream | None) -> list[str]:
        """Return the arguments of `mas-evolve` for this run."""
        words = [str(folder / RECIPE), str(folder / TASKS), "--pool", str(folder / "pool")]
        words += ["--models", str(folder / MODELS)]
        held_out = self.is_tested if stream is None else bool(stream.held_out)
        trials = self.run.how.get("trials", 1)
        if held_out:
            return [*words, "--test", str(folder / HELD_OUT), "--repeats", str(trials)]
        return [*words, "--seeds", str(trials)] if trials > 1 else words

    @property
    def essence(self) -> tuple[str, ...]:
        """The texts that decide whether it is valid: without comments and models."""
        recipe = "".join(line for line in self.files[RECIPE].splitlines(True) if line[0] != "#")
        teams = (text for name, text in sorted(self.files.items()) if name not in {RECIPE, MODELS})
        return (recipe, *teams)

    @property
    def is_tested(self) -> bool:
        """Whether its result is tested on held-out tasks."""
        return self.run.learns and bool({"test", "evolve"} & self.run.how.keys())


def expansion_of(run: PaperRun) -> Expansion:
    """Expand a run.

    Raises:
        InputError: A team of it is missing.
        ConfigError: A team of it does not load.
    """
    how = run.how
    models = _models(run)
    recipe = dict(how.get("recipe", {}))
    if "models" in how:
        recipe["models"] = [*how["models"]]
    files = {MODELS: write_yaml({"models": models})}
    if "agents" in strategy_of(recipe["strategy"]).needs(_settings(recipe)):
        recipe, more = _with_founder(recipe, how.get("agents", {}))
    else:
        recipe, more = _with_teams(recipe, run)
    files |= more
    comment = "".join(f"# {line}\n" for line in _about(run))
    return Expansion(run=run, files={RECIPE: comment + write_yaml(recipe), **files})


def _settings(recipe: Mapping[str, Any]) -> Any:
    return strategy_of(recipe["strategy"]).settings(**recipe.get("settings", {}))


def _models(run: PaperRun) -> dict[str, Any]:
    named = {DEFAULT_ALIAS: run.how["model"]}
    named |= {name: name for name in run.how.get("models", [])}
    return {alias: dict(run.paper.models[name]) for alias, name in named.items()}


def _with_founder(
    recipe: dict[str, Any], agents: Mapping[str, How]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Set the first agent of a population to one with the paper's changes."""
    if not agents:
        return recipe, {}
    document, _ = read_yaml(read_file(FOUNDERS / FOUNDER), FOUNDER)
    changed = _changes("solver", document.value, agents)
    settings = {**recipe.get("settings", {}), "founder": FOUNDER}
    return {**recipe, "settings": settings}, {FOUNDER: write_yaml(_stripped(changed))}


def _with_teams(recipe: dict[str, Any], run: PaperRun) -> tuple[dict[str, Any], dict[str, str]]:
    """Set the initial teams to ones with the paper's sampling and the data's tools."""
    sources = recipe.get("seeds", strategy_of(recipe["strategy"]).seeds)
    sources = [s if is_seed(s) else str(HERE / run.paper.key / s) for s in sources or [ALONE]]
    teams = {source: _changed(source, run) for source in sources}
    written = {source: team for source, (team, differs) in teams.items() if differs}
    seeds = [f"{written[s].name}.yaml" if s in written else s for s in sources]
    files = {f"{team.name}.yaml": dump(team) for team in written.values()}
    if recipe.get("seeds") != []:
        return {**recipe, "seeds": seeds}, files
    if not written:  # an empty list means a single agent that may grow
        return recipe, {}
    room = [team for team, _ in (_changed(source, run) for source in DEFAULT_SEEDS)]
    files[POLICY] = write_yaml({"ceiling": _ceiling([*written.values(), *room], recipe)})
    return {**recipe, "seeds": seeds, "policy": POLICY}, files


def _ceiling(teams: Sequence[Team], recipe: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ceiling of these teams together, in the form of a policy."""
    ceiling = CapabilityPolicy.of(*teams)
    ceiling = replace(ceiling, models=ceiling.models | frozenset(recipe.get("models", ())))
    values = {part.name: getattr(ceiling, part.name) for part in fields(ceiling)}
    sets = {name: sorted(value) for name, value in values.items() if isinstance(value, frozenset)}
    return {name: value for name, value in (values | sets).items() if value is not None}


def _changed(source: str, run: PaperRun) -> tuple[Team, bool]:
    aliases = frozenset(run.paper.models)
    changes = json.dumps({key: run.how.get(key, {}) for key in ("team", "agents")})
    return _team(source, changes, _tools(run), aliases)


@cache
def _team(
    source: str, changes: str, tools: tuple[str, ...], aliases: frozenset[str]
) -> tuple[Team, bool]:
    """Load a team with its changes, and return whether it needs a file of its own."""
    catalogue = Catalogue.of_host(models={name: Model(alias=name, model=name) for name in aliases})
    team = with_tools = load_source(source, catalogue)
    if tools and any(team.backend_of(agent) == "smolagents" for agent in team.agents.values()):
        with_tools = equipped(team, tools)
    wanted = json.loads(changes)
    value = merged(team_value(with_tools), wanted["team"])
    for name, agent in value["agents"].items():
        if "function" not in agent:
            value["agents"][name] = _changes(name, agent, wanted["agents"])
    changed = parse_team(write_team_yaml(_stripped(value)).encode(), f"{team.name}.yaml", catalogue)
    return changed, changed != team or not is_seed(source)


def _changes(name: str, agent: How, agents: Mapping[str, How]) -> How:
    """Return an agent with the fields of all patterns that match its id; later ones win."""
    for pattern, changes in agents.items():
        if fnmatchcase(name, pattern):
            agent = {**agent, **changes}
    return agent


def _stripped(value: Any) -> Any:
    """Return a value without null fields at any level."""
    if not is_mapping(value):
        return value
    return {key: _stripped(item) for key, item in value.items() if item is not None}


def _tools(run: PaperRun) -> tuple[str, ...]:
    parts = [part for key in ("data", "test") if key in run.how
             for part in run.paper.data[run.how[key]]["parts"] if "benchmark" in part]  # fmt: skip
    tools = (tool for part in parts for tool in find_benchmark(part["benchmark"]).tools)
    return tuple(dict.fromkeys(tools))


def _about(run: PaperRun) -> Iterator[str]:
    """Yield the comment lines at the top of a recipe's file."""
    table = run.paper.tables[run.table]
    row, data = table.rows[run.row], run.paper.data[run.how["data"]]
    texts = [
        f"{run.address}: {row.label} of {table.title}",
        f"({run.paper.name}).",
        f"Method: {run.method['about']}",
        *([f"It differs: {differs}"] if (differs := run.method.get("differs")) else []),
        f"Data: {data['about']}",
        *([f"It differs: {differs}"] if (differs := data.get("differs")) else []),
        published(run),
    ]
    yield from wrap(" ".join(texts), WIDTH, break_on_hyphens=False)


def published(run: PaperRun) -> str:
    """Return the published figures of a run as a sentence."""
    table = run.paper.tables[run.table]
    figures = {name: figure for name, figure in run.figures.items() if figure is not None}
    if not figures:
        return f"Published: nothing. {table.rows[run.row].unpublished}"
    shown = ", ".join(
        f"{table.columns[name].label or name} {figure}" for name, figure in figures.items()
    )
    return f"Published ({table.measure}): {shown}."


def _lines(tasks: Sequence[Any]) -> str:
    return "".join(f"{dumps(task.value())}\n" for task in tasks)
