"""What a snapshot says of a state is taken as nothing where no state says it."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from coterie.pool.ledger.ledger import Ledger
from coterie.pool.ledger.plain_state import state_of, value_of
from coterie.pool.ledger.state import State

from ..drawn_histories import History


@pytest.fixture
def content(tmp_path: Path) -> tuple[dict[str, Any], list[bytes]]:
    history = History(Random(2))
    history.go_on(80)
    (tmp_path / "ledger.jsonl").write_bytes(b"".join(history.lines))
    state = State(tmp_path)
    for entry in Ledger(tmp_path / "ledger.jsonl").read():
        state.take(entry)
    value, tables = value_of(state)
    return json.loads(json.dumps(value)), tables


def test_a_state_reads_back(content: tuple[dict[str, Any], list[bytes]], tmp_path: Path) -> None:
    value, tables = content
    again, same = value_of(state_of(tmp_path, value, tables))
    assert json.dumps(again) == json.dumps(value)
    assert same == tables


@pytest.mark.parametrize(
    ("path", "odd", "why"),
    [
        (("teams", 0, "name"), "No name", "cannot name a new member"),
        (("teams", 1, "name"), "team_0", "cannot name a new member"),
        (("teams", 0, "name"), 1, "not text"),
        (("teams", 0, "born"), {"operator": 1}, "not a lineage"),
        (("teams", 0, "born"), {"operator": "x", "parents": ["later"]}, "was not born before"),
        (("teams", 0, "totals"), [["evolve", None, "1"]], "not a number"),
        (("teams", 0, "totals"), [["evolve", "n", 1e30]], "is out of range"),
        (("teams", 0, "tasks"), [["evolve", "plain", ["", "t", 0, 0, 0]]], "has no trial"),
        (("teams", 0, "past"), [["evolve", "plain", ["", 1, 0, 0, 0, 0]]], "has no trial"),
        (("agents", 0, "revisions"), [], "has a first revision"),
        (("agents", 0, "revisions", 0, "agent"), 1, "not a revision"),
        (("agents", 0, "revisions", 0, "edits"), "x", "not a list"),
        (("agents", 0, "inherits"), ["later"], "was not born before"),
        (("episodes",), {"evomas": 1.5}, "not an integer"),
        (("learnt", "ids"), [], "each entry has one place"),
    ],
)
def test_what_no_state_says_is_refused(
    content: tuple[dict[str, Any], list[bytes]],
    tmp_path: Path,
    path: tuple[str | int, ...],
    odd: Any,
    why: str,
) -> None:
    value, tables = content
    at: Any = value
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = odd
    with pytest.raises((TypeError, ValueError), match=why):
        state_of(tmp_path, value, tables)
