"""`mas-doctor`: what this machine has, and whether its jail holds."""

from __future__ import annotations

import json
import os
import platform
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from ...schema.catalogue import load_named
from ...schema.command import Command, host_catalogue, host_options
from ...schema.errors import InputError
from ...schema.team import IMPLIED_BACKENDS, Agent
from ..gateway.endpoint import endpoint_of
from ..terminal import speakable

if TYPE_CHECKING:
    from ...schema.models import Model

__all__ = ["main"]


@click.command(cls=Command)
@host_options
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@click.option("--no-probes", is_flag=True, help="Do not attack the jail.")
def main(as_json: bool, no_probes: bool, **host: Any) -> None:
    """Tell what this machine has: models, backends, tools, and how safe its jail is.

    The jail is attacked with a battery of probes, each of which must be stopped. Ends with 1 when
    there is no jail or a probe gets through.
    """
    known = host_catalogue(**host)
    jail = _jail(probe=not no_probes)
    findings: dict[str, Any] = {
        "coterie": f"{version('coterie')}, Python {platform.python_version()}, {platform.system()}",
        "models": {alias: _model(model) for alias, model in sorted(known.models.items())},
        "embedded model": _embedded(),
        "backends": {name: _backend(name) for name in sorted(known.backends)},
        "tools": sorted(known.tools),
        "jail": jail,
    }
    click.echo(json.dumps(findings, indent=2) if as_json else _text(findings))
    if not jail["safe"]:
        raise click.exceptions.Exit(1)


def _model(model: Model) -> str:
    shown = f"{model.model}{f' at {model.api_base}' if model.api_base else ''} ({model.origin})"
    try:
        endpoint_of(model, os.environ)
    except InputError as error:
        return f"{shown}: {error}"
    return shown


def _embedded() -> str:
    from ..local.weights import find

    missing = [name for name in ("xllamacpp", "gguf") if find_spec(name) is None]
    if missing:
        return "not installed: pip install 'coterie[local]'"
    path = find()
    return f"ready: {path}" if path else "installed; its file is fetched on first use"


def _backend(name: str) -> str:
    """Ask a backend whether it can run an agent of the type that implies it."""
    types = [kind for kind, backend in IMPLIED_BACKENDS.items() if backend == name]
    agent = Agent(
        id="probe",
        agent_type=types[0] if types else None,
        prompt="Probe.",
        function="concat" if name == "function" else None,
    )
    objections = list(load_named("runners", name).objections(agent))
    return "; ".join(objections) or f"ready ({', '.join(types) or 'plugin'})"


def _jail(*, probe: bool) -> dict[str, Any]:
    from ..jail import detect
    from ..jail.battery import run_battery

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
    for name, found in findings.items():
        if isinstance(found, dict):
            lines += [name, *(f"  {key}: {item}" for key, item in found.items() if item != [])]
        else:
            lines.append(f"{name}: {', '.join(found) if isinstance(found, list) else found}")
    return speakable("\n".join(lines))


if __name__ == "__main__":
    main()
