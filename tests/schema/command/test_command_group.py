"""`mas`: finds its commands by name and shows errors in one way."""

import errno
import re
from collections.abc import Iterator

import click
import pytest

from coterie.schema import CoterieError, InputError, LimitError
from coterie.schema.command import FIRST_SCREEN, LONGEST_MESSAGE, Command, host_catalogue, main

from ...support.commands import printed, ran, refused


def words_of(help_text: str) -> set[str]:
    """Return the commands that a help screen lists."""
    rows = help_text.partition("\nCommands:\n")[2].splitlines()
    return {row.split()[0] for row in rows if row[:2] == "  " and row[2:3].strip()}


def test_help_lists_at_most_ten_commands_and_names_the_others() -> None:
    out = printed(ran(main, "--help"))
    shown = words_of(out.rpartition("\n\n")[0])
    assert len(shown) <= 10
    assert shown >= {"bench", "doctor", "evolve", "init", "pool", "run", "validate", "view"}
    assert "mas dev --help" in out
    others = words_of(ran(main, "dev", "--help").stdout)
    assert others >= {"blame", "diff", "explain", "fmt", "graph", "import"}
    assert not others & shown


@pytest.mark.parametrize(
    ("words", "instead"),
    [
        (["graph", "team.yaml"], "Write: mas dev graph"),
        (["show", "runs/x"], "Write: mas-view --text RUN"),
        (["dev", "doctor"], "Write: mas doctor"),
        (["grap"], "Did you mean 'graph'?"),
        (["vew"], "Did you mean 'view'?"),
        (["pool", "linage", "pool"], "Did you mean 'lineage'?"),
        (["dev", "op", "attribute", "run"], "Write: mas dev blame RUN"),
    ],
)
def test_a_moved_or_mistyped_command_says_what_to_write(words: list[str], instead: str) -> None:
    assert instead in refused(ran(main, *words))


def commands(group: click.Group, ctx: click.Context) -> Iterator[tuple[click.Context, Command]]:
    """Find all commands in a group, with their contexts."""
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        assert command is not None
        inner = click.Context(command, parent=ctx, info_name=name, **command.context_settings)
        if isinstance(command, click.Group):
            yield from commands(command, inner)
        elif isinstance(command, Command):
            yield inner, command


def test_the_first_screen_of_each_command_has_at_most_fifteen_options() -> None:
    top = click.Context(main, info_name="mas", **main.context_settings)
    for ctx, command in commands(main, top):
        screen = re.split(r"^\w+:$", command.get_help(ctx), maxsplit=1, flags=re.MULTILINE)[1]
        rows = [row for row in screen.splitlines() if row.startswith("  -")]
        assert len(rows) <= FIRST_SCREEN, ctx.command_path


def test_rare_options_are_shown_on_demand_each_in_its_group() -> None:
    brief, full = (ran(main, "run", f"--{word}").stdout
                   for word in ("help", "help-all"))  # fmt: skip
    assert "--allow-import" not in brief
    assert "Show all options" in brief
    rights = full.partition("\nRights:\n")[2].partition("\n\n")[0]
    assert "--allow-import PACKAGE" in rights
    assert "--budget" not in rights


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (InputError("wrong"), 2, "error: wrong"),
        (LimitError("enough"), 3, "error: enough"),
        (CoterieError("failed"), 1, "error: failed"),
        (ZeroDivisionError("ours"), 70, "This is a bug in coterie"),
        (
            OSError(errno.ENAMETOOLONG, "File name too long", "xx"),
            2,
            "error: 'xx': File name too long.",
        ),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_errors_become_messages_and_exit_codes(
    error: BaseException, code: int, message: str
) -> None:
    @click.command(cls=Command)
    def command() -> None:
        raise error

    done = ran(command)
    assert done.exit_code == code
    assert message in done.stderr
    assert ("Traceback" in done.stderr) == (code == 70)


def test_a_message_longer_than_anybody_reads_loses_its_middle() -> None:
    @click.command(cls=Command)
    def command() -> None:
        raise InputError(f"begins {'x' * 1_000_000} ends")

    err = refused(ran(command))
    assert len(err) < LONGEST_MESSAGE + 100
    assert err.startswith("error: begins xx")
    assert err.endswith("xx ends\n")
    assert "[… 990,019 characters left out …]" in err


@pytest.mark.parametrize("package", ["nope", "numpy.linalg", ""])
def test_a_package_that_nobody_can_import_is_refused_where_it_is_allowed(package: str) -> None:
    with pytest.raises(InputError, match=f"--allow-import {package}: no package '{package}' is"):
        host_catalogue(allowed_imports=("numpy", package))
