"""The command line: `mas`, and the shared parts of all its commands.

Subcommands are found by name through the entry-point groups `coterie.commands` and, for those of
`mas dev`, `coterie.dev_commands`. They are imported only on use, so `mas --help` is quick and a
plug-in can add its own.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import click

from ..host.catalogue import installed, load_named, plugin_packages
from ..host.conforming import expected
from ..host.foreign_code import OWN, plugin_place, why
from ..values.errors import (
    ConfigError,
    CoterieError,
    InputError,
    StorageError,
    UnsupportedSystem,
)
from ..values.problems import FORMATS, quoted
from ..values.secrets import scrubbed, secrets_of
from ..values.terminal import speakable
from ._host import (
    HOST,
    OutputFile,
    catalogue_of,
    host_catalogue,
    host_options,
    map_option,
    name_options,
    note,
    refuse_nan,
    refuse_overwriting,
    scorer_option,
    task_options,
    with_options,
)

__all__ = [
    "HOST",
    "LONGEST_MESSAGE",
    "Command",
    "Family",
    "Group",
    "OutputFile",
    "as_json",
    "catalogue_of",
    "host_catalogue",
    "host_options",
    "main",
    "map_option",
    "name_options",
    "note",
    "problem_format",
    "scorer_option",
    "task_options",
    "with_options",
]

BUG = 70
INTERRUPTED = 130
FIRST_SCREEN = 15
"""The maximum number of options that `--help` shows, including `--help` itself."""
ALL = f"{__name__}.all"
LONGEST_SUMMARY = 200
LONGEST_MESSAGE = 10_000
"""Maximum characters of an error message."""
SUMMARIES: Mapping[str, str] = {
    "bench": "Measure teams on your tasks or on public benchmarks, and compare the figures.",
    "chat": "Chat with a team: each line is a run that knows the turns before it.",
    "doctor": "Show what this machine has: models, backends, tools, and how safe its jail is.",
    "evolve": "Find a better version of a team, or evolve a pool of teams.",
    "init": "Start your own team in a folder.",
    "pool": "Look at a pool of teams, and maintain it.",
    "run": "Run a team on a task.",
    "serve": "Serve teams to other programs: the OpenAI API, MCP and A2A.",
    "validate": "Check files and show every problem.",
    "view": "Look at a run, pool or evaluation, in a browser or as text.",
    # mas dev
    "blame": "Name the agent that made a run fail, the step, and the reason.",
    "diff": "Show what differs between two teams.",
    "explain": "Explain a field of a file.",
    "export": "Write a team for LangGraph or docker-agent.",
    "fmt": "Write team files in canonical form.",
    "graph": "Draw a team.",
    "import": "Turn files of CrewAI or docker-agent into a team.",
    "models": "Manage the embedded model.",
    "op": "Run one operator once: mutate, cross or select teams.",
    "papers": "Run a row of a paper's table as a recipe, with the published figure beside it.",
    "runs": "List the folders of runs, pack them up, share them, delete them.",
    "seeds": "List the teams that come with coterie.",
    "tools": "Import tool servers of other programs into tools.yaml.",
}
"""The one-line summaries of our own commands: reading one from a command would import it."""

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
problem_format = click.option(
    "--format",
    "problem_format",
    type=click.Choice(list(FORMATS)),
    default="text",
    show_default=True,
    help="How problems are shown.",
)


def _version(ctx: click.Context) -> str:
    from importlib.metadata import version

    return f"{ctx.info_name}, version {version('coterie')}"


def _whole_help(ctx: click.Context) -> str:
    ctx.meta[ALL] = True
    return ctx.get_help()


def _showing(name: str, text_of: Callable[[click.Context], str], summary: str) -> click.Option:
    """Return an option that shows a text and exits."""

    def show(ctx: click.Context, _option: click.Parameter, is_set: bool) -> None:
        if is_set and not ctx.resilient_parsing:
            click.echo(text_of(ctx), color=ctx.color)
            ctx.exit()

    return click.Option(
        [name], is_flag=True, is_eager=True, expose_value=False, callback=show, help=summary
    )


VERSION = _showing("--version", _version, "Show the version and exit.")
HELP_ALL = _showing("--help-all", _whole_help, "Show all options and exit.")


class _Ours(click.Command):
    """A command with -h, which Ctrl-C ends at any moment."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.context_settings.setdefault("help_option_names", ["-h", "--help"])

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters; a top-level program adds --version, a long command --help-all."""
        options = [*super().get_params(ctx), *([] if ctx.parent else [VERSION])]
        return [*options, HELP_ALL] if len(_visible(options)) > FIRST_SCREEN else options

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in their groups."""
        from ._screen import write_options

        shown = _visible(self.get_params(ctx))
        write_options(shown, ctx, formatter, most=len(shown) if ALL in ctx.meta else FIRST_SCREEN)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command. Unless the command decides otherwise, Ctrl-C ends it at once.

        As an exception, Ctrl-C could arrive during an import, where Python would drop it.
        """
        _open_standard_streams()
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        try:
            return super().main(*args, **kwargs)
        except OSError as error:
            if isinstance(error, BrokenPipeError) or not _is_of_output(error):
                raise
            click.echo(f"error: cannot write to standard output: {error.strerror}.", err=True)
            sys.exit(StorageError.exit_code)


class Command(_Ours):
    """A command that ends with our exit codes and shows our errors without a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; convert exceptions to a message and an exit code."""
        try:
            refuse_nan(ctx)
            refuse_overwriting(ctx)
            return super().invoke(ctx)
        except CoterieError as error:
            _show(error, str(ctx.params.get("problem_format", "text")))
            ctx.exit(error.exit_code)
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)
        except (click.exceptions.Exit, click.ClickException, click.Abort):
            raise
        except BaseException as error:
            place = plugin_place(error, plugin_packages())
            if isinstance(error, (SystemExit, BrokenPipeError)) and not (place and self._is_ours):
                raise
            if _is_of_output(error):
                raise
            if place:
                _show(InputError(f"a plug-in failed: {why(error, place)}. Correct it."), "text")
                ctx.exit(InputError.exit_code)
            if not isinstance(error, Exception):
                raise
            if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
                _show(InputError(f"{quoted(error.filename)}: {error.strerror}."), "text")
                ctx.exit(InputError.exit_code)
            if find_spec("fcntl") is None:
                _show(UnsupportedSystem(), "text")
                ctx.exit(UnsupportedSystem.exit_code)
            _say(traceback.format_exc(), err=True)
            click.echo("This is a bug in coterie. Please report it with the lines above.", err=True)
            ctx.exit(BUG)

    @property
    def _is_ours(self) -> bool:
        """Whether the command is ours; a plug-in's may end itself or write to a closed pipe."""
        return str(getattr(self.callback, "__module__", "")).startswith(OWN)


class Family(_Ours, click.Group):
    """A group of commands.

    Args:
        moved: The replacements of moved commands, by name.
    """

    def __init__(self, *args: Any, moved: Mapping[str, str] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._moved = dict(moved or {})

    @property
    def moved(self) -> Mapping[str, str]:
        """The replacements of moved commands, by name."""
        return self._moved

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options and the commands."""
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands that are not hidden."""
        names = [name for name in self.list_commands(ctx) if not self._is_hidden(name)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.summary(name)) for name in names])

    def _is_hidden(self, name: str) -> bool:
        return name in self.commands and self.commands[name].hidden

    def summary(self, name: str) -> str:
        """Return the one-line summary of a command."""
        return self.commands[name].get_short_help_str(LONGEST_SUMMARY)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return a command, or suggest the closest one."""
        names = self.list_commands(ctx)
        if args and args[0] not in names and not args[0].startswith("-"):
            ctx.fail(f"no command {args[0]!r}.{self._instead(args[0], names)}")
        return super().resolve_command(ctx, args)

    def _instead(self, name: str, names: list[str]) -> str:
        from ..values.hints import did_you_mean

        if name in self.moved:
            return f" Write: {self.moved[name]}"
        return did_you_mean(name, [*names, *self.moved])


class Group(Family):
    """A group whose commands are entry points."""

    entries = "commands"
    """The group of entry points."""
    summaries = SUMMARIES

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of installed and added commands."""
        return sorted({*installed(self.entries), *super().list_commands(ctx)} - self.moved.keys())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in installed(self.entries):
            return super().get_command(ctx, cmd_name)
        try:
            return self.command_of(cmd_name)
        except InputError as error:
            _show(error, "text")
            ctx.exit(error.exit_code)

    def command_of(self, name: str) -> click.Command:
        """Return the command of a name.

        Raises:
            InputError: It cannot be imported, or is no command.
        """
        return expected(load_named(self.entries, name), click.Command, f"the command {name}")

    def summary(self, name: str) -> str:
        """Return the one-line summary of a command, without importing it."""
        if name in self.summaries:
            return self.summaries[name]
        package = installed(self.entries)[name].package
        return f"From {package}." if package else ""


class _Dev(Group):
    """The commands that few users need, or that are needed rarely."""

    entries = "dev_commands"

    @property
    def moved(self) -> Mapping[str, str]:
        """The replacements of commands that every user needs, which moved to `mas`."""
        return {name: f"mas {name}" for name in installed(Group.entries)}


class _Mas(Group):
    """The commands that every user needs, with hints to the others."""

    @property
    def moved(self) -> Mapping[str, str]:
        """The replacements of commands that moved elsewhere."""
        return {**{name: f"mas dev {name}" for name in installed(_Dev.entries)}, **self._moved}


@click.group(
    cls=_Mas,
    epilog="More, such as diff, explain, graph, import and blame: mas dev --help",
    moved={"diff": "mas-diff BEFORE AFTER", "show": "mas-view --text RUN"},
)
def main() -> None:
    """Teams of LLM agents as YAML files: run them, read them, evolve them."""


@main.group("dev", cls=_Dev, hidden=True)
def dev() -> None:
    """Work on teams in detail: draw and compare them, find faults, exchange them."""


def _visible(options: Sequence[click.Parameter]) -> list[click.Option]:
    return [option for option in options if isinstance(option, click.Option) and not option.hidden]


def _open_standard_streams() -> None:
    """Connect streams that the process was started without to the null device.

    Otherwise the next opened file would have the number of a stream, and get what is printed.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            descriptor = os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
            setattr(sys, name, os.fdopen(descriptor, mode, encoding="utf-8", closefd=False))


def _is_of_output(error: BaseException) -> bool:
    """Return whether printing raised an error, such as that of a full disk."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return isinstance(error, OSError) and frames[-1].f_code is click.echo.__code__


def _show(error: CoterieError, problem_format: str) -> None:
    if isinstance(error, ConfigError):
        # A machine reads problems on standard output, a person beside the prompt.
        _say(FORMATS[problem_format](error.problems), err=problem_format == "text")
    else:
        _say(_bounded(f"error: {error}"), err=True)
    sys.stdout.flush()


def _bounded(text: str) -> str:
    """Cut the middle out of an overlong message."""
    if len(text) <= LONGEST_MESSAGE:
        return text
    half = LONGEST_MESSAGE // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]} [… {left_out:,} characters left out …] {text[-half:]}"


def _say(text: str, *, err: bool) -> None:
    """Print a message that may quote a file, a model, a tool or a provider, made safe to show."""
    click.echo(scrubbed(speakable(text), secrets_of(os.environ)).rstrip("\n"), err=err)
