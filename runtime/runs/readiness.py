"""What a team needs that this host lacks, for commands that run nothing: `mas-validate`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from ...schema.host.catalogue import Catalogue
from ...schema.team.team import Team
from ..plan.plan import compile
from .services import Setting, open_services


def lacking(teams: Mapping[str, tuple[Team, Catalogue]]) -> dict[str, list[str]]:
    """Return why `mas-run` would refuse each of some teams here, as `Services.lacks` has it.

    Args:
        teams: The teams, each with what it may name, by their files.
    """

    async def asked() -> dict[str, list[str]]:
        fields: dict[str, list[str]] = {}
        for file, (team, known) in teams.items():
            async with open_services(known, Setting(), connected=False) as services:
                fields[file] = services.lacks(compile(team, known))
        return fields

    return asyncio.run(asked())
