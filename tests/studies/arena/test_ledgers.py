"""The audit of an arena: its table agrees with the journals, or the difference is named."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from studies.arena.ledgers import main
from studies.arena.worlds import Arena


@pytest.fixture
def arena(own_path: None, tmp_path: Path) -> Arena:
    arena = Arena(
        world="gain",
        folder=tmp_path,
        seeds=1,
        methods=("team as it is", "chance edits"),
        sizes={"evolve": 4, "test": 2},
        caps={"cap": "calls=6", "test_cap": "calls=9"},
    )
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
