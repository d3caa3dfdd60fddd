"""Environments for instances' tests, created once, outside the jail."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

from ...runtime.local.package_client import find_uv, run_watched
from ...runtime.record.journal import digest
from ...schema.values.codec import stored, to_value
from ...schema.values.errors import InputError
from ...schema.values.files import locked, write_atomically
from ...schema.values.problems import quoted
from ...schema.values.values import is_list, is_mapping

COMPLETE = "made.txt"
"""A marker in an environment that is complete."""
CHECK_SECONDS = 60
HAS_PYTEST = "import importlib.util, sys; sys.exit(importlib.util.find_spec('pytest') is None)"
_FIELDS = ("python", "requirements", "venv")


@stored(omit=True)
class Environment:
    """The environment of an instance's tests, if it is not the active virtual environment.

    Attributes:
        requirements: The packages to install, in the form of `pip`; pytest must be among them or
            their dependencies.
        python: The interpreter, in the form of `uv venv --python`: a version or a path. Empty: the
            current one.
        venv: An existing virtual environment; then the other fields are empty.
    """

    requirements: tuple[str, ...] = ()
    python: str = ""
    venv: str = ""

    def folder(self, parent: Path) -> Path:
        """Return the environment's folder, which equal environments share."""
        return (
            Path(self.venv) if self.venv else parent / digest(self.python, *self.requirements)[:16]
        )

    def ensure(self, parent: Path) -> Path:
        """Create the environment if missing, and check that it has pytest.

        The package client of this machine downloads and builds missing packages, with its own
        settings and outside the jail. Several processes may do this at the same time.
        """
        folder = self.folder(parent)
        if not self.venv and not (folder / COMPLETE).is_file():
            parent.mkdir(parents=True, exist_ok=True)
            with locked(parent / f"{folder.name}.lock"):
                if not (folder / COMPLETE).is_file():
                    self._make(folder)
        _check(folder)
        return folder

    def _make(self, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix="coterie-environment-") as workplace:
            wanted = Path(workplace) / "requirements.txt"
            wanted.write_text("\n".join(self.requirements) + "\n", encoding="utf-8")
            for command in self._commands(folder, wanted):
                try:
                    run_watched(command, Path(workplace), lambda _bytes: None)
                except InputError as error:
                    shutil.rmtree(folder, ignore_errors=True)
                    raise InputError(
                        f"the environment {quoted(to_value(self))} cannot be made: {error}"
                    ) from None
        write_atomically(folder / COMPLETE, "\n".join((self.python, *self.requirements)) + "\n")

    def _commands(self, folder: Path, wanted: Path) -> list[list[str]]:
        python, there = self.python or sys.executable, str(folder / "bin" / "python")
        uv = find_uv()
        if uv:
            make = [uv, "venv", "--quiet", "--python", python, str(folder)]
            install = [uv, "pip", "install", "--quiet", "--python", there]
        else:
            make = [python, "-m", "venv", str(folder)]
            install = [there, "-m", "pip", "install", "--quiet", "--no-input"]
        installed = [[*install, "--requirement", str(wanted)]] if self.requirements else []
        return [make, *installed]


def parse_environment(value: object, place: str) -> Environment | None:
    """Read an instance's field `environment`; None if absent.

    Raises:
        InputError: It is malformed.
    """
    if value is None:
        return None
    if not is_mapping(value) or not value or set(value) - set(_FIELDS):
        raise InputError(
            f"{place}: 'environment' must be an object with {', '.join(_FIELDS)}, not"
            f" {quoted(value)}."
        )
    fields: Mapping[str, Any] = value
    listed = fields.get("requirements", [])
    if not is_list(listed) or not all(_is_requirement(item) for item in listed):
        raise InputError(
            f"{place}: 'requirements' must be a list of packages such as 'pytest==7.4.4', without"
            f" options of the package client, not {quoted(listed)}."
        )
    python, venv = fields.get("python", ""), fields.get("venv", "")
    if not isinstance(python, str) or not isinstance(venv, str) or python.startswith("-"):
        raise InputError(f"{place}: 'python' and 'venv' must be text, not {quoted(value)}.")
    if venv and (python or listed or not Path(venv).is_absolute()):
        raise InputError(
            f"{place}: 'venv' must be an absolute path and stand alone, not {quoted(value)}."
        )
    return Environment(requirements=tuple(map(str, listed)), python=python, venv=venv)


def environments_dir(data: Path | None) -> Path:
    """Return the folder for environments: in the user's folder, else in the cache."""
    return (data.resolve() if data else user_cache_path("coterie") / "repair") / "environments"


def _is_requirement(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and not value.lstrip().startswith("-")


def _check(folder: Path) -> None:
    try:
        process = subprocess.run(
            [str(folder / "bin" / "python"), "-I", "-c", HAS_PYTEST],
            stdin=subprocess.DEVNULL, capture_output=True, timeout=CHECK_SECONDS, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InputError(
            f"{folder}: the environment's interpreter does not run: {error}."
        ) from None
    if process.returncode:
        raise InputError(f"{folder}: this environment has no pytest. Name it among 'requirements'.")
