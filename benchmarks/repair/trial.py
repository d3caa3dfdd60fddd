"""Tries a patch on a copy of the repository, in a jail, with the deciding tests."""

from __future__ import annotations

import json
import math
import shlex
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...runtime.jail import JailKilled, JailLimits, Shell
from ...runtime.jail.scratch import ScratchFolder
from ...runtime.repository.git import git
from ...runtime.repository.repository import Repository
from ...runtime.runners.bridge import in_thread
from ...runtime.runners.programs import host_programs
from ...runtime.values.bounds import without_middle
from ...schema.values.errors import AgentError, InputError, JailError
from .environments import HAS_PYTEST
from .grading import Grade, believable, grade
from .steering import steering_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ...runtime.jail import AnyJail, Jails
    from ...runtime.runners.bridge import Bridge
    from .instance import Instance
    from .steering import Steering

APPLY = (
    "git apply --verbose",
    "git apply --verbose --3way",
    "git apply --verbose --reject",
    "patch --batch --forward --fuzz=5 -p1 -i",
)
"""The commands that apply a patch, as in SWE-bench: each is tried if the one before failed."""
ANEW = "git checkout -- . ; git clean -fd"
TEST_SECONDS = 300.0
APPLY_SECONDS = 120.0
LARGEST_RECORD = 64 << 20
"""Maximum bytes."""
NAMES_AT_ONCE = 200
LARGEST_LOG = 128 << 10
"""Maximum characters of a trial's log."""
RUN_TESTS = Path(__file__).with_name("_run_tests.py")
NEEDED = {
    "git": "git status",
    "patch": "patch --version",
    "pytest in the active virtual environment": f'python3 -I -c "{HAS_PYTEST}"',
}


@dataclass(frozen=True, kw_only=True, slots=True)
class PatchTrial:
    """The result of a patch.

    Attributes:
        grade: The verdict; None: there is nothing to grade, and the fault is not repaired.
        statuses: The outcome of every test; None: unknown.
        log: The output of applying the patch and of the tests.
    """

    applied: bool
    grade: Grade | None = None
    reason: str
    statuses: Mapping[str, str] | None = field(default=None, compare=False)
    log: str = field(default="", compare=False)


async def try_patch(
    instance: Instance,
    repository: Path,
    patch: str | None,
    jails: Jails,
    *,
    seconds: float = TEST_SECONDS,
    environment: Path | None = None,
) -> PatchTrial:
    """Apply a patch, install the deciding tests, run them, and grade.

    The patch stays unchanged: the applying program handles a missing final newline, as in the
    original.

    Args:
        repository: A repository with the instance's base commit. It is only read.
        environment: The tests' virtual environment; None: the active one.
    """
    if not patch:
        return PatchTrial(applied=False, reason="the patch is empty")
    return await observe(
        instance, repository, patch, jails, seconds=seconds, environment=environment
    )


async def observe(
    instance: Instance,
    repository: Path,
    patch: str,
    jails: Jails,
    *,
    seconds: float = TEST_SECONDS,
    environment: Path | None = None,
) -> PatchTrial:
    """Do the same as `try_patch`; with an empty patch, run the tests on the base commit."""
    check_tests(instance)

    def attempt(bridge: Bridge) -> PatchTrial:
        with ScratchFolder("repair", passable=True) as scratch:
            work, inputs = scratch.path / "work", scratch.path / "given"
            steering = _prepared(instance, repository, work / "tree")
            inputs.mkdir()
            for name, text in (("model.patch", patch), ("test.patch", instance.test_patch)):
                (inputs / name).write_bytes(text.encode("utf-8", "surrogatepass"))
            programs = host_programs(environment)
            request = replace(
                programs,
                limits=JailLimits(wall=APPLY_SECONDS, cpu=math.ceil(seconds) + 60),
                readable=(*programs.readable, RUN_TESTS),
                host_folders=(inputs,),
                returns=False,
            )
            with jails.open(work, request) as jail:
                bridge.on_stop(jail.kill)
                steps = _Steps(
                    instance=instance, steering=steering, work=work, inputs=inputs, jail=jail,
                    shell=Shell(jail, output=LARGEST_LOG),
                )  # fmt: skip
                return steps.run(seconds)

    return await in_thread(attempt, name=f"repair-{instance.instance_id}")


def check_tests(instance: Instance) -> None:
    """Check that the tests of an instance can run here.

    Raises:
        InputError: They cannot, whatever the patch.
    """
    files = ((directive, directive.split("::", 1)[0]) for directive in instance.directives)
    foreign = next((directive for directive, file in files if not file.endswith(".py")), None)
    if foreign is not None or not instance.directives:
        raise InputError(
            f"{instance.instance_id}: only tests that pytest runs, named as file.py::test, can be"
            f" run here, not {foreign!r}. Export the predictions and use SWE-bench's own harness."
        )


def _prepared(instance: Instance, repository: Path, tree: Path) -> Steering:
    """Check out an instance's base commit, and return its steering files."""
    tree.mkdir(parents=True)
    try:
        with Repository.open(repository) as source:
            source.check_out(instance.base_commit, tree)
    except AgentError as error:
        raise InputError(f"{repository} cannot be used: {error}") from None
    steering = steering_of(instance, _listed(tree))
    if steering.runner:
        raise InputError(
            f"{instance.instance_id}: the repository is a part of pytest itself"
            f" ({', '.join(sorted(map(str, steering.runner)))}), and tests run with the one"
            " that is installed. Export the predictions and use SWE-bench's own harness."
        )
    return steering


@dataclass(frozen=True, kw_only=True, slots=True)
class _Steps:
    """The steps of a trial, all in the jail, because a patch may change the copy's .git too."""

    instance: Instance
    steering: Steering
    work: Path
    inputs: Path
    jail: AnyJail
    shell: Shell
    printed: list[str] = field(default_factory=list[str])

    def run(self, seconds: float) -> PatchTrial:
        self._check()
        self.printed.clear()
        trial = self._outcome(seconds)
        return replace(trial, log=without_middle("".join(self.printed), LARGEST_LOG))

    def _outcome(self, seconds: float) -> PatchTrial:
        if not self._apply():
            return PatchTrial(applied=False, reason="the patch does not apply")
        if not self._bring_tests():
            return PatchTrial(applied=True, reason="the tests cannot be put where they belong")
        return self._run_tests(seconds)

    def _check(self) -> None:
        """Check the setup, so that any later failure is due to the patch."""
        all_there = self._in_tree(" && ".join(NEEDED.values()))  # each command starts in a jail
        names = () if all_there else NEEDED
        missing = [name for name in names if not self._in_tree(NEEDED[name])]
        if missing:
            raise InputError(
                f"repairs are tried with {', '.join(NEEDED)}. The jail lacks {', '.join(missing)}:"
                " install that on this machine."
            )
        if not self._put_tests("--check"):
            raise InputError(
                f"{self.instance.instance_id}: its test_patch does not apply to its base commit,"
                " so nothing can be graded. Correct the instance."
            )

    def _in_tree(self, command: str) -> bool:
        result = self.shell.run(command, folder=self.work / "tree")
        self.printed.append(f"$ {command}\n{result.output}")
        return result.returncode == 0

    def _apply(self) -> bool:
        if not (self.inputs / "model.patch").stat().st_size:
            return True
        patch = shlex.quote(str(self.inputs / "model.patch"))
        for number, command in enumerate(APPLY):
            if number:
                self._in_tree(ANEW)
            if self._in_tree(f"{command} {patch}"):
                return True
        # The attempts may have left it applied in full, each complaining nevertheless.
        return self._in_tree(f"git apply --check --reverse {patch}")

    def _bring_tests(self) -> bool:
        """Restore steering files and tests; then install the deciding tests."""
        base = self.instance.base_commit
        self.jail.refresh()
        there, foreign = self.steering.changes_to_undo(self.work / "tree")
        steps = [self._on_each("rm -rf --", foreign)]
        steps.append(self._on_each(f"git checkout --quiet {base} --", there))
        for name in map(shlex.quote, self.instance.test_files):
            self._in_tree(f"git checkout --quiet {base} -- {name} || rm -rf -- {name}")
        return all(steps) and self._put_tests()

    def _on_each(self, command: str, names: Sequence[str]) -> bool:
        """Run a command on names in batches, because a command line has a maximum length."""
        return all(self._in_tree(f"{command} {shlex.join(some)}") for some in _some(names))

    def _put_tests(self, *options: str) -> bool:
        command = ("git", "apply", "--verbose", *options, str(self.inputs / "test.patch"))
        return not self.instance.test_patch or self._in_tree(shlex.join(command))

    def _run_tests(self, seconds: float) -> PatchTrial:
        record, tree = self.work / "record.jsonl", self.work / "tree"
        words = (str(RUN_TESTS), str(record), str(tree), *self.instance.directives)
        result = self.shell.run(f"python3 -I {shlex.join(words)}", folder=tree, timeout=seconds)
        tests = " ".join(self.instance.directives)
        self.printed.append(f"$ pytest {tests}\n{result.output}\nended with {result.returncode}\n")
        if result.stopped is not None:
            return PatchTrial(applied=True, reason=f"the tests were stopped: {result.stopped}")
        statuses = _statuses(self.jail, record.name)
        if statuses is None or not believable(statuses, result.returncode):
            return PatchTrial(applied=True, reason="the tests did not run to their end")
        verdict = grade(self.instance, statuses)
        return PatchTrial(applied=True, grade=verdict, reason=_summary(verdict), statuses=statuses)


def _some(names: Sequence[str]) -> Iterator[Sequence[str]]:
    return (names[at : at + NAMES_AT_ONCE] for at in range(0, len(names), NAMES_AT_ONCE))


def _listed(tree: Path) -> Sequence[str]:
    return git(tree, "ls-tree", "-r", "-z", "--name-only", "HEAD").split("\0")[:-1]


def _summary(verdict: Grade) -> str:
    broken = (*verdict.f2p_failed, *verdict.p2p_failed)
    if not broken:
        return f"{verdict.status}: all tests pass as they should"
    return f"{verdict.status}: {len(broken)} tests do not pass as they should, first {broken[0]}"


def _statuses(jail: AnyJail, name: str) -> Mapping[str, str] | None:
    """Read the outcomes of the tests; None if the record is incomplete."""
    try:
        lines = jail.read_file(name, limit=LARGEST_RECORD).decode("utf-8").splitlines()
        *entries, end = map(json.loads, lines)
    except JailKilled:
        raise
    except (JailError, ValueError, RecursionError):
        return None
    statuses: dict[str, str] = {}
    for entry in entries:
        match entry:
            case [str(test), str(status)]:
                if statuses.get(test) not in {"FAILED", "ERROR"}:
                    statuses[test] = status
            case _:
                return None
    return statuses if isinstance(end, int) else None
