"""Makes an instance of repair from a repository, a fix and its tests."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coterie.benchmarks.repair.environments import environments_dir
from coterie.benchmarks.repair.instance import parse_instance
from coterie.benchmarks.repair.trial import TEST_SECONDS
from coterie.runtime.jail import Jails
from coterie.schema.command import Command
from coterie.schema.values.errors import InputError
from coterie.schema.values.problems import reason_of

from .derive import add_to_file, derive, test_files_of

if TYPE_CHECKING:
    from coterie.benchmarks.repair.instance import Instance

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
FILE = click.Path(dir_okay=False, path_type=Path)


@click.command(cls=Command)
@click.argument("instance_id")
@click.argument("target", metavar="FILE", type=FILE)
@click.option("--repository", type=FOLDER, required=True, help="Has the commit to repair.")
@click.option("--base", required=True, help="That commit, in full.")
@click.option("--fix", type=FILE, required=True, help="The repair, as a git diff.")
@click.option("--tests", type=FILE, required=True, help="The tests for it, as a git diff.")
@click.option("--report", type=FILE, required=True, help="What agents are told of the fault.")
@click.option(
    "--repo", help="What the repository is called, OWNER/NAME.  [default: from its folder]"
)
@click.option(
    "--run",
    multiple=True,
    metavar="TESTS",
    help="A file of tests to run, or a part of one; may be given several times."
    "  [default: the files of tests that the test patch names]",
)
@click.option(
    "--repeats",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="How often the tests are run before the fix, and after it.",
)
@click.option("--requirement", multiple=True, help="A package of the tests' own environment.")
@click.option("--python", default="", help="The interpreter of the tests' own environment.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=TEST_SECONDS,
    show_default=True,
    help="Seconds that the tests of one may take.",
)
@click.option("--unsafe-local", is_flag=True, help="Run patches with all your rights.")
def main(instance_id: str, target: Path, **options: Any) -> None:
    """Find out which tests a fix repairs, and which pass before and after; add that to FILE.

    The tests are run in the jail, some times before the fix and some times after. Tests that come
    to different ends are flaky: they are told and left out, as are those that the fix breaks and
    those that never pass. FILE, .json or .jsonl, is what `swe-bench` reads: clones go beside it, in
    repositories/OWNER__NAME.
    """
    jails = Jails(unsafe=options["unsafe_local"])
    jails.check()
    instance = _undecided(instance_id, options)
    environment = instance.environment and instance.environment.ensure(
        environments_dir(target.parent)
    )
    derived = asyncio.run(
        derive(
            instance,
            options["repository"].resolve(),
            jails,
            repeats=options["repeats"],
            seconds=options["timeout"],
            environment=environment,
        )
    )
    add_to_file(derived.instance, target)
    for kind, tests in (
        ("flaky, left out", derived.flaky),
        ("broken by the fix, left out", derived.broken),
        ("fails before and after, left out", derived.failing),
    ):
        for test in tests:
            click.echo(f"{kind}: {test}")
    kept = derived.instance
    click.echo(
        f"{target}: {instance_id} with {len(kept.fail_to_pass)} FAIL_TO_PASS and"
        f" {len(kept.pass_to_pass)} PASS_TO_PASS"
    )


def _undecided(instance_id: str, options: dict[str, Any]) -> Instance:
    """Read what an instance is made of, but for its lists."""
    tests = _text(options["tests"])
    own = {"python": options["python"], "requirements": list(options["requirement"])}
    named = options["repo"] or options["repository"].resolve().name.replace("__", "/")
    return parse_instance(
        {
            "instance_id": instance_id,
            "repo": named,
            "base_commit": options["base"],
            "problem_statement": _text(options["report"]),
            "patch": _text(options["fix"]),
            "test_patch": tests,
            "FAIL_TO_PASS": [],
            "PASS_TO_PASS": [],
            "test_directives": list(options["run"] or test_files_of(tests)),
            "environment": own if any(own.values()) else None,
        },
        instance_id,
    )


def _text(path: Path) -> str:
    try:
        # Line ends belong to a patch, as they are.
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: it cannot be read: {reason_of(error)}.") from None


if __name__ == "__main__":
    main()
