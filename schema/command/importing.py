"""`mas dev import`: converts files of other programs to a team."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from ..foreign.source import Imported
from ..foreign.taking_over import crew_name, models_text, take_over, tools_text
from ..loading.recognition import crew_folders
from ..team.writing import dump, schema_beside
from ..values.errors import InputError
from ..values.files import write_atomically
from ..values.terminal import speakable
from . import Command, note

MODELS, TOOLS, SERVERS = "models.yaml", "tools.yaml", "servers.json"
ALL_TOOLS = "all_tools.yaml"


@click.command("import", cls=Command)
@click.argument("path", metavar="FILE|FOLDER", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    "target",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write the team to this file, and its models and tools into models.yaml and tools.yaml"
    " beside it. Creates its folder; never overwrites a file.  [default: standard output]",
)
@click.option(
    "--tools",
    "tools_file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Grant agents the tools that this tools.yaml lists for their servers.",
)
@click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="NAME=VALUE",
    help="The value of {NAME} in CrewAI's files.",
)
def main(path: Path, target: Path | None, tools_file: Path | None, inputs: tuple[str, ...]) -> None:
    """Make a team of files of CrewAI or docker-agent.

    FILE is docker-agent's YAML, or CrewAI's agents.yaml or tasks.yaml, of which both are read.
    FOLDER is a CrewAI project; with -o, each of several crews gets a folder. Code is not read, and
    no server is started. Everything without a counterpart is reported on standard error, each with
    its place.
    """
    crews = crew_folders(path) if target is not None and path.is_dir() else []
    if target is None or len(crews) < 2:
        _import_team(path, target, tools_file, _inputs(inputs))
        return
    for crew in crews:
        place = target.parent / crew_name(crew) / target.name
        _import_team(crew, place, tools_file, _inputs(inputs))
    note("each crew is a team. Their order is defined in code, which is not imported.")


def _import_team(
    path: Path, target: Path | None, tools_file: Path | None, inputs: Mapping[str, str]
) -> None:
    """Import one team, write it, and report everything that was lost."""
    imported = take_over(path, inputs, _listed(tools_file))
    team = dump(imported.team, schema=schema_beside(target) if target else "team.schema.json")
    if target is None:
        click.echo(team, nl=False)
    else:
        _write(imported, target, team)
    for problem in imported.losses:
        click.echo(speakable(str(problem)), err=True)
    for advice in (*imported.advice, *_summary(imported, target)):
        note(advice)
    for command in _commands(imported, path, target, tools_file):
        click.echo(speakable(command), err=True)


def _listed(tools_file: Path | None) -> Mapping[str, tuple[str, ...]] | None:
    """Return the tools of the servers in a tools.yaml, by server name."""
    if tools_file is None:
        return None
    from ..loading.tools_file import load_tools

    return {name: server.tools for name, server in load_tools(tools_file).servers.items()}


def _inputs(words: tuple[str, ...]) -> Mapping[str, str]:
    parts = [word.partition("=") for word in words]
    for line, (name, equals, _) in zip(words, parts, strict=True):
        if not equals or not name:
            raise InputError(f"--input {line!r}: write NAME=VALUE, for instance topic=tea.")
    return {name: value for name, _, value in parts}


def _write(imported: Imported, target: Path, team: str) -> None:
    """Write all files, or none."""
    texts = {target: team}
    if imported.clients:
        servers = json.dumps({"mcpServers": imported.clients}, indent=2, ensure_ascii=False)
        texts = {target.with_name(SERVERS): f"{servers}\n", **texts}
    if imported.servers:
        texts = {target.with_name(TOOLS): tools_text(imported), **texts}
    if imported.models:
        texts = {target.with_name(MODELS): models_text(imported), **texts}
    for path in texts:
        if path.exists() or path.is_symlink():
            raise InputError(
                f"{path}: already exists and is not overwritten. Choose another file with -o."
            )
    for path, text in texts.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, text)
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error.strerror}.") from None
        click.echo(speakable(str(path)))


def _summary(imported: Imported, target: Path | None) -> Iterator[str]:
    """Yield the remaining manual steps."""
    if target is None and (imported.models or imported.servers or imported.clients):
        yield "its models and tools belong in separate files; -o FILE writes those, too."
    elif imported.servers or imported.clients:
        yield "servers run with your rights. Read their commands before you run the team."
    if count := len(imported.losses):
        counted = "1 part has" if count == 1 else f"{count} parts have"
        yield f"imported from {imported.program}. {counted} no counterpart; see above."


def _commands(
    imported: Imported, path: Path, target: Path | None, tools_file: Path | None
) -> Iterator[str]:
    """Yield the commands that check and run the team, ready to type."""
    if target is None:
        yield "Write its files: " + shlex.join(
            ["mas", "dev", "import", str(path), "-o", "team.yaml"]
        )
        return
    if imported.clients:
        servers, tools = target.with_name(SERVERS), target.with_name(ALL_TOOLS)
        granted = target.parent / "granted" / target.name
        again = ["mas", "dev", "import", str(path), "--tools", str(tools), "-o", str(granted)]
        yield f"Grant the servers' tools: check the commands in {servers}, which this starts, then"
        yield f"  mas dev tools import {shlex.quote(str(servers))} > {shlex.quote(str(tools))}"
        yield f"  {shlex.join(again)}"
    tools = target.with_name(TOOLS) if imported.servers else tools_file
    options = ["--models", str(target.with_name(MODELS))] if imported.models else []
    options += ["--tools", str(tools)] if tools else []
    yield "Check it: " + shlex.join(["mas-validate", str(target), *options])
    yield "Run it: " + shlex.join(["mas-run", str(target), *options, "--query"]) + ' "…"'
