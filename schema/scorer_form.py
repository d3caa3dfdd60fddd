"""What a scorer lets tasks write: the form of its options, and of the reference answer.

A scorer that says so has what is wrong told when a task file is loaded, with its place; one that
does not takes whatever it is given. Of a scorer this floor reads no more than `ScorerForm` says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from ._shape import shape_problems
from .catalogue import installed, load_named

if TYPE_CHECKING:
    from .document import Document
    from .problems import Problem

__all__ = ["ScorerForm", "form_problems", "takes"]

AnyScorer = TypeVar("AnyScorer", bound=Callable[..., Any])
FORM = "form"
"""The attribute of a scorer that has its form."""


def _nothing_more(_options: Mapping[str, Any], /) -> Mapping[str, str]:
    return {}


@dataclass(frozen=True, kw_only=True, slots=True)
class ScorerForm:
    """The form of what a scorer takes.

    Attributes:
        options: The JSON Schema of each option, by name. There are no others.
        reference: The JSON Schema of the reference answer; empty: any value.
        check: Says what is wrong with options that no schema can say, by the option. It is called
            only with options that the schema lets through.
    """

    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    reference: Mapping[str, Any] = field(default_factory=dict[str, Any])
    check: Callable[[Mapping[str, Any]], Mapping[str, str]] = _nothing_more

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON Schema of a task file, as far as it is about the scorer."""
        options = {"name": {}, **self.options}
        closed = {"properties": options, "additionalProperties": False}
        return {"properties": {"scorer": closed, "answer": self.reference}}


def takes(form: ScorerForm) -> Callable[[AnyScorer], AnyScorer]:
    """Say of a scorer what it takes."""

    def told(scorer: AnyScorer) -> AnyScorer:
        setattr(scorer, FORM, form)
        return scorer

    return told


def form_problems(name: str, options: Mapping[str, Any], document: Document) -> list[Problem]:
    """Find what a task's scorer would not take, of its options and of the reference answer.

    Args:
        name: The scorer's.
        options: What the task gives it.
        document: The task file.

    Raises:
        InputError: The package that gives the scorer cannot be imported.
    """
    scorer = load_named("scorers", name) if name in installed("scorers") else None
    form = getattr(scorer, FORM, None)
    if not isinstance(form, ScorerForm):
        return []
    if problems := shape_problems(document, form.schema):
        return problems
    return [
        document.problem(("scorer", option), why) for option, why in form.check(options).items()
    ]
