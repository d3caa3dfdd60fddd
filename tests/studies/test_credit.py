"""What intervals of sampled Shapley values cover, in games whose exact values are known."""

import random

import pytest
from click.testing import CliRunner

from studies import credit
from studies.credit import KINDS, coverage, drawn_game


@pytest.mark.parametrize("kind", KINDS)
def test_intervals_hold_the_exact_value_as_often_as_they_say(kind: str, nightly: bool) -> None:
    games = 1_000 if nightly else 40
    for permutations in (10, 50) if nightly else (10,):
        result = coverage(kind, permutations, games=games)
        _, high = result.interval
        assert high >= 0.99, (kind, permutations, result.mean)
        assert result.mean >= 0.98
        assert result.width > 0


def test_a_normal_interval_of_few_orders_would_hold_too_little() -> None:
    assert coverage("quorum", 5, games=40).normal < 0.95


@pytest.mark.parametrize("kind", KINDS)
def test_scores_of_games_are_scores(kind: str) -> None:
    game = drawn_game(4, kind, random.Random(1))
    assert len(game) == 16
    assert all(0 <= value <= 1 for value in game.values())
    if kind in {"right or wrong", "quorum"}:
        assert {*game.values()} <= {0.0, 1.0}


def test_the_table_of_the_docs_is_printed_by_one_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(credit, "ORDERS", (5,))
    ran = CliRunner().invoke(credit.main, ["--games", "5"])
    assert ran.exit_code == 0, ran.output
    lines = ran.output.splitlines()
    assert lines[0].startswith("| scores")
    assert len(lines) == 2 + len(KINDS)
