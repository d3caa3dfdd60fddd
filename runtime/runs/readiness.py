"""Requirements of a team that this host lacks, for commands that run nothing: `mas-validate`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from ...schema.host.catalogue import Catalogue
from ...schema.team.team import Team
from ...schema.values.errors import InputError
from ..plan.plan import Plan, compile
from ..tools.toolbox import Toolbox
from .services import Setting, open_services


def lacking(
    teams: Mapping[str, tuple[Team, Catalogue]], *, start_servers: bool = False
) -> dict[str, list[str]]:
    """Return why `mas-run` would refuse each of these teams here, from `Services.lacks`.

    Args:
        teams: By file, each team with the names available to it.
        start_servers: Also start the tool servers, to find the tools that they lack.
    """

    async def check() -> dict[str, list[str]]:
        fields: dict[str, list[str]] = {}
        for file, (team, catalogue) in teams.items():
            async with open_services(catalogue, Setting(), connected=False) as services:
                plan = compile(team, catalogue)
                fields[file] = services.lacks(plan)
                if start_servers:
                    fields[file] += await _unserved(services.toolbox, plan)
        return fields

    return asyncio.run(check())


async def _unserved(toolbox: Toolbox, plan: Plan) -> list[str]:
    """Return why the tools of a plan's agents are unavailable; this starts their servers."""
    lacking = list[str]()
    for name in sorted({tool for agent in plan.agents.values() for tool in agent.agent.tools}):
        try:
            await toolbox.prepare([name])
        except InputError as error:
            lacking.append(str(error))
    return lacking
