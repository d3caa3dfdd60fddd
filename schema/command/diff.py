"""`mas-diff`: the differences between two teams."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from ..edits import FieldChange, Paint, Tone, changes, diff, edits_to_json, plainly, unified, words
from ..loading.agent_file import AgentFile
from ..loading.loading import read_file
from ..loading.seeds import located
from ..team.team import Team
from ..values.errors import ConfigError, CoterieError
from ..values.json_text import dumps
from ..values.problems import Problem, dotted
from ..values.terminal import speakable
from . import Command
from ._files import kind_of, team_in

DIFFER = 1
TONES: Mapping[Tone, str] = {"name": "cyan", "old": "red", "new": "green", "place": "magenta"}


@click.command(cls=Command)
@click.argument("files", nargs=-1, required=True, metavar="BEFORE AFTER")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "edits"]),
    default="text",
    show_default=True,
    help="text: in words. json: field by field, for programs. edits: the edits that turn the first"
    " team into the second.",
)
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="auto: on a terminal and in git's pager, unless NO_COLOR is set.",
)
@click.option(
    "--git", is_flag=True, help="Act as a diff driver of git, with the arguments that git passes."
)
def main(files: tuple[str, ...], form: str, color: str, git: bool) -> None:
    """Show what differs between two teams or two agents, in words; print nothing if they are equal.

    A team is a file, a folder, or seed:NAME. An agent is a file or a folder; its id makes no
    difference.

    Comments, the order of fields and formatting make no difference. This host need not have the
    models, tools, prompts and backends that the teams name.

    Exits with 0 if the teams are equal, 1 if they differ, and 2 if a file does not load. As a diff
    driver it always exits with 0; if a file does not load, or the teams are equal, it compares the
    texts.
    """
    coloured = _is_coloured(color)
    paint = painted if coloured else plainly
    if git:
        click.echo("\n".join(_driven(files, paint)), color=coloured)
        return
    if len(files) != 2:
        raise click.UsageError(f"expected two files, got {len(files)}.")
    before, after = _teams(*files)
    edits = diff(before, after)
    if form == "edits":
        click.echo(edits_to_json(edits))
    elif form == "json":
        click.echo(dumps(_report(before, after), ensure_ascii=False, indent=2))
    elif edits:
        click.echo("\n".join(words(before, after, paint)), color=coloured)
    if edits:
        raise click.exceptions.Exit(DIFFER)


def _teams(*files: str) -> tuple[Team, Team]:
    """Load both teams; the problems of both are shown together."""
    teams: list[Team] = []
    problems: list[Problem] = []
    paths = [located(file) for file in files]
    for path in paths:
        try:
            teams.append(team_in(path))
        except ConfigError as error:
            problems += error.problems
    if problems:
        raise ConfigError(problems)
    before, after = teams
    if all(kind_of(path) == "agent" for path in paths):
        (old,), (new,) = before.agents.values(), after.agents.values()
        before = AgentFile(agent=replace(old, id=new.id)).team
    return before, after


def _report(before: Team, after: Team) -> dict[str, Any]:
    result = changes(before, after)
    return {
        "equal": not result,
        "components": sorted({change.component for change in result}),
        "changes": [_reported(change) for change in result],
    }


def _reported(change: FieldChange) -> dict[str, Any]:
    fields = {**asdict(change), "path": dotted(change.path)}
    return {name: item for name, item in fields.items() if name != "taught" or item}


def _driven(arguments: Sequence[str], paint: Paint) -> Iterator[str]:
    """Yield the lines that git shows for one file: see gitattributes(5)."""
    match arguments:
        case [path]:
            yield f"{paint(speakable(path), 'place')}: not merged"
        case [path, before, _, _, after, _, _, *renamed]:
            yield paint(speakable(" -> ".join([path, *renamed[:1]])), "place")
            yield from _newborn(path, before, after, paint) or _text_difference(
                before, after, paint
            )
        case _:
            raise click.UsageError(
                f"expected the 1, 7 or 9 arguments that git passes, got {len(arguments)}. Run `git"
                ' config diff.team.command "mas-diff --git"`, then use git diff.'
            )


def _newborn(path: str, before: str, after: str, paint: Paint) -> Sequence[str]:
    """Return how a new team of a pool differs from its first parent.

    The result is empty if the team is not new, or its parent is not in the same folder.

    Args:
        path: Its path, relative to git's working folder.
    """
    if before != os.devnull or after == os.devnull:
        return ()
    try:
        lineage = team_in(Path(after)).lineage
        if lineage is None or not lineage.parents:
            return ()
        parent = lineage.parents[0]
        texts = [*words(*_teams(str(Path(path).with_name(f"{parent}.yaml")), after), paint)]
    except CoterieError:
        return ()
    return [f"a new team, made of {parent}:", *texts]


def _text_difference(before: str, after: str, paint: Paint) -> Iterator[str]:
    """Yield the differences in words; if that is impossible, say why and compare the texts."""
    old, new = _text(before), _text(after)
    if os.devnull in {before, after}:
        note = "a new file:" if before == os.devnull else "a deleted file:"
    elif old == new:
        note = "same text, different file mode"
    else:
        note = "same team, different text:"
        try:
            texts = tuple(words(*_teams(before, after), paint))
        except ConfigError as error:
            texts, note = (
                (),
                f"the team is invalid, so this compares the texts: {error.problems[0].message}",
            )
        if texts:
            yield from texts
            return
    yield note
    yield from unified(old, new, paint)


def _text(path: str) -> str:
    return read_file(path).decode("utf-8", errors="replace")


def _is_coloured(choice: str) -> bool:
    """Return whether to write colours; git sets an environment variable if it has a pager."""
    wanted = sys.stdout.isatty() or "GIT_PAGER_IN_USE" in os.environ
    return choice == "always" or (choice == "auto" and wanted and not os.environ.get("NO_COLOR"))


def painted(text: str, tone: Tone, /) -> str:
    """Colour a piece of text; click drops the colours without a terminal."""
    return click.style(text, fg=TONES[tone])
