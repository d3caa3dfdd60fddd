"""The form of a scorer's options and reference answers in tasks.

If a scorer declares a form, loading a task file reports misfits with their place. Without a form,
it accepts any options and answer. This package reads no more of a scorer than `ScorerForm`.

A scorer must be able to work with everything that its form accepts, whatever the answer is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from ..checking._shape import shape_problems
from ..values.errors import InputError
from ..values.problems import Path
from ..values.values import Json, is_mapping
from .catalogue import benchmark_scorers, installed, load_named
from .conforming import PluginValue, expected
from .foreign_code import foreign_code

if TYPE_CHECKING:
    from ..values.document import Document
    from ..values.problems import Problem

AnyScorer = TypeVar("AnyScorer", bound=Callable[..., Any])
FORM = "form"
"""The attribute of a scorer that holds its form."""
LONGEST_ANSWER = 1_000_000
"""Maximum characters of an answer, unless the scorer's form sets another limit."""
MOST_SECONDS = 3600


def _nothing_more(_options: Mapping[str, Any], _reference: Any, /) -> Mapping[Path, str]:
    return {}


@dataclass(frozen=True, kw_only=True, slots=True)
class ScorerForm(PluginValue):
    """The form of a scorer's input.

    Attributes:
        options: The JSON Schema of each option, by name. There are no others.
        needs: Other required fields of the task file, such as `repo`.
        reference: The JSON Schema of the reference answer; empty: any value.
        longest: Maximum characters of an answer. A longer one is wrong.
        check: Checks options and reference answer (None if absent) beyond the schema. Returns
            messages by path in the task file, such as `("scorer", "hit")` or `("answer",)`. It is
            called only with values that the schema accepts.
    """

    options: Mapping[str, Json] = field(default_factory=dict[str, Any])
    required: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    reference: Mapping[str, Json] = field(default_factory=dict[str, Any])
    longest: int = LONGEST_ANSWER
    check: Callable[[Mapping[str, Any], Any], Mapping[Path, str]] = _nothing_more
    IS_GUARDED = False  # The form does not know the scorer's name.

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON Schema of the parts of a task file that concern the scorer."""
        options = {"name": {}, **self.options}
        closed = {"properties": options, "additionalProperties": False}
        return {
            "required": [*self.needs],
            "properties": {"scorer": closed, "answer": self.reference},
        }


ANYTHING = ScorerForm()
"""The form of a scorer that declares none."""


def takes(form: ScorerForm) -> Callable[[AnyScorer], AnyScorer]:
    """Declare the form of a scorer."""

    def mark(scorer: AnyScorer) -> AnyScorer:
        setattr(scorer, FORM, form)
        return scorer

    return mark


def seconds_option(default: float, noun: str) -> Mapping[str, Any]:
    """Return the schema of an option that limits a scorer's time, in seconds."""
    return {
        "type": "number",
        "exclusiveMinimum": 0,
        "maximum": MOST_SECONDS,
        "x-unit": "seconds",
        "default": default,
        "description": f"What {noun} may take.",
    }


def form_of(name: str) -> ScorerForm:
    """Return the form of an installed scorer; without one, it accepts any reference and options."""
    return form_said_by(load_named("scorers", name), name)


def form_said_by(scorer: Callable[..., Any], name: str) -> ScorerForm:
    """Return the form that a scorer declares.

    Raises:
        InputError: Its `form` is no `ScorerForm`.
    """
    form = expected(getattr(scorer, FORM, None), ScorerForm | None, f"the scorer {name}")
    return form or ANYTHING


def option_schemas() -> list[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Return the option schemas of all scorers, with the names that share each.

    The inner parts of lists and mappings are left out. So are scorers of benchmarks, and scorers
    that cannot be imported: a task that names one reports it.
    """
    pairs: list[tuple[tuple[str, ...], Mapping[str, Any]]] = []
    for name in sorted(installed("scorers").keys() - benchmark_scorers()):
        try:
            form = form_of(name)
        except InputError:
            continue
        options = {key: _outer(schema) for key, schema in form.options.items()}
        schema = {"properties": options, "required": form.required}
        if options:
            pairs.append(((name,), schema))
    return pairs


def _outer(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    return {key: item for key, item in schema.items() if key not in _INNER}


_INNER = {"additionalProperties", "items", "prefixItems", "propertyNames", "properties"}


def form_problems(name: str, options: Mapping[str, Any], document: Document) -> list[Problem]:
    """Return the problems of a task's options and reference answer under its scorer's form."""
    form = form_of(name) if name in installed("scorers") else ANYTHING
    if form is ANYTHING:
        return []
    problems = [
        *shape_problems(document, form.schema),
        *(_missing(option, form, document) for option in form.required if option not in options),
    ]
    if problems:
        return problems
    reference = document.value.get("answer") if is_mapping(document.value) else None
    with foreign_code(f"the scorer {name}", InputError):
        wrong = expected(form.check(options, reference), Mapping[Path, str], f"the scorer {name}")
    return [document.problem(at, what) for at, what in wrong.items()]


def _missing(option: str, form: ScorerForm, document: Document) -> Problem:
    meaning = form.options[option]["description"]
    return document.problem(("scorer",), f"{option} is missing. {meaning}")
