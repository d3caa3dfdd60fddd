"""The Python packages available to agents' commands and code in their jail."""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import (
    Distribution,
    PackageNotFoundError,
    distribution,
    packages_distributions,
)
from pathlib import Path

from ...schema.host.catalogue import find_package
from ..jail import JailRequest
from ..jail.detect import detect


def host_programs(environment: Path | None = None) -> JailRequest:
    """Return a jail's request for the host's virtual environment, with its programs first on PATH.

    A repository's tests need its dependencies and pytest. They come from the active virtual
    environment (`VIRTUAL_ENV`), or else from ours: the host's choice, as in any shell. Without one,
    nothing is added; the interpreter itself is always there.

    Args:
        environment: A virtual environment to use instead.
    """
    prefix = environment or Path(os.environ.get("VIRTUAL_ENV") or sys.prefix)
    if prefix == Path(sys.base_prefix) or not (prefix / "bin").is_dir():
        return JailRequest()
    home = _home(prefix)
    parts = (home, home.parent / "lib") if home.parent != Path(sys.base_prefix) else ()
    return JailRequest(
        readable=(prefix, *(part for part in parts if part.is_dir())),
        environment={
            "VIRTUAL_ENV": str(prefix),
            "PATH": f"{prefix}/bin:{home}:/usr/local/bin:/usr/bin:/bin",
        },
    )


def host_packages(names: Iterable[str]) -> JailRequest:
    """Return a jail's request for importing packages of our environment, with their dependencies.

    A jail without mounts, and `--unsafe-local`, also has the environment's other packages, since
    Python looks for a package in folders that it can list.

    Args:
        names: The packages' import names.
    """
    parts = sorted({part for name in names for part in _parts(name) if part.exists()})
    if not parts:
        return JailRequest()
    tier, folders = detect().tier, [*dict.fromkeys(part.parent for part in parts)]
    return JailRequest(
        readable=tuple(parts if tier is not None and tier.has_mounts else folders),
        environment={"PYTHONPATH": os.pathsep.join(map(str, folders))},
    )


def _parts(name: str) -> Iterator[Path]:
    """Yield the folders and modules of a package, and of its dependencies."""
    if (package := find_package(name)) is not None:
        yield package
    for result in _required(_distributions().get(name, ())):
        tops = {file.parts[0] for file in result.files or ()} - {"..", "/", "__pycache__"}
        yield from (Path(str(result.locate_file(top))) for top in tops)


def _required(names: Sequence[str]) -> Iterable[Distribution]:
    """Return distributions with all their installed dependencies, without extras."""
    fields: dict[str, Distribution] = {}
    waiting = [*names]
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name not in fields:
            try:
                fields[name] = distribution(name)
            except PackageNotFoundError:
                continue
            required = (
                require for require in fields[name].requires or () if "extra ==" not in require
            )
            waiting += (re.split(r"[^\w.-]", word, maxsplit=1)[0] for word in required)
    return fields.values()


@functools.cache
def _distributions() -> Mapping[str, Sequence[str]]:
    return packages_distributions()


def _home(prefix: Path) -> Path:
    """Return the folder of the interpreter that created a virtual environment."""
    try:
        lines = (prefix / "pyvenv.cfg").read_text(encoding="utf-8").splitlines()
    except OSError:
        return Path(sys.base_prefix) / "bin"
    settings = dict(line.split(" = ", 1) for line in lines if " = " in line)
    return Path(settings.get("home", f"{sys.base_prefix}/bin"))
