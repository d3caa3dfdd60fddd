"""The options that set what this host offers to teams, and what they may use of it."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import click

from ..host.catalogue import Catalogue
from ..values.errors import InputError
from ..values.files import refuse_unwritable
from ..values.terminal import speakable


def note(text: str) -> None:
    """Print a note on standard error."""
    click.echo(f"note: {speakable(text)}", err=True)


class OutputFile(click.Path):
    """A file that a command writes at its end; refused at once if it cannot be written."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path."""
        super().convert(value, param, ctx)
        try:
            refuse_unwritable(Path(value))
        except InputError as error:
            self.fail(str(error), param, ctx)
        return Path(value)


def refuse_nan(ctx: click.Context) -> None:
    """Check that no number of a command is NaN, which lies in each range.

    Raises:
        BadParameter: One is.
    """
    for param in ctx.command.params:
        if isinstance(value := ctx.params.get(param.name or ""), float) and math.isnan(value):
            raise click.BadParameter(f"{value} is not a number.", ctx, param)


def refuse_overwriting(ctx: click.Context) -> None:
    """Check that a command writes to none of the files that it reads.

    Raises:
        InputError: An option names a file to write that the command reads.
    """
    written = {param.name: param.opts[0] for param in ctx.command.params if _is_written(param)}
    read = [value for name, value in ctx.params.items() if name not in written]
    paths = [path for value in read for path in (value if isinstance(value, tuple) else (value,))]
    for name, option in written.items():
        target = ctx.params.get(name or "")
        if target is not None and any(_same_file(target, path) for path in paths):
            raise InputError(f"{option} {target}: the command reads this file. Name another.")


def _is_written(param: click.Parameter) -> bool:
    return isinstance(param.type, OutputFile) or param.name == "otel"


def _same_file(target: Any, path: Any) -> bool:
    """Return whether both are the same existing file."""
    try:
        return isinstance(path, str | Path) and Path(target).samefile(path)
    except (OSError, ValueError):
        return False


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def with_options(*options: Decorator) -> Decorator:
    """Return a decorator that adds options to a command, the first on top in its help."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return add


name_options = with_options(
    click.option(
        "--model",
        "model",
        multiple=True,
        metavar="[ALIAS=]MODEL",
        help="The model of an alias: PROVIDER/NAME, NAME@http://HOST:PORT/v1, local,"
        " local:/PATH.gguf, inbox:FOLDER, or an alias of models.yaml. Without ALIAS=: default.",
    ),
    click.option(
        "--models",
        "models_file",
        type=click.Path(dir_okay=False),
        help="The models.yaml to use.  [default: ./models.yaml, else the user's own]",
    ),
    click.option(
        "--tools",
        "tools_file",
        type=click.Path(dir_okay=False),
        help="The tools.yaml to use.  [default: ./tools.yaml, else the user's own]",
    ),
)
"""The options that set what this host offers to teams, for a command that runs none."""
host_options = with_options(
    name_options,
    click.option(
        "--allow-tool",
        "allowed_tools",
        multiple=True,
        metavar="TOOL",
        help="Grant this tool; tools that you do not name are not granted. May be repeated."
        "  [default: all tools]",
    ),
    click.option(
        "--approve",
        "approved_tools",
        multiple=True,
        metavar="TOOL",
        help="Call this tool without asking, even if tools.yaml says to ask. May be repeated.",
    ),
    click.option(
        "--allow-import",
        "allowed_imports",
        multiple=True,
        metavar="PACKAGE",
        help="Let agents' Python import this package, and none that you do not name. May be"
        " repeated.  [default: all installed packages]",
    ),
)
"""`name_options`, and options that restrict what teams may use."""

scorer_option = click.option(
    "--scorer",
    metavar="NAME|FILE.py:FUNCTION",
    help="The scorer for tasks that name none: an installed scorer, or your own function. Tasks can"
    " then name it, too.  [default: exact]",
)
map_option = click.option(
    "--map",
    "columns",
    multiple=True,
    metavar="FIELD=COLUMN",
    help="Which column (in JSON lines: which key) holds which field of a task, such as"
    " query=subject,answer=label. Prompts can use all other columns by name.",
)


task_options = with_options(scorer_option, map_option)
"""The options that set the form of tasks; `task_form` reads them."""
HOST = (
    "model", "models_file", "tools_file", "allowed_tools", "approved_tools", "allowed_imports",
)  # fmt: skip
"""The names of the options of `host_options`."""


def catalogue_of(options: Mapping[str, Any]) -> Catalogue:
    """Build this host's catalogue from all options of a command; see `host_catalogue`."""
    settings = {name: options[name] for name in HOST if name in options}
    return host_catalogue(**settings, scorer=options.get("scorer"))


def _beside(name: str) -> list[Path]:
    """Return files of a name beside the YAML files given to this command.

    They are only reported, never read: otherwise the author of a team would decide where your keys
    are sent.
    """
    context = click.get_current_context(silent=True)
    values = context.params.values() if context else ()
    words = chain.from_iterable(v if isinstance(v, tuple) else (v,) for v in values)
    folders = {Path(v).parent for v in words if str(v).endswith((".yaml", ".yml"))}
    return [folder / name for folder in sorted(folders) if (folder / name).is_file()]


def host_catalogue(
    *,
    model: tuple[str, ...] = (),
    models_file: str | Path | None = None,
    tools_file: str | Path | None = None,
    allowed_tools: tuple[str, ...] = (),
    approved_tools: tuple[str, ...] = (),
    allowed_imports: tuple[str, ...] = (),
    scorer: str | None = None,
) -> Catalogue:
    """Build this host's catalogue; the arguments are those of `host_options`.

    Raises:
        InputError: An option is malformed, or names a file, a tool or a package that does not
            exist.
        ConfigError: models.yaml or tools.yaml does not load.
    """
    from ..loading.host import find_host_file, misnamed, resolve_models, resolve_tools
    from ..loading.scorers import granting_scorer

    for name, named in (("models.yaml", models_file), ("tools.yaml", tools_file)):
        if named is None and (path := misnamed(name, os.environ)) is not None:
            note(f"{path} is ignored. Rename it to {name}, or pass --{name.split('.')[0]} {path}.")
        elif named is None and find_host_file(name, os.environ) is None:
            for path in _beside(name):
                note(f"{path} is ignored. To use it, pass --{name.split('.')[0]} {path}.")
    catalogue = Catalogue.of_host(
        models=resolve_models(model, models_file=models_file),
        host_tools=resolve_tools(tools_file),
    )
    catalogue = granting_scorer(catalogue.approving(approved_tools), scorer)
    if allowed_imports:
        catalogue = catalogue.importing(allowed_imports)
    return catalogue.granting(frozenset(allowed_tools)) if allowed_tools else catalogue
