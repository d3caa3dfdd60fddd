"""The JSON Schema that constrains a model's answer when it is asked for edits of a team.

It narrows `edits.schema.json` to this team: ids of agents, models and tools are choices, and edits
without effect are left out. Every accepted answer makes a team that loads and is below the ceiling,
for any number of edits: all offers fit together. It uses only forms that strict decoding accepts
everywhere: closed objects with every field required, `anyOf`, `enum`, bounds and plain patterns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..kinds.kinds import OFFERED
from ._offer import Offer
from .strict import closed, listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...host.catalogue import Catalogue
    from ...loading.ceiling import CapabilityPolicy
    from ...team.team import Team
    from ..components import Component


def component_schema(
    component: Component,
    team: Team,
    catalogue: Catalogue,
    ceiling: CapabilityPolicy | None = None,
    *,
    most: int = 1,
    characters: int = 800,
) -> Mapping[str, Any] | None:
    """Return the schema of edits of one component of a team, as `components_schema` does."""
    return components_schema(
        (component,), team, catalogue, ceiling, most=most, characters=characters
    )


def components_schema(
    components: Sequence[Component],
    team: Team,
    catalogue: Catalogue,
    ceiling: CapabilityPolicy | None = None,
    *,
    least: int = 1,
    most: int = 1,
    characters: int = 800,
) -> Mapping[str, Any] | None:
    """Return the schema of edits of some components of a team, in one list.

    `edits_from_json` reads every accepted answer without a problem, and `apply` makes a team of it
    that is below the ceiling. A text that looks like a secret key is the one exception: no pattern
    excludes it.

    Args:
        team: The team to change. It loads, and is below the ceiling.
        ceiling: The limits that a person sets for teams. None: all that the catalogue has.
        most: The maximum number of edits in one answer. There may be room for fewer.

    Returns:
        The schema, or None if there is nothing to choose: no tool to grant, no edge to add or
            remove.

    Raises:
        InputError: A function of the team cannot be imported.
    """
    offer = Offer(
        team=team,
        catalogue=catalogue,
        ceiling=ceiling,
        components=frozenset(components),
        most=most,
        characters=characters,
    )
    chosen = [kind for kind in OFFERED if kind.component in offer.components]
    choices = [schema for kind in chosen for schema in kind.offers(offer)]
    if not choices:
        return None
    return closed(edits=listed(choices, least=least, most=offer.room_for_edits))
