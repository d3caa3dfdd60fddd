"""Python functions as scorers: their argument names decide what they receive."""

from __future__ import annotations

import hashlib
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..values.errors import InputError
from ..values.hints import listed
from .python_tool import load_function

ARGUMENTS = ("answer", "reference", "options", "task", "evidence")
"""The arguments that a scorer may have."""
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_PYTHON = re.compile(r".*\.py:[A-Za-z_]\w*")


@dataclass(frozen=True, kw_only=True, slots=True)
class PythonScorer:
    """A function of the host that scores answers.

    Attributes:
        name: Its name in tasks: the function's name.
        sha256: The digest of its file: a changed file is another scorer.
        arguments: Its arguments, out of `ARGUMENTS`.
        function: The function, plain or async. It runs with the host's rights.
    """

    name: str
    path: Path
    sha256: str
    arguments: tuple[str, ...]
    function: Callable[..., Any] = field(compare=False, repr=False)

    @property
    def needs_reference(self) -> bool:
        """Whether it scores only tasks with a reference answer."""
        return "reference" in self.arguments

    def is_at(self, named: str, folder: Path) -> bool:
        """Return whether it is the function of `FILE.py:FUNCTION`, relative to a folder."""
        file, _, name = named.rpartition(":")
        return name == self.name and (folder / Path(file).expanduser()).resolve() == self.path


def is_python(named: str) -> bool:
    """Return whether a scorer's name has the form `FILE.py:FUNCTION`."""
    return _PYTHON.fullmatch(named) is not None


def load_python_scorer(named: str, folder: Path) -> PythonScorer:
    """Import a Python file of the host, and describe one of its functions as a scorer.

    Args:
        named: `FILE.py:FUNCTION`.

    Raises:
        InputError: There is no such file or function, the file cannot be imported, or the function
            cannot be a scorer.
    """
    function = load_function(named, folder)
    file, _, name = named.rpartition(":")
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{named}: a scorer's name has lower-case letters, digits and _ only, and begins with a"
            " letter."
        )
    parameters = inspect.signature(function).parameters.values()
    wrong = [
        str(parameter)
        for parameter in parameters
        if parameter.name not in ARGUMENTS or parameter.kind is parameter.POSITIONAL_ONLY
    ]
    if wrong or not parameters:
        takes = f"has the argument {wrong[0]!r}" if wrong else "has no arguments"
        raise InputError(f"{named}: the function {takes}. A scorer takes {listed(ARGUMENTS)}.")
    path = (folder / Path(file).expanduser()).resolve()
    return PythonScorer(
        name=name,
        path=path,
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        arguments=tuple(parameter.name for parameter in parameters),
        function=function,
    )
