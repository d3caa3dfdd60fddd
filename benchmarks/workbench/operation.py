"""The operations of a workplace, and the workplace of one agent."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ...runtime.tools import ToolError
from .tables import Tables

NOW = datetime(2023, 11, 30)  # noqa: DTZ001 - a date of the benchmark's world, which has no zones
"""The time of every task, and of every sent mail."""

_ORDINARY = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""The errors that arguments of the wrong kind cause, as in the original."""


class CallFailed(ToolError):
    """A call that ends with an exception in the original, not with a message for the agent."""


@dataclass(slots=True)
class Workplace:
    """A mutable workplace. Every agent, and every verdict, has one of its own."""

    tables: Tables

    def change(self, **tables: Any) -> None:
        """Replace the tables of these names."""
        self.tables = replace(self.tables, **tables)


@dataclass(frozen=True, kw_only=True, slots=True)
class Operation:
    """One of the 27 tools.

    Attributes:
        name: Its name with its domain, such as `calendar.create_event`.
        parameters: The description of each parameter, for models. All are optional.
        run: The function: it takes the workplace, then the parameters, and has their defaults.
        changes: Whether it can change a table that verdicts compare.
    """

    name: str
    parameters: Mapping[str, str]
    run: Callable[..., Any]
    changes: bool = False

    @property
    def about(self) -> str:
        """Its description, for models."""
        return inspect.getdoc(self.run) or ""

    @property
    def signature(self) -> str:
        """The call in the original's form, such as `calendar.delete_event.func(event_id=None)`.

        Every parameter is shown with its default.
        """
        parameters = inspect.signature(self.run).parameters
        shown = ", ".join(f"{name}={parameters[name].default!r}" for name in self.parameters)
        return f"{self.name}.func({shown})"

    def call(self, workplace: Workplace, *positional: Any, **named: Any) -> Any:
        """Run the operation.

        Returns:
            The original's result: text, a list, or a mapping. Missing cells are NaN, times of sent
            mails are `datetime`, and an array is a list.

        Raises:
            CallFailed: It ends with an exception. Its earlier changes stay.
        """
        try:
            return self.run(workplace, *positional, **named)
        except CallFailed:
            raise
        except (*_ORDINARY, ToolError) as error:
            kind = "" if isinstance(error, ToolError) else f"{type(error).__name__}: "
            raise CallFailed(f"{self.name} failed: {kind}{error}") from error


def reads(**parameters: str) -> Callable[[Callable[..., Any]], Operation]:
    """Make a tool of a domain from a function, whose docstring models see."""

    def decorate(run: Callable[..., Any]) -> Operation:
        name = f"{run.__module__.rpartition('.')[2]}.{run.__name__}"
        return Operation(name=name, parameters=parameters, run=run)

    return decorate


def changes(**parameters: str) -> Callable[[Callable[..., Any]], Operation]:
    """Make a tool that can change a table that verdicts compare."""
    return lambda run: replace(reads(**parameters)(run), changes=True)
