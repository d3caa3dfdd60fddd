"""Instances: repositories to repair, with the deciding tests. The fields are SWE-bench's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...schema.values.codec import to_value
from ...schema.values.errors import InputError
from ...schema.values.json_text import loads
from ...schema.values.problems import quoted
from ...schema.values.values import is_texts
from .environments import Environment, parse_environment
from .records import ReleaseRecord, read_records

EVAL_TYPES = ("pass_and_fail", "fail_only")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_FILES = re.compile(r"^diff --git a/(.+) b/(.+?)\r?$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True, slots=True)
class Instance:
    """One repair. Agents may see only the fields that the query is built from.

    Attributes:
        repo: The repository's name, such as `owner/name`.
        base_commit: The commit to repair, in full.
        test_patch: Adds the deciding tests, as a git diff against the base.
        fail_to_pass: The tests that fail at the base and pass once it is repaired.
        pass_to_pass: The tests that pass before and after.
        patch: A correct repair, as a git diff; may be empty.
        eval_type: `fail_only` if the tests' log names only failures.
        test_directives: The arguments of the test runner; empty: the files of the tests above.
        patched_files: The files that `patch` changes; a reference has them in place of the patch.
        environment: The environment of the tests; None: the active virtual environment.
    """

    instance_id: str
    repo: str
    base_commit: str
    problem_statement: str
    test_patch: str
    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]
    patch: str = ""
    eval_type: str = EVAL_TYPES[0]
    test_directives: tuple[str, ...] = ()
    patched_files: tuple[str, ...] = ()
    environment: Environment | None = None

    @property
    def directives(self) -> tuple[str, ...]:
        """The arguments of the test runner: files, or parts of files as `file::name`."""
        named = (test.split("::", 1)[0] for test in (*self.fail_to_pass, *self.pass_to_pass))
        return self.test_directives or tuple(dict.fromkeys(named))

    @property
    def test_files(self) -> tuple[str, ...]:
        """The files of the tests: changes of a repair to them do not count."""
        run = (directive.split("::", 1)[0] for directive in self.directives)
        return tuple(dict.fromkeys((*touched(self.test_patch), *run)))

    def reference(self) -> dict[str, Any]:
        """Return the task's reference answer, with everything that the scorer needs."""
        return {
            "instance_id": self.instance_id,
            "repo": self.repo,
            "base_commit": self.base_commit,
            "test_patch": self.test_patch,
            "FAIL_TO_PASS": list(self.fail_to_pass),
            "PASS_TO_PASS": list(self.pass_to_pass),
            "eval_type": self.eval_type,
            "test_directives": list(self.test_directives),
            "patched_files": list(self.patched_files),
            "environment": self.environment and to_value(self.environment),
        }


def touched(patch: str) -> tuple[str, ...]:
    """Return the files that a git diff names, by their old and their new names."""
    return tuple(dict.fromkeys(name for pair in _FILES.findall(patch) for name in pair))


def read_instances(path: Path) -> list[Instance]:
    """Read a file of instances in SWE-bench's format, `.json` or `.jsonl`.

    Raises:
        InputError: The file is not in that format, or repeats an id; the message has the line.
    """
    fields: dict[str, Instance] = {}
    for record in read_records(path):
        instance = parse_instance(record.fields, record.place)
        if instance.instance_id in fields:
            raise InputError(
                f"{record.place}: the instance {instance.instance_id!r} occurs twice. Keep one."
            )
        fields[instance.instance_id] = instance
    return list(fields.values())


def parse_instance(fields: Mapping[str, Any], place: str) -> Instance:
    """Read one instance.

    Args:
        fields: The fields by SWE-bench's names; the lists of tests may be lists or JSON texts.
    """
    record = ReleaseRecord(place=place, fields=fields)
    patch = record.text("patch", "")
    return Instance(
        instance_id=_matching(record, "instance_id", _ID, "letters, digits, '_', '.' and '-'"),
        repo=record.text("repo"),
        base_commit=_matching(record, "base_commit", _COMMIT, "a full commit id in hexadecimal"),
        problem_statement=record.text("problem_statement", ""),
        test_patch=record.text("test_patch"),
        fail_to_pass=_tests(record, "FAIL_TO_PASS"),
        pass_to_pass=_tests(record, "PASS_TO_PASS"),
        patch=patch,
        eval_type=_eval_type(record),
        test_directives=_tests(record, "test_directives", optional=True),
        patched_files=_tests(record, "patched_files", optional=True) or touched(patch),
        environment=parse_environment(fields.get("environment"), place),
    )


def _matching(record: ReleaseRecord, name: str, pattern: re.Pattern[str], rule: str) -> str:
    value = record.text(name)
    if not pattern.fullmatch(value):
        raise InputError(f"{record.place}: {name!r} must be {rule}, not {quoted(value)}.")
    return value


def _tests(record: ReleaseRecord, name: str, *, optional: bool = False) -> tuple[str, ...]:
    value = record.fields.get(name, [] if optional else None)
    if isinstance(value, str):
        try:
            value = loads(value)
        except ValueError:
            value = None
    if not is_texts(value):
        raise InputError(
            f"{record.place}: {name!r} must be a list of names of tests, or JSON text of one, not"
            f" {quoted(record.fields.get(name))}."
        )
    return tuple(value)


def _eval_type(record: ReleaseRecord) -> str:
    value = record.text("eval_type", EVAL_TYPES[0])
    if value not in EVAL_TYPES:
        raise InputError(
            f"{record.place}: 'eval_type' must be one of {', '.join(EVAL_TYPES)}, not"
            f" {quoted(value)}."
        )
    return value
