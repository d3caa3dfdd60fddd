"""What teams are expected to score: alike where nothing differs, else as their trials tell."""

import math
import random
import statistics
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.pool import EVOLVE, Member, Trial
from coterie.pool.expectation.estimation import EASE, LEVEL, NOISE, SPREADS
from coterie.pool.expectation.expectation import (
    Expectation,
    by_standing,
    expectations,
    expected_scores,
    most_promising,
    ranked,
)
from coterie.pool.ledger.changes import Retired
from coterie.runtime.values.usage import Usage
from coterie.schema import InputError, Lineage
from coterie.schema.values.codec import to_value

from ..edited_teams import pool_of, scored, vote


def member(name: str, *parents: str) -> Member:
    born = Lineage(operator="mutate" if parents else "seed", parents=parents)
    return Member(
        name=name, path=Path(name), lineage=born, stem=name, identity=name, content_hash=name
    )


def take(item: Member, trial: Trial) -> None:
    item.take(to_value(trial), trial.kind)
    item.add_score((trial.split, trial.kind), (trial.niche or "", trial.task), trial.score or 0)


def tried(
    item: Member,
    *scores: float | None,
    niche: str | None = None,
    split: str = EVOLVE,
    tokens: int = 0,
    first: int = 0,
) -> Member:
    usage = Usage(calls=1, prompt_tokens=tokens)
    for number, score in enumerate(scores, first):
        task = f"{niche} {number}"
        take(item, Trial(task=task, score=score, niche=niche, split=split, usage=usage))
    return item


def names(*members: Member) -> list[str]:
    return [item.name for item in ranked(members)]


def test_where_nothing_is_known_any_score_is_expected() -> None:
    teams = [member("a"), member("b", "a"), member("c", "gone")]
    assert set(expected_scores(teams).values()) == {0.5}
    item = expectations(teams)["a"]
    assert (item.low, item.high) == (0, 1)
    assert expectations([]) == {}


def test_by_hand_one_trial_of_a_founder_that_has_a_child() -> None:
    """Each spread of differences counts by how likely it makes the score of 0.75."""
    weights, means, variances = [], [], []
    for spread in SPREADS:
        known = LEVEL + EASE + spread**2
        seen = known + NOISE
        weights.append(math.exp(-(0.25**2) / seen / 2) / math.sqrt(seen))
        means.append(0.5 + known / seen * 0.25)
        variances.append(known - known**2 / seen)
    share = [weight / sum(weights) for weight in weights]
    mean = sum(p * item for p, item in zip(share, means, strict=True))
    second = sum(p * (v + m**2) for p, v, m in zip(share, variances, means, strict=True))
    reach = 1.959964 * math.sqrt(second - mean**2)
    result = expectations([tried(member("a"), 0.75), member("b", "a")])
    assert result["a"].score == pytest.approx(mean) == pytest.approx(0.577, abs=0.001)
    assert result["a"].low == pytest.approx(mean - reach)
    assert result["a"].high == 1
    assert result["b"].score == pytest.approx(mean)
    assert result["b"].low < result["a"].low
    assert str(Expectation(score=0.41, low=0.3, high=0.52, standing=0.6)) == "0.410 [0.300, 0.520]"


def test_the_luckiest_of_equal_teams_is_expected_to_score_as_the_others() -> None:
    """Forty teams that are right 40 % of the time: of ten trials each, the best mean is 0.7."""
    chance = random.Random(1)
    teams = [member("0")]
    for number in range(1, 40):
        teams.append(member(str(number), str(chance.randrange(number))))
    for team in teams:
        scores = [float(chance.random() < 0.4) for _ in range(10)]
        tried(team, *scores, first=chance.randrange(10_000))
    assert max(item.statistics.score or 0 for item in teams) >= 0.7
    result = expectations(teams)
    assert max(item.score for item in result.values()) < 0.5
    assert all(item.low <= 0.4 <= item.high for item in result.values())


def test_where_teams_differ_their_trials_soon_tell() -> None:
    proven = tried(member("proven"), *[1] * 9, 0)
    weak = tried(member("weak"), *[0] * 9, 1)
    heir, other = member("heir", "proven"), member("other", "weak")
    result = expected_scores([proven, weak, heir, other])
    assert result["proven"] > 0.75
    assert result["weak"] < 0.25
    assert result["heir"] == pytest.approx(result["proven"])
    assert result["other"] == pytest.approx(result["weak"])


def test_one_lucky_trial_does_not_beat_a_proven_line() -> None:
    proven = tried(member("proven"), *[1] * 18, 0, 0)
    lucky = tried(member("lucky"), 1)
    heir = tried(member("heir", "proven"), 1)
    result = expected_scores([proven, lucky, heir])
    assert result["lucky"] < result["proven"] < result["heir"]


def test_what_newcomers_gain_on_later_trials_is_expected_of_the_next() -> None:
    chance = random.Random(2)
    line = [member("0")]
    for number in range(1, 12):
        line.append(member(str(number), str(number - 1)))
    for number, item in enumerate(line):
        worth = 0.2 + 0.05 * number
        tried(item, *(float(chance.random() < worth) for _ in range(40)), first=1000 * number)
    result = expectations([*line, member("next", "11")])
    assert result["next"].score > result["11"].score
    assert result["next"].high - result["next"].low > result["11"].high - result["11"].low


def won(item: Member, task: str, score: float) -> Member:
    take(item, Trial(task=task, score=score, chosen=True))
    return item


def test_wins_that_are_all_alike_tell_nothing() -> None:
    """Whoever was taken in for a right answer had one; so have all."""
    known = [tried(member("seed"), 0, 0, 1, 0)]
    before = expectations([*known, member("a", "seed"), member("b", "seed")])
    newcomers = [won(member(name, "seed"), f"w {name}", 1) for name in ("a", "b")]
    after = expectations([*known, *newcomers])
    rows = [(item.score, item.low, item.high) for item in after.values()]
    assert rows == [(item.score, item.low, item.high) for item in before.values()]


def test_an_order_trusts_wins_where_an_expectation_does_not() -> None:
    known = [tried(member("seed"), 0, 0, 1, 0), member("untried", "seed")]
    newcomer = won(member("winner", "seed"), "w", 1)
    result = expectations([*known, newcomer])
    assert result["winner"].score == pytest.approx(result["untried"].score)
    assert result["winner"].standing > result["untried"].standing
    assert next(iter(ranked([*known, newcomer]))).name == "winner"


def test_wins_by_degrees_tell_newcomers_apart_and_raise_no_level() -> None:
    chance = random.Random(3)
    seed = member("seed")
    for number in range(40):
        tried(seed, 0.4 + chance.uniform(-0.2, 0.2), first=number)
    wins = {"good": 0.9, "fair": 0.6, "poor": 0.5, "last": 0.45, "more": 0.55}
    newcomers = [won(member(name, "seed"), f"w {name}", score) for name, score in wins.items()]
    result = expectations([seed, *newcomers])
    assert result["good"].score > result["fair"].score > result["last"].score
    assert statistics.fmean(result[name].score for name in wins) < 0.5
    assert result["good"].score < 0.7
    assert newcomers[0].statistics.score is None


def test_a_team_that_only_ran_adapted_is_known_but_less_surely() -> None:
    plain, adapted = member("plain"), member("adapted")
    for number in range(30):
        score = float(number % 10 > 0)
        take(plain, Trial(task=f"p{number}", score=score))
        take(adapted, Trial(task=f"a{number}", score=score, adapted=True))
    item, other = (expectations([team])[team.name] for team in (plain, adapted))
    assert other.score > 0.7
    assert other.high - other.low > item.high - item.low
    untried = expectations([member("untried")])["untried"]
    assert other.high - other.low < 0.6 * (untried.high - untried.low)


def test_what_adapting_gains_is_told_apart_from_what_teams_are_worth() -> None:
    """Where teams ran both ways and adapting helps, one that only ran adapted is expected less."""
    both = [member(f"both {number}") for number in range(4)]
    single = member("single")
    for number in range(80):
        for team in both:
            name = f"{team.name} {number}"
            take(team, Trial(task=f"p {name}", score=float(number % 10 < 3)))
            take(team, Trial(task=f"a {name}", score=float(number % 10 < 6), adapted=True))
        take(single, Trial(task=f"s{number}", score=float(number % 10 < 6), adapted=True))
    result = expected_scores([*both, single])
    assert result["single"] < 0.45
    assert result["both 0"] == pytest.approx(0.3, abs=0.05)


def test_failures_count_as_nothing_scored_and_other_splits_not_at_all() -> None:
    item = tried(tried(member("one"), None, None), 1, 1, split="test")
    wrong = tried(tried(member("one"), 0, 0), 1, 1, split="test")
    assert expectations([item]) == expectations([wrong])
    assert expected_scores([item])["one"] < 0.5 < expected_scores([item], split="test")["one"]


def test_a_team_that_met_hard_niches_is_not_taken_for_a_weak_one() -> None:
    strong = tried(tried(member("strong"), *[0, 0, 1] * 4, niche="hard"), 1, 1, niche="easy")
    usual = tried(tried(member("usual"), *[0, 0, 0, 0], niche="hard"), *[1, 1, 0] * 6, niche="easy")
    assert (strong.statistics.score or 0) < (usual.statistics.score or 0)
    result = expected_scores([strong, usual])
    assert result["strong"] > result["usual"]


def test_tasks_that_nobody_solves_say_nothing_of_who_met_them() -> None:
    """Where all miss the same tasks, what one misses alone weighs more than what all miss."""
    scores = [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0]
    same = [tried(member(f"same {n}"), *scores) for n in range(4)]
    apart = [tried(member(f"apart {n}"), *scores, first=100 * n) for n in range(4)]
    together, alone = expectations(same)["same 0"], expectations(apart)["apart 0"]
    assert together.high - together.low > alone.high - alone.low


def test_a_niche_is_expected_by_itself_and_by_the_rest() -> None:
    item = tried(tried(member("one"), *[1] * 8, niche="dates"), *[0] * 8, niche="ages")
    other = tried(member("other"), 1, 1, 1, 0, niche="dates")
    fields = {niche: expected_scores([item, other], niche) for niche in ("dates", "ages", "films")}
    assert fields["dates"]["one"] > 0.8
    assert fields["ages"]["one"] < 0.2
    assert fields["ages"]["one"] < fields["ages"]["other"] < fields["dates"]["other"]
    assert 0.3 < fields["films"]["one"] < 0.7
    films = expectations([item, other], "films")["one"]
    dates = expectations([item, other], "dates")["one"]
    assert films.high - films.low > dates.high - dates.low


def test_a_long_line_is_no_trouble() -> None:
    line = [tried(member("0"), *[1] * 6)]
    line += [member(str(n), str(n - 1)) for n in range(1, 500)]
    assert expected_scores(line)["499"] == pytest.approx(expected_scores(line)["0"])


def test_among_equals_parents_come_first_then_the_cheaper_that_ran_then_the_older() -> None:
    old, cheap = tried(member("old"), 1, tokens=9), tried(member("cheap"), 1, tokens=5)
    broken, untried = tried(member("broken"), None, tokens=0), member("untried")
    child = tried(member("child", "old"), 1, tokens=1)
    assert names(member("a"), member("b")) == ["a", "b"]
    assert names(old, cheap) == ["cheap", "old"]
    assert names(old, broken, untried)[-1] == "broken"
    equals = [tried(member("dear"), 1, tokens=9), tried(member("heir", "dear"), 1, tokens=1)]
    equals += [tried(member("third"), 1, tokens=5)]
    assert [item.name for item in ranked(equals, split="none yet")] == ["dear", "heir", "third"]
    assert child.name == "child"


def test_the_most_promising_is_a_team_that_is_not_retired(tmp_path: Path) -> None:
    pool = pool_of(tmp_path / "pool", vote(), vote("Guess.", "Check.", name="guess"))
    scored(pool, "vote", 1, 1)
    best, expected = most_promising(pool)
    assert best.name == "vote"
    assert expected.low < expected.score < expected.high
    pool.commit(Retired(member="vote", reason="dear"), op="retire")
    assert most_promising(pool)[0].name == "guess"
    pool.commit(Retired(member="guess", reason="weak"), op="retire too")
    with pytest.raises(InputError, match="has only retired teams"):
        most_promising(pool)


DRAWN = st.lists(
    st.tuples(
        st.sets(st.integers(0, 9), max_size=2),
        st.lists(
            st.tuples(st.none() | st.floats(0, 1), st.sampled_from([None, "n", "m"])), max_size=4
        ),
    ),
    max_size=8,
)


@given(DRAWN, st.sampled_from([None, "n", "new"]))
def test_it_is_a_score_within_its_interval_and_is_moved_by_trials(
    drawn: list[tuple[set[int], list[tuple[float | None, str | None]]]], niche: str | None
) -> None:
    teams: list[Member] = []
    for number, (parents, trials) in enumerate(drawn):
        teams.append(
            member(str(number), *(str(parent) for parent in sorted(parents) if parent < number))
        )
        for place, (score, of) in enumerate(trials):
            tried(teams[-1], score, niche=of, first=place)
    before = expectations(teams, niche)
    assert before == expectations(teams, niche)
    assert all(0 <= item.low <= item.score <= item.high <= 1 for item in before.values())
    assert sorted(item.name for item in ranked(teams, niche)) == sorted(before)
    for team in teams:
        tried(team, *[1.0] * 50, niche=niche, first=100)
    after = expectations(teams, niche)
    assert all(after[name].score > before[name].score for name in after)


def test_of_many_teams_the_first_and_the_youngest_count(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(5)
    teams = [member("0")]
    teams += [member(str(n), str(chance.randrange(n))) for n in range(1, 60)]
    for team in teams[:50]:
        tried(team, *(float(chance.random() < 0.5) for _ in range(6)), first=chance.randrange(99))
    whole = expectations(teams)
    monkeypatch.setattr("coterie.pool.expectation.expectation.MOST", 20)
    part = expectations(teams)
    assert {name: item.standing for name, item in part.items()} == {
        name: item.standing for name, item in whole.items()
    }
    assert [*ranked(teams)] == by_standing(teams)
    order = sorted(teams[:50], key=lambda item: -whole[item.name].standing)
    seen = {item.name for item in (*order[:10], *teams[40:50])}
    for team in teams[:50]:
        alone = part[team.name]
        if team.name not in seen:
            assert alone.score == alone.standing
            assert alone.high - alone.low > whole[team.name].high - whole[team.name].low
    assert all(abs(part[name].score - whole[name].score) < 0.15 for name in seen)
    monkeypatch.setattr("coterie.pool.expectation.expectation.MOST_RELATED", 25)
    assert expectations(teams).keys() == whole.keys()
    for team in teams[:40]:
        team.retired = "old"
    assert expectations(teams)["49"].score != expectations(teams)["49"].standing
