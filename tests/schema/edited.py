"""Teams that edits make, and the edits that lead from one team to another."""

from coterie.schema import Team
from coterie.schema.edits import Edit, apply, diff, edits_from_json, edits_to_json

from .strategies import CATALOGUE


def made(parent: Team, *edits: Edit) -> Team:
    """Return the team that edits make, which have to fit."""
    child = apply(parent, edits, CATALOGUE)
    assert isinstance(child, Team), child
    return child


def leading(before: Team, after: Team) -> tuple[Edit, ...]:
    """Return the difference of two teams, which has to make the second one, and to be JSON."""
    edits = diff(before, after)
    assert apply(before, edits, CATALOGUE) == after
    assert list(edits_from_json(edits_to_json(edits))) == list(edits)
    return edits
