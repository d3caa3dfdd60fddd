"""The audit of an arena: its table agrees with the journals, or the difference is named."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from studies.arena.ledgers import main
from studies.arena.worlds import Arena

from .conftest import arena_of

SIZES = {"evolve": 4, "test": 2}


@pytest.fixture
def arena(own_path: None, tmp_path: Path) -> Arena:
    methods = ("team as it is", "chance edits")
    arena = arena_of(tmp_path, *methods, cap=6, test_cap=9, sizes=SIZES)
    arena.run()
    return arena


def audited(arena: Arena, words: str = "") -> Result:
    path = arena.folder / "arena.yaml"
    path.write_text(words or path.read_text())
    return CliRunner().invoke(main, [str(path), str(arena.results)])


def test_a_sound_arena_passes(arena: Arena) -> None:
    result = audited(arena)
    assert result.exit_code == 0, result.output
    assert "| learning | 6 | 6 | calls=6 |" in result.output
    assert "no cell passes its cap, and no answer was paid twice" in result.output


@pytest.mark.usefixtures("own_path")
def test_runs_that_leave_an_agent_out_ask_other_questions_on_its_path(tmp_path: Path) -> None:
    arena = arena_of(tmp_path, "mattrl by difference", cap=40, test_cap=100, sizes=SIZES)
    arena.run()
    result = audited(arena)
    assert result.exit_code == 0, result.output


def test_a_cell_over_its_cap_is_named(arena: Arena) -> None:
    result = audited(arena, '{"cap": "calls=5"}')
    assert result.exit_code == 1
    assert "chance edits, gain, seed 0: learning: 6 calls of 5" in result.output


def test_a_table_with_other_tokens_than_the_journal_is_named(arena: Arena) -> None:
    path = arena.results / "arena.json"
    value = json.loads(path.read_text())
    tokens = value["cells"][1]["testing"]["tokens"]
    value["cells"][1]["testing"]["tokens"] += 1
    path.write_text(json.dumps(value))
    result = audited(arena)
    assert result.exit_code == 1
    assert f"testing: the table has {tokens + 1} tokens, not {tokens}" in result.output
