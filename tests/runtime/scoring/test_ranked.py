"""The scorer `ranked`: how far up in a list the truth stands."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime.scoring.ranked import ranked

MARFAN = {"name": "Marfan syndrome", "synonyms": ["MFS", "Marfan's syndrome"]}


@pytest.mark.parametrize(
    ("answer", "place"),
    [
        ('["Marfan syndrome", "Loeys-Dietz"]', 1),
        ('Here it is: {"ranking": ["Loeys-Dietz", "MFS"]} as asked', 2),
        ('```json\n["A", "B", {"name": "marfan SYNDROME"}]\n```', 3),
        ('["1. Loeys-Dietz", "2. Marfan syndrome"]', 2),
        ('["(3) beta", "Marfan syndrome"]', 2),
        ("1. Loeys-Dietz\n2. Marfan  syndrome", 2),
        ("My list:\n1) **Loeys-Dietz**\n   - tall\n2) **Marfan-Syndrome**: long arms", 2),
        ("- Loeys-Dietz\n* Ehlers-Danlos\n• Marfan's syndrome (FBN1)", 3),
        ("Loeys-Dietz\n\nMarfan syndrome", 2),
        ("marfan syndrome", 1),
        ("1. Ehlers-Danlos — lax\n2. Marfan syndrome — lens", 2),
        ("1. Ehlers-Danlos\n2. EHLERS DANLOS.\n3. MFS", 2),
        ("1.Ehlers-Danlos\n2.MFS", 2),
        ("It is [1] not known []: marfan syndrome it may be", 0),
        ("[]", 0),
        ("[1, 2]", 0),
        ('{"ranking": "MFS"}', 0),
        ('["Loeys-Dietz", 3, "MFS"]', 0),
        ("1. Not Marfan syndrome", 0),
        ("", 0),
    ],
)
def test_where_the_truth_stands(answer: str, place: int) -> None:
    score = ranked(answer, MARFAN, {})
    assert score.value == (1 / place if place else 0)
    assert score.reason == (f"in place {place}" if place else "not in the first 10 places")


def listed(place: int) -> str:
    return json.dumps([*(f"other {n}" for n in range(1, place)), "truth"])


@pytest.mark.parametrize(
    ("options", "place", "value"),
    [
        ({"hit": 1}, 1, 1),
        ({"hit": 1}, 2, 0),
        ({"hit": 3}, 3, 1),
        ({"hit": 20}, 20, 1),
        ({}, 10, 0.1),
        ({}, 11, 0),
        ({"depth": 20}, 20, 0.05),
        ({"depth": 2}, 3, 0),
    ],
)
def test_what_a_place_is_worth(options: dict[str, int], place: int, value: float) -> None:
    assert ranked(listed(place), "truth", options).value == value


def test_the_first_that_counts_of_several_references() -> None:
    assert ranked('["x", "b", "a"]', ["a", {"name": "B"}], {}).value == 0.5


def test_measures_are_hits_within_the_depth() -> None:
    assert ranked(listed(4), "truth", {"hit": 1}).measures == {
        "reciprocal_rank": 0.25, "hit@1": 0, "hit@3": 0, "hit@5": 1, "hit@10": 1,
    }  # fmt: skip
    assert set(ranked("", "truth", {"depth": 4}).measures) == {
        "reciprocal_rank", "hit@1", "hit@3",
    }  # fmt: skip


HOSTILE = st.one_of(
    st.text(),
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.just("ranking"), inner),
        max_leaves=8,
    ).map(json.dumps),
    st.text(alphabet='[]{}"\\1.)-* \n:(', max_size=200),
)


@given(HOSTILE)
def test_any_answer_has_a_score(answer: str) -> None:
    score = ranked(answer, [MARFAN, "Loeys-Dietz"], {})
    assert 0 <= score.value <= 1
    assert score.measures["hit@1"] <= score.measures["hit@10"]


@given(st.lists(st.sampled_from("abcdefghijklmnop"), max_size=30), st.sampled_from(["1.", "-", ""]))
def test_only_the_first_place_of_each_name_counts(names: list[str], mark: str) -> None:
    distinct = list(dict.fromkeys(names))
    place = distinct.index("a") + 1 if "a" in distinct else 0
    value = 1 / place if 0 < place <= 10 else 0
    assert ranked("\n".join(f"{mark} {name}" for name in names), "A", {}).value == value
    assert ranked(json.dumps([name.upper() for name in names]), "a", {}).value == value


def test_a_long_answer_is_read_in_bounded_time() -> None:
    for unit in ("1. ", "1." + " " * 50_000, "[", "**a", " - ", "(", '{"a":'):
        assert ranked(unit * (400_000 // len(unit)), "truth", {}).value == 0
