"""The JSON Schema that a model is held to when it is asked for edits of a team.

It has the shape of `edits.schema.json`, narrowed to what may be true of this team: ids of agents,
models and tools are choices, and what would change nothing is left out. Whatever it lets through
makes a team that loads and is below the ceiling, however many edits there are: what is offered
together is chosen so that any of it fits together. It keeps to what strict decoding takes
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
    """Write the schema of edits of one component of a team; the rest is as `components_schema`.

    Args:
        team: The team that is to change. It loads, and is below the ceiling.
        ceiling: What a person lets teams ask for. None: whatever the catalogue has.
        most: The most edits in one answer.
    """
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
    """Write the schema of edits of some components of a team, in one list.

    What it lets through is read by `edits_from_json` without a problem, and `apply` makes a team of
    it that is below the ceiling. A text that looks like a secret key is the one exception: no
    pattern keeps it out.

    Args:
        team: The team that is to change. It loads, and is below the ceiling.
        ceiling: What a person lets teams ask for. None: whatever the catalogue has.
        least: The fewest edits in one answer.
        most: The most edits in one answer. There may be room for fewer.

    Returns:
        The schema, or None where there is nothing to choose: no tool that could be granted, no edge
        that could come or go.

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
