"""The templates of these pages, and graphs of teams for them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ...runtime.view import Templates
from ...schema.picture.svg import draw_marked

if TYPE_CHECKING:
    from collections.abc import Mapping

    from markupsafe import Markup

    from ...schema.picture.svg import Mark
    from ...schema.team import Team

__all__ = ["TEMPLATES", "graph_of"]

TEMPLATES = Templates(folder=Path(__file__).parent)


def graph_of(team: Team, tip: str, marks: Mapping[str, Mark] | None = None) -> Markup:
    """Draw a team.

    Args:
        team: The team.
        tip: The id that the tips of its arrows have on the page.
        marks: What is said of agents.
    """
    from markupsafe import Markup

    # Drawn from a team that loads; what it says is escaped there.
    return Markup(draw_marked(team, marks or {}, team.edges, tip=tip))  # noqa: S704
