"""The templates of these pages, and graphs of teams."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ...runtime.view import Templates
from ...schema.picture.svg import draw_marked

if TYPE_CHECKING:
    from markupsafe import Markup

    from ...schema.team.team import Team

TEMPLATES = Templates(folder=Path(__file__).parent)


def graph_of(team: Team, tip: str) -> Markup:
    """Return the drawing of a team.

    Args:
        tip: The id of its arrowheads on the page.
    """
    from markupsafe import Markup

    # Drawn from a valid team; `draw_marked` escapes its texts.
    return Markup(draw_marked(team, {}, team.edges, tip=tip))  # noqa: S704
