"""Pictures of a team: its levels, its agents and who reports to whom.

Every format is a pure function from a team to text. None needs another program or a network.
Modules are imported when a picture is drawn.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..team.team import Team

__all__ = ["FORMATS", "draw"]

FORMATS = ("text", "mermaid", "svg")
"""The formats of pictures; each is the function `draw` of the module of that name."""


def draw(team: Team, picture_format: str = "text") -> str:
    """Draw a team.

    Args:
        team: A team without a cycle, whose topology names only its own agents. Loading ensures
            this.
        picture_format: One of `FORMATS`.

    Returns:
        The picture as text that ends with a line break.

    Raises:
        KeyError: There is no such format.
    """
    if picture_format not in FORMATS:
        raise KeyError(picture_format)
    return import_module(f"{__name__}.{picture_format}").draw(team)
