"""An operation of the workplace, and the workplace that one agent works on."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ...runtime.tools import ToolError
from .tables import Tables

NOW = datetime(2023, 11, 30)  # noqa: DTZ001 - a date of the benchmark's world, which has no zones
"""When every task takes place, and when every mail is sent."""

_ORDINARY = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What arguments of the wrong kind lead to, as they did in the original."""


class CallFailed(ToolError):
    """A call that ends with an exception in the original, rather than with words for the agent."""


@dataclass(slots=True)
class Workplace:
    """A workplace that operations change. Every agent, and every verdict, has one of its own."""

    tables: Tables

    def change(self, **tables: Any) -> None:
        """Put tables in the place of those of the same names."""
        self.tables = replace(self.tables, **tables)


@dataclass(frozen=True, kw_only=True, slots=True)
class Operation:
    """One of the 27 tools.

    Attributes:
        name: With its domain, such as `calendar.create_event`.
        parameters: What each parameter means, for models. All may be left out.
        run: Does it: takes the workplace, then the parameters, whose defaults it has.
        changes: Whether it can change a table that verdicts compare.
    """

    name: str
    parameters: Mapping[str, str]
    run: Callable[..., Any]
    changes: bool = False

    @property
    def about(self) -> str:
        """What it does, for models."""
        return inspect.getdoc(self.run) or ""

    @property
    def signature(self) -> str:
        """The call as the original writes it, such as `calendar.delete_event.func(event_id=None)`.

        Every parameter is shown with its default.
        """
        parameters = inspect.signature(self.run).parameters
        shown = ", ".join(f"{name}={parameters[name].default!r}" for name in self.parameters)
        return f"{self.name}.func({shown})"

    def call(self, workplace: Workplace, *positional: Any, **named: Any) -> Any:
        """Do it.

        Returns:
            What the original returns: text, a list, or a mapping. Missing cells are NaN, times of
            mails sent here are `datetime`, and an array is a list.

        Raises:
            CallFailed: It ends with an exception. What it changed before that stays.
        """
        try:
            return self.run(workplace, *positional, **named)
        except CallFailed:
            raise
        except (*_ORDINARY, ToolError) as error:
            kind = "" if isinstance(error, ToolError) else f"{type(error).__name__}: "
            raise CallFailed(f"{self.name} failed: {kind}{error}") from error


def reads(**parameters: str) -> Callable[[Callable[..., Any]], Operation]:
    """Make a tool of a domain from a function: its docstring is what models are told."""

    def decorate(run: Callable[..., Any]) -> Operation:
        name = f"{run.__module__.rpartition('.')[2]}.{run.__name__}"
        return Operation(name=name, parameters=parameters, run=run)

    return decorate


def changes(**parameters: str) -> Callable[[Callable[..., Any]], Operation]:
    """Make a tool that can change a table that verdicts compare."""
    return lambda run: replace(reads(**parameters)(run), changes=True)
