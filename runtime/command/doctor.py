"""`mas doctor`: what this machine has, and whether its jail holds."""

from __future__ import annotations

import asyncio
import os
import platform
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import click

from ...schema.command import Command, host_catalogue, name_options
from ...schema.host.catalogue import Catalogue, ToolServer, load_named, load_tool
from ...schema.host.conforming import expected
from ...schema.host.foreign_code import foreign_code
from ...schema.host.models import Model
from ...schema.team.team import IMPLIED_BACKENDS, Agent
from ...schema.values.errors import AgentError, InputError, JailError
from ...schema.values.extras import how_to_get
from ...schema.values.json_text import dumps
from ...schema.values.terminal import speakable
from ..gateway.endpoint import endpoint_of
from ..otel.asked import ready
from ..tools.servers import check_server, start_session


@click.command(cls=Command)
@name_options
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.option("--no-probes", is_flag=True, help="Run no probes, programs or tool servers.")
@click.option(
    "--ping",
    "only_ping",
    is_flag=True,
    help="Only request a few tokens from each model, and report which models answer. Exits with"
    " code 1 if one does not.",
)
def main(as_json: bool, no_probes: bool, only_ping: bool, **host: Any) -> None:
    """Show what this machine has: models, backends, tools, and how safe its jail is.

    Attacks the jail with probes, which the jail must stop, tries the programs that backends run,
    and lists the tools of tool servers. Exits with code 1 if there is no jail, or if a probe gets
    through. Calls a model only with --ping.
    """
    catalogue = host_catalogue(**host)
    if only_ping:
        _ping(catalogue.models, as_json=as_json)
        return
    jail = _jail(probe=not no_probes)
    findings: dict[str, Any] = {
        "coterie": f"{version('coterie')}, Python {platform.python_version()}, {platform.system()}",
        "models": {alias: _model(model) for alias, model in sorted(catalogue.models.items())},
        "embedded model": _embedded(),
        "backends": {
            name: _check_backend(name, probe=not no_probes) for name in sorted(catalogue.backends)
        },
        "tools": {name: _tool(name, catalogue) for name in sorted(catalogue.tools)}
        | asyncio.run(_served(catalogue, start=not no_probes)),
        "traces": ready(),
        "jail": jail,
    }
    click.echo(dumps(findings, indent=2) if as_json else _text(findings))
    if not jail["safe"]:
        raise click.exceptions.Exit(1)


def _ping(models: Mapping[str, Model], *, as_json: bool) -> None:
    """Call the models; end with 1 if one does not answer."""
    from .pinging import ping

    pings = ping(models)
    if as_json:
        click.echo(dumps([item.value() for item in pings], indent=2))
    else:
        click.echo(speakable("\n".join(map(str, pings)) or "no model has an endpoint to check."))
    if not all(item.answered for item in pings):
        raise click.exceptions.Exit(1)


def _model(model: Model) -> str:
    shown = f"{model.model}{f' at {model.api_base}' if model.api_base else ''} ({model.origin})"
    try:
        endpoint_of(model, os.environ)
    except InputError as error:
        return f"{shown}: {error}"
    return shown


def _tool(name: str, catalogue: Catalogue) -> str:
    """Return where a tool comes from, or why it is not available."""
    permission = catalogue.permissions.get(name, "allow")
    approval = ", after asking" if permission == "ask" else ""
    if name in catalogue.python_tools:
        return f"ready (a function of tools.yaml{approval})"
    if "." in name:
        return f"of the server at {catalogue.servers[name.partition('.')[0]].where}{approval}"
    try:
        load_tool(name)
    except InputError as error:
        return str(error)
    return f"ready{' (for a benchmark)' if name in catalogue.benchmark_tools else ''}{approval}"


async def _served(catalogue: Catalogue, *, start: bool) -> dict[str, str]:
    """Return why tools of servers are not available; starts the servers to find out."""
    fields: dict[str, str] = {}
    for server in catalogue.servers.values():
        names = [f"{server.name}.{tool}" for tool in server.tools]
        try:
            check_server(server)
            if start:
                fields |= await _unserved(server)
        except InputError as error:
            fields |= dict.fromkeys(names, str(error))
    return fields


async def _unserved(server: ToolServer) -> dict[str, str]:
    """Start a server, and return which of its tools it does not offer."""
    fields: dict[str, str] = {}
    session = await start_session(server)
    for tool in server.tools:
        try:
            session.tool(tool)
        except InputError as error:
            fields[f"{server.name}.{tool}"] = str(error)
    await session.stop()
    return fields


def _embedded() -> str:
    from ..local.weights import find

    missing = [name for name in ("xllamacpp", "gguf") if find_spec(name) is None]
    if missing:
        return f"not installed: {how_to_get('local')}"
    path = find()
    return f"ready: {path}" if path else "installed; the model is fetched on first use"


def _check_backend(name: str, *, probe: bool) -> str:
    try:
        with foreign_code(f"the backend {name}", InputError):
            return _backend(name, probe=probe)
    except InputError as error:
        return str(error)


def _backend(name: str, *, probe: bool) -> str:
    """Return whether a backend can run an agent of the type that implies it."""
    types = [kind for kind, backend in IMPLIED_BACKENDS.items() if backend == name]
    agent = Agent(
        id="probe",
        agent_type=types[0] if types else None,
        prompt="Probe.",
        function="concat" if name == "function" else None,
    )
    runner: Any = load_named("runners", name)
    lacking = [
        *expected(runner.objections(agent), Iterable[str], f"the backend {name}"),
        *expected(getattr(runner, "lacks", tuple)(), Iterable[str], f"the backend {name}"),
    ]
    ready = f"ready ({', '.join(types) or 'plugin'})"
    if lacking or not probe or not hasattr(runner, "probe"):
        return "; ".join(lacking) or ready
    try:
        return f"{ready}, tested just now: {asyncio.run(runner().probe())}"
    except (AgentError, JailError) as error:
        return str(error)


def _jail(*, probe: bool) -> dict[str, Any]:
    from ..jail.battery import run_battery
    from ..jail.detect import detect

    report = detect()
    findings: dict[str, Any] = {"found": str(report), "safe": report.tier is not None}
    if probe and report.tier is not None:
        results = run_battery()
        through = [f"{result.name}: {result.detail}" for result in results if not result.stopped]
        findings["probes"] = f"{len(results) - len(through)} of {len(results)} stopped"
        findings["got through"] = through
        findings["safe"] = not through
    return findings


def _text(findings: dict[str, Any]) -> str:
    lines: list[str] = []
    for name, finding in findings.items():
        if isinstance(finding, dict):
            lines += [name, *(f"  {key}: {item}" for key, item in finding.items() if item != [])]
        else:
            lines.append(f"{name}: {', '.join(finding) if isinstance(finding, list) else finding}")
    return speakable("\n".join(lines))
