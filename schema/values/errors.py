"""The exceptions that this package raises on purpose.

* CoterieError
  + InputError            a file, an option or a missing part: exit 2, nothing was spent
    - ConfigError         a file that does not load, with every problem and its place
    - UnsupportedSystem   neither Linux nor macOS
  + RunError              the run could not give an answer: exit 1
    - ModelError          the provider of a model (its kinds are in `runtime.gateway`)
    - AgentError          one agent of the run
    - JailError           code of an agent could not run safely
  + StorageError          a file of state cannot be written, or is damaged: exit 1
  + LimitError            a limit that the user set was reached: exit 3
  + AnswerFormError       a scorer cannot read the answers: exit 2, finished work is stored

Every message has the rule, the actual value, the likely cause and the fix. The command line prints
it without a traceback; any exception other than `CoterieError` is our bug (exit 70).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TypeVar

from .problems import FORMATS, Problem

T = TypeVar("T")


class CoterieError(Exception):
    """The base of all errors that a caller may catch. `exit_code` is the exit code of a command."""

    exit_code = 1


class InputError(CoterieError):
    """A part of the user's input is wrong or missing. Nothing was spent."""

    exit_code = 2


class ConfigError(InputError):
    """A file does not load. `problems` has all of them, sorted by place."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(FORMATS["text"](self.problems))


def without_problems(value: T, problems: Sequence[Problem]) -> T:
    """Return the loaded value.

    Raises:
        ConfigError: There are problems.
    """
    if problems:
        raise ConfigError(problems)
    return value


class UnsupportedSystem(InputError):
    """This system lacks a feature that every POSIX system has."""

    def __init__(self) -> None:
        super().__init__(
            f"this needs Linux or macOS, and the system is {sys.platform!r}. On Windows, use the"
            " Windows Subsystem for Linux (wsl --install), and coterie in there."
        )


class RunError(CoterieError):
    """The run ended without an answer."""


class ModelError(RunError):
    """A language model gave no usable answer."""


class AgentError(RunError):
    """An agent ended without an answer."""


class JailError(RunError):
    """Code of an agent could not run, or not safely.

    Attributes:
        is_lost: Whether the machine with the jail is gone, so that the work can be repeated
            elsewhere.
    """

    is_lost = False


class StorageError(CoterieError, OSError):
    """A file of state cannot be written, or its content is damaged. The old content stays.

    Also an `OSError`: built from the system's error (number, words, path), it shows one line.
    """

    def __str__(self) -> str:
        if self.filename is None:
            return super().__str__()
        return f"{self.filename}: cannot be written: {self.strerror}."


class AnswerFormError(CoterieError):
    """All scores are 0 because a scorer cannot read the answers; finished work is stored."""

    exit_code = 2


class LimitError(CoterieError):
    """A limit that the user set was reached; finished work is stored."""

    exit_code = 3
