"""Repeating a recorded run: its team and task, and the models that this host calls for it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

from ...schema.host.catalogue import Catalogue
from ...schema.host.models import DEFAULT_ALIAS, Model
from ...schema.loading.loading import load_task, load_team
from ...schema.team.task import Task
from ...schema.team.team import Team
from ...schema.values.errors import ConfigError, InputError
from ...schema.values.problems import Problem, quoted
from .record import MANIFEST, read_value


def load_recorded(folder: Path, catalogue: Catalogue) -> tuple[Team, Task, Catalogue]:
    """Load a recorded run's team and task, and report the problems of both together.

    Returns:
        The team, the task, and what files in the folder may name.

    Raises:
        InputError: It is not the folder of a run, or names something that this host does not grant.
    """
    catalogue = catalogue.beside(folder)
    problems: list[Problem] = []
    team, task = None, None
    try:
        team = load_team(folder / "team.yaml", catalogue)
    except ConfigError as error:
        problems += error.problems
    try:
        task = load_task(folder / "task.json", catalogue)
    except ConfigError as error:
        problems += error.problems
    if team is None or task is None:
        raise ConfigError(problems)
    origin = read_value(folder / MANIFEST).get("task_file")
    return team, replace(task, origin=Path(origin)) if isinstance(origin, str) else task, catalogue


def known_again(
    folder: Path,
    catalogue: Catalogue,
    recorded: Mapping[str, Model],
    chosen: Collection[str],
    *,
    offline: bool = False,
) -> Catalogue:
    """Return this host's catalogue for continuing a recorded run.

    A folder that people share may say what was asked, but not which models to call now: addresses,
    keys and headers come from the host alone.

    Args:
        chosen: The values of `--model`.
        offline: No model is called; the recorded ones suffice, without keys.

    Raises:
        InputError: An alias names another model or address here, and `--model` does not set it.
    """
    if offline:
        unarmed = {
            alias: replace(model, key_env=None, headers={}, header_env={})
            for alias, model in recorded.items()
        }
        return replace(catalogue, models={**catalogue.models, **unarmed})
    named = {choice.partition("=")[0] if "=" in choice else DEFAULT_ALIAS for choice in chosen}
    others = [
        f"{alias} was {_meaning(model)}, and is {_meaning(catalogue.model(alias))} here"
        for alias, model in recorded.items()
        if alias not in named and _place(model) != _place(catalogue.model(alias))
    ]
    if others:
        words = " ".join(f"--model {alias}=MODEL" for alias in recorded if alias not in named)
        raise InputError(
            f"{folder}: this host would call other models than those recorded:"
            f" {'; '.join(others)}. Choose them yourself: {words}, where MODEL is"
            " NAME@http://HOST:PORT/v1, PROVIDER/NAME, local, or an alias of models.yaml."
        )
    return catalogue


def _place(model: Model | None) -> tuple[str, str] | None:
    return None if model is None else (model.model, (model.api_base or "").rstrip("/"))


def _meaning(model: Model | None) -> str:
    if model is None:
        return "no model"
    return quoted(f"{model.model}@{model.api_base}" if model.api_base else model.model)
