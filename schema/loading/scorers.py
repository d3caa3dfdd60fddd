"""The scorer of a task: a named one, or a Python function that this host grants."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..host.catalogue import HostTools, benchmark_scorers
from ..team.task import ScorerChoice
from ..values.hints import did_you_mean
from ..values.problems import quoted
from ..values.values import is_mapping

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..host.catalogue import Catalogue
    from ..host.python_scorer import PythonScorer
    from ..values.document import Document
    from ..values.problems import Problem

EXACT = "exact"
"""The scorer of a task that names none. It accepts every reference answer."""
GRANTED = "with --scorer FILE.py:FUNCTION, or under scorers in tools.yaml"


def granting_scorer(catalogue: Catalogue, named: str | None) -> Catalogue:
    """Grant tasks the Python function of `--scorer`; any other name changes nothing.

    Args:
        named: The value of `--scorer`.
    """
    if named is None:
        return catalogue
    from ..host.python_scorer import is_python, load_python_scorer

    if not is_python(named):
        return catalogue
    scorer = load_python_scorer(named, Path())
    return catalogue.having(HostTools(scorers={scorer.name: scorer}))


def named_scorer(named: str | None) -> str:
    """Return the scorer name in tasks for a value of `--scorer`."""
    if named is None:
        return EXACT
    from ..host.python_scorer import is_python

    return named.rpartition(":")[2] if is_python(named) else named


def scorer_of(
    value: Any, document: Document, folder: Path, catalogue: Catalogue
) -> tuple[ScorerChoice, list[Problem]]:
    """Read the scorer that a task names, and return it with its problems.

    Args:
        value: The task's field, without malformed parts.
        folder: The folder that the path of a Python file is relative to.
    """
    fields: dict[str, Any] = {"name": value} if isinstance(value, str) else {**value}
    python, name = fields.pop("python", None), fields.pop("name", None)
    options = MappingProxyType(fields)
    if python is not None:
        own = _granted(python, folder, catalogue)
        wrong = [] if own else [f"{quoted(python)} runs only if you allow it. Grant it {GRANTED}."]
        wrong += ["a scorer has either name or python. Leave one of them out."] if name else []
        chosen = ScorerChoice(name=own.name if own else EXACT, options=options, python=own)
        return chosen, [document.problem(("scorer", "python"), message) for message in wrong]
    if name is None:
        return ScorerChoice(options=options), [*_unnamed(document)]
    chosen = ScorerChoice(name=name, options=options, python=catalogue.python_scorers.get(name))
    if name in catalogue.scorers:
        accepts_all = chosen.python or (name == EXACT and not options)
        return chosen, [] if accepts_all else _misfits(chosen, document)
    path = ("scorer", "name") if ("scorer", "name") in document.places else ("scorer",)
    message = f"no scorer {quoted(name)}.{scorer_hint(name, catalogue)}"
    return chosen, [document.problem(path, message)]


def _misfits(chosen: ScorerChoice, document: Document) -> list[Problem]:
    from ..host.scorer_form import form_problems

    return form_problems(chosen.name, chosen.options, document)


def _granted(python: str, folder: Path, catalogue: Catalogue) -> PythonScorer | None:
    """Return the function of a Python file if the host grants it: a task file grants none."""
    own = catalogue.python_scorers.values()
    return next((scorer for scorer in own if scorer.is_at(python, folder)), None)


def _unnamed(document: Document) -> Iterator[Problem]:
    """Yield a problem for a missing scorer name; a malformed one is reported already."""
    written = document.value.get("scorer") if is_mapping(document.value) else None
    if is_mapping(written) and not {"name", "python"} & written.keys():
        yield document.problem(("scorer",), "name is missing. The scorer's name, or python.")


def scorer_hint(name: str, catalogue: Catalogue) -> str:
    """Return a hint for an unknown scorer: the closest name, or all names."""
    own = sorted(catalogue.scorers - benchmark_scorers())
    return (
        did_you_mean(name, catalogue.scorers) or f" Known: {', '.join(own)}; or yours, {GRANTED}."
    )
