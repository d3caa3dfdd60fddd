"""`mas serve`: teams that other programs call."""

from __future__ import annotations

import ipaddress
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...schema.command import Command, catalogue_of, host_options
from ...schema.values.errors import InputError
from ...schema.values.extras import how_to_get
from ...schema.values.terminal import speakable
from ..values.loopback import LOOPBACK

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...schema.values.errors import CoterieError
    from ..runs.services import Setting
    from ..serving.keys import Keys
    from ..serving.server import TeamServer
    from ..serving.teams import Teams

ALSO = {"mcp": ("MCP", "/mcp"), "a2a": ("A2A", "/.well-known/agent-card.json")}
"""The protocols that need an extra package, and their paths."""
WAITING = 256
"""Requests that may wait for their turn."""


@click.command("serve", cls=Command)
@click.argument("sources", metavar="TEAM...", nargs=-1, required=True)
@click.option("--host", default=LOOPBACK, show_default=True, help="Listen on this address.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8000, show_default=True,
    help="Listen on this port; 0 picks a free one.",
)  # fmt: skip
@click.option(
    "--keys",
    "keys_file",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The keys that clients may send, one a line.  [default: those in MAS_SERVE_KEYS]",
)
@click.option(
    "--allow-origin",
    "origins",
    multiple=True,
    metavar="ORIGIN",
    help="Allow requests from web pages of this origin, such as https://ui.example.org. May be"
    " repeated.",
)
@click.option(
    "--max-usd",
    type=click.FloatRange(0, min_open=True),
    help="The most that one request may cost, in USD.",
)
@click.option(
    "--max-usd-per-day",
    type=click.FloatRange(0, min_open=True),
    help="The most that all requests of a day (UTC) may cost, in USD.",
)
@click.option(
    "--allow-unpriced", is_flag=True,
    help="Under a cap, also call models without a known price.",
)  # fmt: skip
@click.option(
    "--concurrency",
    type=click.IntRange(1),
    default=32,
    show_default=True,
    help=f"How many requests to process at once; {WAITING} more may wait.",
)
@click.option(
    "--runs",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("runs"),
    show_default=True,
    help="The folder for the run folders of requests.",
)
@click.option(
    "--mcp", "over_stdio", is_flag=True,
    help="Serve MCP on standard input and output instead of listening on a port.",
)  # fmt: skip
@host_options
def main(sources: tuple[str, ...], **options: Any) -> None:
    """Serve teams to other programs: the OpenAI API, MCP and A2A.

    TEAM is a team file, seed:NAME, or a pool's folder, or pool:FOLDER, for the best team of a pool.
    Clients call a team by the name in its file, and that of a pool by pool:NAME. SIGHUP loads the
    teams again. SIGTERM and Ctrl-C let requests under way end first, for 25 seconds.
    """
    _need(options)
    from ..serving.keys import Keys
    from ..serving.teams import Teams
    from .loading import fetch_embedded
    from .signals import to_the_end

    keys = Keys.read(options["keys_file"], os.environ)
    if not keys.texts and not options["over_stdio"] and not _is_local(options["host"]):
        raise InputError(
            f"--host {options['host']}: other machines can reach it, so clients need keys. Write"
            " them to a file, one per line, and pass it with --keys."
        )
    teams = Teams.opened(sources, catalogue_of(options))
    fetch_embedded(model for team in teams for model in team.plan.models.values())
    sys.exit(to_the_end(_served(teams, keys, options), lambda: ""))


def _need(options: Mapping[str, Any]) -> None:
    """Refuse to serve a protocol whose library is not installed."""
    from ...schema.host.catalogue import find_package

    extra, package = ("mcp", "mcp") if options["over_stdio"] else ("serve", "uvicorn")
    if find_package(package) is None:
        raise InputError(f"mas serve needs the extra {extra}. Install it: {how_to_get(extra)}")


def _is_local(host: str) -> bool:
    """Return whether only this machine reaches an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _setting(options: Mapping[str, Any]) -> Setting:
    """Return the setting of runs. No request may cost more than a day's budget."""
    from ..runs.services import Setting
    from ..values.budget import Caps

    caps = [cap for cap in (options["max_usd"], options["max_usd_per_day"]) if cap is not None]
    budget = Caps(usd=min(caps, default=None))
    return Setting(budget=budget, allow_unpriced=options["allow_unpriced"])


async def _served(teams: Teams, keys: Keys, options: Mapping[str, Any]) -> int:
    from ..serving.account import Account
    from ..serving.admission import RequestQueue
    from ..serving.listening import reloading
    from ..serving.server import serving
    from ..values.budget import Caps

    per_day = Caps(usd=options["max_usd_per_day"])
    admission = RequestQueue(options["concurrency"], WAITING)
    with Account(runs=options["runs"], per_day=per_day) as account:
        async with serving(teams, account, _setting(options), admission, keys.texts) as server:
            with reloading(server, lambda wrong: _say_reloaded(teams, wrong)):
                return await _until_stopped(server, keys, options)


async def _until_stopped(server: TeamServer, keys: Keys, options: Mapping[str, Any]) -> int:
    """Serve; return the exit code: 0 if every request was answered."""
    if options["over_stdio"]:
        from ..serving.mcp_server import serve_stdio

        await serve_stdio(server)
        return 0
    from ..serving.app import app_of
    from ..serving.listening import listen

    host = options["host"]
    app = app_of(server, keys, origins=options["origins"], is_local=_is_local(host))
    all_ended = await listen(
        app, server, host=host, port=options["port"], ready=lambda address: _say(server, address)
    )
    return 0 if all_ended else 1


def _say(server: TeamServer, address: str) -> None:
    """Print the addresses of the teams; on standard output for the OpenAI API."""
    from ...schema.host.catalogue import find_package

    for team in server.teams:
        click.echo(speakable(f"{team.name}: {team.file}"), err=True)
    click.echo(f"{address}/v1")
    for package, (protocol, path) in ALSO.items():
        if find_package(package) is not None:
            click.echo(f"{protocol}: {address}{path}", err=True)
    click.echo("Ctrl-C ends it.", err=True)


def _say_reloaded(teams: Teams, wrong: Mapping[str, CoterieError]) -> None:
    """Print which teams were reloaded, and the errors of the others."""
    for team in teams:
        if (error := wrong.get(team.name)) is None:
            click.echo(speakable(f"reloaded {team.name}: {team.file}"), err=True)
        else:
            click.echo(speakable(f"{error}\n{team.name} stays unchanged."), err=True)
