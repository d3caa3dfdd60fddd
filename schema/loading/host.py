"""The models and tools of this host, from its files, options and environment.

`--model` defines a model alias, else models.yaml, else MAS_MODEL, else the embedded model (the last
two for `default` only).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ..host.catalogue import HostTools
from ..host.models import DEFAULT_ALIAS, EMBEDDED, INBOX, Model
from ..values.errors import InputError
from .loading import load_models

OWN_MODEL = "MAS_MODEL"
"""The variable that defines `default` if models.yaml does not."""
OWN_KEY = "MAS_API_KEY"
"""The variable with the key for addresses given on the command line."""


def resolve_models(
    chosen: Iterable[str] = (),
    *,
    models_file: str | Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Mapping[str, Model]:
    """Collect the models of a run by alias; `default` is always among them.

    Args:
        chosen: The values of `--model`: `ALIAS=MODEL`, or `MODEL` alone for `default`. A model is
            `PROVIDER/NAME`, `local`, `local:/PATH.gguf`, `inbox:FOLDER`,
            `NAME@http://HOST:PORT/v1`, or another alias of models.yaml. An address gets the key in
            MAS_API_KEY, if set, and never another one.
        models_file: A models.yaml. Default: the one that `find_host_file` finds.
        environment: The source of MAS_MODEL and MAS_API_KEY. Default: the process's environment.
    """
    environment = os.environ if environment is None else environment
    path = Path(models_file) if models_file else find_host_file("models.yaml", environment)
    models = dict(load_models(path)) if path else {}
    declared = dict(models)
    key_env = OWN_KEY if environment.get(OWN_KEY) else None
    if DEFAULT_ALIAS not in models and (own := environment.get(OWN_MODEL)):
        models[DEFAULT_ALIAS] = _chosen(DEFAULT_ALIAS, own, declared, OWN_MODEL, key_env)
    for choice in chosen:
        alias, model = _split(choice)
        models[alias] = _chosen(alias, model, declared, "--model", key_env)
    embedded = Model(alias=DEFAULT_ALIAS, model=EMBEDDED, origin="the embedded model")
    return {DEFAULT_ALIAS: embedded, **models}


def resolve_tools(
    tools_file: str | Path | None = None, *, environment: Mapping[str, str] | None = None
) -> HostTools:
    """Load this host's tools.yaml; empty if there is none."""
    environment = os.environ if environment is None else environment
    path = Path(tools_file) if tools_file else find_host_file("tools.yaml", environment)
    if path is None:
        return HostTools()
    from .tools_file import load_tools

    return load_tools(path)


def find_host_file(name: str, environment: Mapping[str, str]) -> Path | None:
    """Return a host file: from MAS_HOME, else the current folder, else the user's own."""
    folders = _folders(environment)
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


def misnamed(name: str, environment: Mapping[str, str]) -> Path | None:
    """Return a host file that would be found if its name ended with `.yaml`, not `.yml`."""
    short = Path(name).with_suffix(".yml").name
    for folder in _folders(environment):
        if (folder / name).is_file():
            return None
        if (folder / short).is_file():
            return folder / short
    return None


def _folders(environment: Mapping[str, str]) -> Sequence[Path]:
    from platformdirs import user_config_path

    home = environment.get("MAS_HOME")
    return [Path(home)] if home else [Path(), user_config_path("coterie")]


def _split(choice: str) -> tuple[str, str]:
    alias, equals, model = choice.partition("=")
    if not equals or "://" in alias:
        alias, model = DEFAULT_ALIAS, choice
    if not alias or not model:
        raise InputError(f"--model {choice!r}: write ALIAS=PROVIDER/NAME, or PROVIDER/NAME.")
    return alias, model


def _chosen(
    alias: str, model: str, declared: Mapping[str, Model], origin: str, key_env: str | None
) -> Model:
    if model in declared:
        return replace(declared[model], alias=alias, origin=f"{origin} {model}")
    if at := re.fullmatch(r"(.+?)@(https?://.*)", model):
        return Model(alias=alias, model=at[1], api_base=at[2], key_env=key_env, origin=origin)
    is_here = model == EMBEDDED or model.startswith((f"{EMBEDDED}:", INBOX))
    if "/" not in model and not is_here:
        name, at_sign, address = model.partition("@")
        meant = f" Did you mean {f'{name}@http://{address}'!r}?" if at_sign else ""
        hint = f" Aliases of models.yaml: {', '.join(sorted(declared))}." if declared else ""
        raise InputError(
            f"{origin}: {model!r} is neither PROVIDER/NAME, NAME@http://HOST:PORT/v1, local,"
            f" local:/PATH.gguf nor inbox:FOLDER.{meant}{hint}"
        )
    return Model(alias=alias, model=model, origin=origin)
