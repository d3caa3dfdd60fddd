"""Share a run with others: without secrets, and without details of the machine it ran on."""

from __future__ import annotations

import getpass
import json
import re
import socket
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ...schema.values import beneath
from ..record.journal import FILE
from .folders import new_file
from .record import MANIFEST, RESULT, as_json, read_value

HOST_FIELDS = ("task_file", "cache", "pool", "jail", "on")
"""Fields of run.json that describe the machine and not the run."""
LARGEST = 1 << 28
"""The most bytes of a file; a larger one is left out."""
SHORTEST = 4
"""The least characters of the machine's or user's name to replace: a shorter one may be a word."""
_HOME = re.compile(r"(/home|/Users|[A-Za-z]:\\\\?Users)(/|\\\\?)[^/\\\s\"']+")
_SERVER = re.compile(r'("api_base": )"[^"]*"')
_PUBLIC = {"api_base": None, "from": "", "origin": "", "headers": {}, "header_env": {}}
"""Fields of a model that describe its address, and their replacements."""


def share(folder: Path, target: Path, scrub: Callable[[str], str]) -> list[str]:
    """Pack the readable parts of a run into a zip file; return the names of those left out.

    It leaves out the journal, which only resuming and replaying need, and files that are not text.

    Raises:
        InputError: The run cannot be read, or the file cannot be created.
    """
    left, names = list[str](), _names(folder)
    with new_file(target) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as packed:
        for inside in _files(folder):
            text = None if inside.startswith(FILE) else _text(folder, inside)
            if text is None:
                left.append(inside)
                continue
            if inside in {MANIFEST, RESULT}:
                text = as_json(_without_host(read_value(folder / inside)))
            packed.writestr(f"{folder.resolve().name}/{inside}", _without(scrub(text), names))
    return left


def _files(folder: Path) -> list[str]:
    """Return the files of a folder, by their relative paths."""
    return sorted(entry.path for entry in beneath.walk(folder) if entry.kind != "folder")


def _text(folder: Path, name: str) -> str | None:
    """Read a file; None if it is a link, or not text."""
    try:
        text = beneath.read(folder, name, LARGEST).decode()
    except (OSError, ValueError):
        return None
    return None if "\0" in text else text


def _without_host(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Remove the fields of run.json, or of result.json, that describe the host."""
    models = {
        alias: {name: _PUBLIC.get(name, field) for name, field in model.items()}
        for alias, model in value.get("models", {}).items()
    }
    rest = {name: field for name, field in value.items() if name not in HOST_FIELDS}
    return {**rest, "models": models}


def _names(folder: Path) -> Mapping[str, str]:
    """Return names that reveal this machine, and their replacements, the longest first."""
    places = {
        str(folder.resolve().parent): "RUNS",
        str(Path.cwd()): "FOLDER",
        str(Path.home()): "HOME",
        sys.prefix: "PYTHON",
        str(Path(__file__).resolve().parents[2]): "COTERIE",
        tempfile.gettempdir(): "TEMPORARY",
    }
    people = {socket.gethostname(): "HOST", getpass.getuser(): "USER"}
    fields = {path: name for path, name in places.items() if len(path) > 1}
    fields |= {name: what for name, what in people.items() if len(name) >= SHORTEST}
    forms = {form: to for text, to in fields.items() for form in (text, json.dumps(text)[1:-1])}
    return dict(sorted(forms.items(), key=lambda pair: -len(pair[0])))


def _without(text: str, names: Mapping[str, str]) -> str:
    for name, instead in names.items():
        text = re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", lambda _, to=instead: to, text)
    return _SERVER.sub(r'\1"SERVER"', _HOME.sub("HOME", text))
