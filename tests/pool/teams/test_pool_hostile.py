"""Pools whose lines are well sealed and wrong: whoever wrote them, every command says so."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from coterie.pool import Pool
from coterie.pool.command import main

from ...support.commands import printed, ran
from ..every_kind import pool_of_every_kind, sealed

ODD: tuple[Any, ...] = (
    None, [], {}, "", 0, -1, 1.5, True, ["a"], {"a": 1}, "x", "é" * 80, 10**30, [[[]]],
)  # fmt: skip
READING = (
    ["list", "--json"], ["verify"], ["best"], ["agents"], ["lineage"], ["memory"],
    ["population"], ["origin", "vote_1"], ["origin", "ada"], ["show", "vote"], ["show", "ada"],
    ["show", "l1"], ["log", "ada"],
)  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pool with a line of every kind."""
    return pool_of_every_kind(tmp_path_factory.mktemp("hostile") / "pool")


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from paths(item, (*path, key))


def changed(line: bytes, path: tuple[Any, ...], odd: Any) -> bytes:
    fields = json.loads(line)
    del fields["crc"]
    *way, last = path
    at = fields
    for key in way:
        at = at[key]
    at[last] = odd
    return sealed(json.dumps(fields))


def expect_no_merge_or_a_pool(folder: Path) -> None:
    """Merged with a pool that began as it did, it says what is wrong, or a pool comes of it."""
    other = Pool.init(folder.with_name("other"), shared=True).folder
    target = folder.with_name("both")
    done = ran(main, "merge", str(other), str(folder), "--into", str(target))
    assert done.exit_code in {0, 1, 2}, done.output
    assert done.exception is None or isinstance(done.exception, SystemExit)
    assert target.exists() == (done.exit_code == 0)
    shutil.rmtree(target, ignore_errors=True)


def expect_told(folder: Path) -> None:
    """Each command says what it says, or what is wrong; after a repair the pool opens."""
    for command, *rest in (*READING, ["verify", "--repair"]):
        done = ran(main, command, str(folder), *rest)
        assert done.exit_code in {0, 1, 2}, (command, done.output)
        assert done.exception is None or isinstance(done.exception, SystemExit)
        if command in {"list", "verify"}:  # before a repair, and after it
            expect_no_merge_or_a_pool(folder)
    last = ran(main, "list", str(folder))
    assert last.exit_code == 0 or "has format" in last.output, last.output


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (sealed('{"op": "x", "value": [1]}'), "needs 'op'"),
        (sealed('{"op": "x", "value": null}'), "needs 'op'"),
        (sealed('{"value": {}}'), "needs 'op'"),
        (sealed('{"op": "x", "value": {}}, {"op": "y", "value": {}}'), "is not JSON"),
        (sealed('{"op": ["x"], "value": {}}'), "needs 'op'"),
        (sealed('{"op": "x", "value": {"kind": "told", "what": NaN}}'), "NaN is not JSON"),
        (sealed('{"op": "x", "files": [1], "value": {}}'), "not a list of names"),
        (sealed('{"op": "x", "files": ["a/../../x"], "value": {}}'), "not in the ledger's folder"),
        (sealed('{"op": "x", "files": ["/etc/x"], "value": {}}'), "not in the ledger's folder"),
        (sealed("[]"), "is not JSON"),
        (sealed('{"op": "x", "value": ' + "[" * 100_000 + "]" * 100_000 + "}"), "too deeply"),
        (sealed('{"op": "x", "value": {"kind": "revised", "agent": "ada", "value": 1}}'), "value"),
    ],
)
def test_a_wrong_line_is_told_by_its_number_and_left_out_by_a_repair(
    line: bytes, why: str, whole: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(whole, tmp_path / "pool")
    ledger = folder / "ledger.jsonl"
    lines = ledger.read_bytes().splitlines(keepends=True)
    ledger.write_bytes(b"".join([*lines[:4], line, *lines[4:]]))
    text = ran(main, "list", str(folder)).output
    assert "ledger.jsonl: line 5" in text
    assert why in text
    assert "verify --repair" in text
    assert "line 5 was removed" in printed(ran(main, "verify", folder, "--repair"))
    assert ledger.read_bytes() == b"".join(lines)


def test_no_line_breaks_a_command(whole: Path, tmp_path: Path, nightly: bool) -> None:
    lines = (whole / "ledger.jsonl").read_bytes().splitlines(keepends=True)
    places = [
        (number, path, odd)
        for number, line in enumerate(lines)
        for path in paths({key: item for key, item in json.loads(line).items() if key != "crc"})
        for odd in (ODD if path else ())
    ]
    for number, path, odd in Random(0).sample(places, len(places) if nightly else 4):
        folder = shutil.copytree(whole, tmp_path / "pool")
        mended = changed(lines[number], path, odd)
        (folder / "ledger.jsonl").write_bytes(
            b"".join([*lines[:number], mended, *lines[number + 1 :]])
        )
        expect_told(folder)
        shutil.rmtree(folder)


def test_a_pool_without_its_teams_is_told_and_mended(whole: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(whole, tmp_path / "pool")
    shutil.rmtree(folder / "teams")
    assert "are missing" in ran(main, "list", str(folder)).output
    expect_told(folder)
    assert Pool.open(folder).members == {}
