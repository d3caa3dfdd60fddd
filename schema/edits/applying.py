"""Makes a team from a team and edits, or reports why that is impossible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..loading.loading import check_team
from ..team._meaning import TEAM_RULES
from ..team.team import Team, natural
from ..team.writing import write_team_yaml
from ..values.problems import Problem, dotted
from ._claims import conflicts
from ._draft import draft
from .kinds.kind import tag

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..host.catalogue import Catalogue
    from ..loading.ceiling import CapabilityPolicy
    from .kinds.kind import Kind
    from .kinds.kinds import Edit

EDITS = "edits"
CHILD = "child.yaml"


@dataclass(frozen=True, kw_only=True, slots=True)
class RejectedEdits:
    """Edits that make no valid team.

    Attributes:
        problems: All reasons. Problems of file `edits` are about edits that contradict each other
            or do not fit the team. Problems of file `child.yaml` come from loading the edited team,
            written in canonical form.
    """

    problems: tuple[Problem, ...]


def apply(
    team: Team, edits: Sequence[Edit], catalogue: Catalogue, ceiling: CapabilityPolicy | None = None
) -> Team | RejectedEdits:
    """Make a team from a team and edits.

    The order of the edits does not change the result. The result is loaded from its canonical text,
    so a team accepted here loads everywhere. It has no lineage: the caller that stores it adds one.

    Args:
        team: The parent, which stays unchanged.
        ceiling: The limits that a person sets for teams. None: all that the catalogue has.
    """
    if contradictions := tuple(_contradictions(edits)):
        return RejectedEdits(problems=contradictions)
    value, objections = draft(team, edits)
    if objections:
        places = {id(edit): index for index, edit in enumerate(edits)}
        problems = (_problem(places[id(edit)], edit, *why) for edit, *why in objections)
        return RejectedEdits(
            problems=tuple(sorted(problems, key=lambda problem: natural(problem.path)))
        )
    rules = (*TEAM_RULES, ceiling.rule) if ceiling else TEAM_RULES
    child, problems = check_team(write_team_yaml(value).encode(), CHILD, catalogue, rules)
    return RejectedEdits(problems=tuple(problems)) if problems else child


def _contradictions(edits: Sequence[Edit]) -> Iterator[Problem]:
    for first, second, claim in conflicts(edits):
        earlier = f"edits[{first}].{tag(type(edits[first]))}"
        message = f"it sets {dotted(claim)}, and so does {earlier}. Keep one of them."
        yield _problem(second, edits[second], "", message)


def _problem(index: int, edit: Kind, field: str, message: str) -> Problem:
    path = ("edits", index, tag(type(edit)), *([field] if field else []))
    return Problem(file=EDITS, path=dotted(path), message=message)
