"""The command line: `mas`, and what all its commands have in common.

Subcommands are found by name through the entry-point group `coterie.commands` and imported only
when one is used, so `mas --help` is quick and a plugin can add its own.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from ..host.catalogue import Catalogue, installed, plugin_packages
from ..host.foreign_code import plugin_place, why
from ..values.errors import ConfigError, CoterieError, InputError, UnsupportedSystem
from ..values.problems import FORMATS
from ..values.secrets import scrubbed, secrets_of
from ..values.terminal import speakable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from ..values.entries import EntryPoint

__all__ = [
    "HOST",
    "LONGEST_MESSAGE",
    "Command",
    "Family",
    "Group",
    "catalogue_of",
    "host_catalogue",
    "host_options",
    "main",
    "map_option",
    "note",
    "problem_format",
    "scorer_option",
    "task_options",
]

BUG = 70
INTERRUPTED = 130
LONGEST_MESSAGE = 10_000
"""Characters of an error that a person is shown."""
SUMMARIES: Mapping[str, str] = {
    "bench": "Measure teams on public benchmarks, and compare what came of it.",
    "blame": "Say which agent made a run fail, at which step, and why.",
    "diff": "Show what differs between two teams.",
    "doctor": "Tell what this machine has: models, backends, tools, and how safe its jail is.",
    "evolve": "Evolve the teams of a pool over a stream of tasks.",
    "explain": "Explain a field of a file.",
    "export": "Write a team for LangGraph or docker-agent.",
    "fmt": "Write team files in canonical form.",
    "graph": "Draw a team.",
    "import": "Make a team of files of CrewAI or docker-agent.",
    "init": "Write a folder to begin with: a team, tasks, models.yaml, a CI file.",
    "models": "Look after the embedded model.",
    "op": "Let an operator act once: mutate, cross, select teams.",
    "pool": "Look at a pool of teams, and look after it.",
    "run": "Run a team on a task.",
    "runs": "List the folders of runs, pack them up, share them, delete them.",
    "show": "Show what happened in a run: who was asked what, what each said, what it cost.",
    "seeds": "List the teams that come with coterie.",
    "tools": "Bring tool servers that other programs use into tools.yaml.",
    "validate": "Check files and show every problem.",
    "view": "Look at a run in a browser, also while it is under way.",
}
"""A line for each of our own commands: to ask a command itself, it would have to be imported."""

problem_format = click.option(
    "--format",
    "problem_format",
    type=click.Choice(list(FORMATS)),
    default="text",
    show_default=True,
    help="How problems are shown.",
)


def note(text: str) -> None:
    """Tell a person something beside what a command gives."""
    click.echo(f"note: {speakable(text)}", err=True)


def host_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say what this host offers to teams."""
    for option in reversed(_HOST_OPTIONS):
        command = option(command)
    return command


_HOST_OPTIONS = (
    click.option(
        "--model",
        "model",
        multiple=True,
        metavar="[ALIAS=]MODEL",
        help="What a model alias stands for: PROVIDER/NAME, NAME@http://HOST:PORT/v1, local,"
        " local:/PATH.gguf, or an alias of models.yaml. Without ALIAS=, the alias default.",
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
    click.option(
        "--allow-tool",
        "allowed_tools",
        multiple=True,
        metavar="TOOL",
        help="Grant this tool and no others but those named in the same way.  [default: all]",
    ),
    click.option(
        "--approve",
        "approved_tools",
        multiple=True,
        metavar="TOOL",
        help="Call this tool without asking, where tools.yaml says to ask.",
    ),
    click.option(
        "--allow-import",
        "allowed_imports",
        multiple=True,
        metavar="PACKAGE",
        help="Let the Python of agents import this package and no others but those named in the"
        " same way.  [default: all that are installed]",
    ),
)


scorer_option = click.option(
    "--scorer",
    metavar="NAME|FILE.py:FUNCTION",
    help="Scores tasks that name no scorer: one that is installed, or a function of yours, which"
    " tasks may then name, too.  [default: exact]",
)


def task_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how tasks are read; `task_form` reads them."""
    return scorer_option(map_option(command))


map_option = click.option(
    "--map",
    "columns",
    multiple=True,
    metavar="FIELD=COLUMN",
    help="For a file of others: which column, or key of a line, a task's field is, as in"
    " query=subject,answer=label. All others become fields that prompts take by name.",
)
HOST = (
    "model", "models_file", "tools_file", "allowed_tools", "approved_tools", "allowed_imports",
)  # fmt: skip
"""The names of the options of `host_options`."""


def catalogue_of(options: Mapping[str, Any]) -> Catalogue:
    """Collect what this host offers, out of all options of a command; see `host_catalogue`."""
    return host_catalogue(**{name: options[name] for name in HOST}, scorer=options.get("scorer"))


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
    """Collect what this host offers; the arguments are those of `host_options`.

    Raises:
        InputError: An option cannot be read, or names a file, a tool or a package that does not
            exist.
        ConfigError: models.yaml or tools.yaml does not load.
    """
    from ..loading.host import misnamed, resolve_models, resolve_tools
    from ..loading.scorers import granting_scorer

    for name, given in (("models.yaml", models_file), ("tools.yaml", tools_file)):
        if given is None and (path := misnamed(name, os.environ)) is not None:
            note(f"{path} is not read. Call it {name}, or name it with --{name.split('.')[0]}.")
    known = Catalogue.of_host(
        models=resolve_models(model, models_file=models_file),
        host_tools=resolve_tools(tools_file),
    )
    known = granting_scorer(known.approving(approved_tools), scorer)
    if allowed_imports:
        known = known.importing(allowed_imports)
    return known.granting(frozenset(allowed_tools)) if allowed_tools else known


def _tell_version(ctx: click.Context, _option: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"{ctx.info_name}, version {version('coterie')}")
        ctx.exit()


VERSION = click.Option(
    ["--version"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_tell_version,
    help="Show the version and exit.",
)


class _Ours(click.Command):
    """A command that -h explains, and that Ctrl-C ends, whenever it comes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.context_settings.setdefault("help_option_names", ["-h", "--help"])

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Give the parameters; what is a program of its own also tells its version."""
        return [*super().get_params(ctx), *([] if ctx.parent else [VERSION])]

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command. Until it says otherwise, Ctrl-C ends it there and then.

        As an exception it could come in the middle of an import, where Python drops it.
        """
        if threading.current_thread() is not threading.main_thread():
            return super().main(*args, **kwargs)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        return super().main(*args, **kwargs)


class Command(_Ours):
    """A command that ends with our exit codes and shows our errors without a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; turn what it raises into a message and an exit code."""
        try:
            return super().invoke(ctx)
        except CoterieError as error:
            _show(error, str(ctx.params.get("problem_format", "text")))
            ctx.exit(error.exit_code)
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)
        except (click.exceptions.Exit, click.ClickException, click.Abort, BrokenPipeError):
            raise
        except Exception as error:  # noqa: BLE001 - the process boundary: our bug, shown whole
            if place := plugin_place(error, plugin_packages()):
                _show(InputError(f"a plug-in failed: {why(error, place)}. Correct it."), "text")
                ctx.exit(InputError.exit_code)
            if find_spec("fcntl") is None:
                _show(UnsupportedSystem(), "text")
                ctx.exit(UnsupportedSystem.exit_code)
            _say(traceback.format_exc(), err=True)
            click.echo("This is a bug in coterie. Please report it with the lines above.", err=True)
            ctx.exit(BUG)


class Family(_Ours, click.Group):
    """A group of commands that it is given."""


class Group(Family):
    """A group whose commands are entry points."""

    entries = "commands"
    """The group of the entry points."""
    summaries = SUMMARIES

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the installed commands, and those that were added."""
        return sorted({*installed(self.entries), *super().list_commands(ctx)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        point = installed(self.entries).get(cmd_name)
        return self.command_of(point) if point else super().get_command(ctx, cmd_name)

    def command_of(self, point: EntryPoint) -> click.Command | None:
        """Give the command that an entry point leads to."""
        return point.load()

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        rows = [(name, self.summary(name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is meant, or say which one may have been."""
        from ..values.hints import did_you_mean

        known = self.list_commands(ctx)
        if args and args[0] not in known and not args[0].startswith("-"):
            ctx.fail(f"no command {args[0]!r}.{did_you_mean(args[0], known)}")
        return super().resolve_command(ctx, args)

    def summary(self, name: str) -> str:
        """Return what a command does, in a sentence, without importing it."""
        if name in self.summaries:
            return self.summaries[name]
        package = installed(self.entries)[name].package
        return f"From {package}." if package else ""


@click.group(cls=Group)
def main() -> None:
    """Teams of LLM agents as YAML files: run them, read them, evolve them."""


def _show(error: CoterieError, problem_format: str) -> None:
    if isinstance(error, ConfigError):
        # A machine reads problems on standard output, a person beside the prompt.
        _say(FORMATS[problem_format](error.problems), err=problem_format == "text")
    else:
        _say(_bounded(f"error: {error}"), err=True)
    sys.stdout.flush()


def _bounded(text: str) -> str:
    """Leave out the middle of a message that quotes more than anybody reads."""
    if len(text) <= LONGEST_MESSAGE:
        return text
    half = LONGEST_MESSAGE // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]} [… {left_out:,} characters left out …] {text[-half:]}"


def _say(text: str, *, err: bool) -> None:
    """Print what may quote a file, a model, a tool or a provider."""
    click.echo(scrubbed(speakable(text), secrets_of(os.environ)).rstrip("\n"), err=err)
