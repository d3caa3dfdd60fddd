"""What this host offers: its models and tool servers, from its files, options and environment.

A model alias stands for what `--model` says, else models.yaml, else MAS_MODEL, else the embedded
model (the last two for `default` only).
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import InputError
from .loading import load_models, load_tools
from .models import DEFAULT_ALIAS, EMBEDDED, Model

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .catalogue import Server

__all__ = ["find_host_file", "resolve_models", "resolve_servers"]


def resolve_models(
    chosen: Iterable[str] = (),
    *,
    models_file: str | Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Mapping[str, Model]:
    """Collect the models of a run by alias; `default` is always among them.

    Args:
        chosen: What `--model` was given: `ALIAS=MODEL`, or `MODEL` alone for `default`. A model is
            `PROVIDER/NAME`, `local`, `local:/PATH.gguf`, `NAME@http://HOST:PORT/v1`, or another
            alias of models.yaml.
        models_file: A models.yaml. Default: the one that `find_host_file` finds.
        environment: Where MAS_MODEL is looked up. Default: the process's environment.

    Raises:
        InputError: A choice cannot be read, or there is no such file.
        ConfigError: models.yaml does not load.
    """
    environment = os.environ if environment is None else environment
    path = Path(models_file) if models_file else find_host_file("models.yaml", environment)
    models = dict(load_models(path)) if path else {}
    declared = dict(models)
    if DEFAULT_ALIAS not in models and environment.get("MAS_MODEL"):
        models[DEFAULT_ALIAS] = _chosen(
            DEFAULT_ALIAS, environment["MAS_MODEL"], declared, "MAS_MODEL"
        )
    for choice in chosen:
        alias, model = _split(choice)
        models[alias] = _chosen(alias, model, declared, "--model")
    embedded = Model(alias=DEFAULT_ALIAS, model=EMBEDDED, origin="the embedded model")
    return {DEFAULT_ALIAS: embedded, **models}


def resolve_servers(
    tools_file: str | Path | None = None, *, environment: Mapping[str, str] | None = None
) -> Mapping[str, Server]:
    """Collect the tool servers of this host by name.

    Raises:
        InputError: There is no such file.
        ConfigError: tools.yaml does not load.
    """
    environment = os.environ if environment is None else environment
    path = Path(tools_file) if tools_file else find_host_file("tools.yaml", environment)
    return load_tools(path) if path else {}


def find_host_file(name: str, environment: Mapping[str, str]) -> Path | None:
    """Find a file of the host: where MAS_HOME says, or else here, or else the user's own."""
    from platformdirs import user_config_path

    home = environment.get("MAS_HOME")
    folders = [Path(home)] if home else [Path(), user_config_path("coterie")]
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


def _split(choice: str) -> tuple[str, str]:
    alias, equals, model = choice.partition("=")
    if not equals:
        alias, model = DEFAULT_ALIAS, choice
    if not alias or not model:
        raise InputError(f"--model {choice!r}: write ALIAS=PROVIDER/NAME, or PROVIDER/NAME.")
    return alias, model


def _chosen(alias: str, model: str, declared: Mapping[str, Model], origin: str) -> Model:
    if model in declared:
        return replace(declared[model], alias=alias, origin=f"{origin} {model}")
    name, at, address = model.rpartition("@")
    if at and address.startswith(("http://", "https://")):
        return Model(alias=alias, model=name, api_base=address, origin=origin)
    if "/" not in model and model != EMBEDDED and not model.startswith(f"{EMBEDDED}:"):
        known = f" Aliases of models.yaml: {', '.join(sorted(declared))}." if declared else ""
        raise InputError(
            f"{origin}: {model!r} is neither PROVIDER/NAME, NAME@http://HOST:PORT/v1, local nor"
            f" local:/PATH.gguf.{known}"
        )
    return Model(alias=alias, model=model, origin=origin)
