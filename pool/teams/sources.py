"""Loads team files for a pool."""

from __future__ import annotations

from pathlib import Path

from ...schema.host.catalogue import Catalogue
from ...schema.loading.loading import load_team, team_path
from ...schema.loading.team_folder import self_contained
from ...schema.team.team import Team


def load_source(source: str | Path, catalogue: Catalogue) -> Team:
    """Load a team in a pool's form: with the texts of prompt files that only its author has.

    Args:
        source: The path of a file or a folder, or `seed:NAME` for a team that comes with coterie.
    """
    path = team_path(source)
    team = load_team(path, catalogue)
    own_catalogue = catalogue.beside(path.parent)
    return self_contained(team, own_catalogue)
