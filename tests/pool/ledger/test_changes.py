"""Changes of a pool: each is one line, which gives it back, and counts once."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.pool import Admission, Pool, verify
from coterie.pool.ledger.changes import (
    Added,
    Change,
    ChildRejected,
    EventNoted,
    Learnt,
    Retired,
)
from coterie.pool.ledger.learnt import OperatorOutcome
from coterie.pool.ledger.shape import misshapen
from coterie.runtime.values.usage import Usage
from coterie.schema import InputError, Lineage
from coterie.schema.values.codec import from_value

from ..edited_teams import SEED, edited, tried, vote

HASH = "0123456789abcdef" * 4
LESSON = Learnt(
    kind="lesson",
    task="Write October 23, 1983\nas an ISO date.",
    text="Examples in the prompt helped; votes did not.",
    niche="dates",
    owner="ada",
    giver="ben",
    level="subdomain",
    case="dates_7",
    turn=2,
    credit=0.25,
    team=HASH,
    operators=(
        OperatorOutcome(operator="mutate", component="prompts", team=HASH, reward=0.8),
        OperatorOutcome(operator="crossover"),
    ),
    reward=-0.25,
    run="20261121T070000Z-debate-dates",
)
CHANGES: dict[str, Change] = {
    "born": Added(
        member=edited(vote(), prompt="Solve it thrice."),
        lineage=Lineage(operator="mutate", parents=("vote",)),
    ),
    "tried": tried("vote", "t", 0.5, usage=Usage(calls=1)),
    "failed": tried("vote", "t", reason="out of time"),
    "rejected": ChildRejected(operator="mutate", reason="no team", parents=("vote",), task="t"),
    "retired": Retired(member="vote", reason="too weak"),
    "learnt": LESSON,
    "told": EventNoted(
        what="lifecycle.fork", about={"agent": "ada", "reward": 0.75, "of": ["x", 2]}
    ),
}

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=50)
names = st.from_regex(r"[a-z][a-z0-9_]{0,20}", fullmatch=True)
numbers = st.none() | st.floats(-1e6, 1e6)
hashes = st.none() | st.just(HASH)
entries = st.builds(
    Learnt,
    kind=names,
    task=texts,
    text=st.text(st.characters(exclude_categories=["Cs"]), max_size=50),
    niche=st.none() | texts,
    owner=st.none() | names,
    giver=st.none() | names,
    level=st.none() | names,
    case=st.none() | texts,
    turn=st.none() | st.integers(0, 99),
    credit=numbers,
    replaces=st.lists(texts, max_size=3, unique=True).map(tuple),
    team=hashes,
    operators=st.lists(
        st.builds(
            OperatorOutcome,
            operator=texts,
            component=st.none() | texts,
            team=hashes,
            reward=numbers,
        ),
        max_size=3,
    ).map(tuple),
    reward=numbers,
    run=st.none() | texts,
)


@pytest.mark.parametrize("label", CHANGES)
def test_a_change_is_one_line_and_counts_once(label: str, pool: Pool) -> None:
    first = pool.commit(CHANGES[label], op="one")
    again = pool.commit(CHANGES[label], op="one")
    if label == "born":
        assert first == again == Admission(name="vote_1", is_new=True)
    else:
        assert (first, again) == (True, False)
    *_, last = pool.entries()
    assert [entry.op for entry in pool.entries()].count("one") == 1
    assert list(misshapen(last.value)) == []
    assert verify(pool.folder).faults == ()


@pytest.mark.parametrize("label", ["tried", "failed", "rejected", "told"])
def test_a_line_gives_the_change_back(label: str) -> None:
    change: Any = CHANGES[label]
    value = json.loads(json.dumps(change.value()))
    assert from_value(type(change), value) == change


def test_a_line_gives_a_retirement_back() -> None:
    change = Retired(member="vote", reason="too weak")
    assert Retired.of(json.loads(json.dumps(change.value()))) == change


@given(entries)
def test_a_line_gives_what_was_learnt_back(entry: Learnt) -> None:
    value = json.loads(json.dumps(entry.value()))
    assert Learnt.of(value, "one") == replace(entry, id="one")


def test_a_twin_is_not_born_and_what_it_is_called_is_told(pool: Pool) -> None:
    born = Added(member=vote(name="other"), lineage=SEED, name="other")
    assert pool.commit(born, op="twin") == Admission(name="vote", is_new=False)


def test_what_is_learnt_is_known_to_all_who_open_the_pool(pool: Pool) -> None:
    other = Pool.open(pool.folder)
    pool.commit(LESSON, op="task 1/learnt")
    other.refresh()
    assert other.learnt == {"task 1/learnt": replace(LESSON, id="task 1/learnt")}


def test_an_entry_stands_for_earlier_ones_which_stay(pool: Pool) -> None:
    for op in ("one", "two"):
        pool.commit(LESSON, op=op)
    other = Pool.open(pool.folder)
    pool.commit(LESSON, op="three")
    both = replace(LESSON, text="Both.", replaces=("one", "three"))
    assert other.commit(both, op="both")
    pool.refresh()
    assert list(pool.learnt) == list(Pool.open(pool.folder).learnt)
    assert list(pool.learnt) == ["one", "two", "three", "both"]


@pytest.mark.parametrize("label", ["tried", "rejected", "retired", "learnt"])
def test_what_names_a_stranger_is_no_change(label: str, pool: Pool) -> None:
    wrong: dict[str, Callable[[], Change]] = {
        "tried": lambda: tried("voter", "t", 1),
        "rejected": lambda: ChildRejected(operator="mutate", reason="", parents=("voter",)),
        "retired": lambda: Retired(member="voter", reason=""),
        "learnt": lambda: replace(LESSON, replaces=("voter",)),
    }
    before = len(list(pool.entries()))
    with pytest.raises(InputError, match="voter"):
        pool.commit(wrong[label](), op="one")
    assert len(list(pool.entries())) == before


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"kind": "Big Idea"}, r"entry\.kind"),
        ({"task": ""}, r"entry\.task"),
        ({"team": "abc"}, r"entry\.team"),
        ({"reward": 1e10}, r"entry\.reward"),
        ({"reward": float("nan")}, r"entry\.reward"),
        ({"credit": float("inf")}, r"entry\.credit"),
        ({"owner": "Ada"}, r"entry\.owner"),
        ({"level": "cross-domain"}, r"entry\.level"),
        ({"niche": "n" * 129}, r"entry\.niche"),
    ],
)
def test_a_wrong_field_is_named(change: dict[str, Any], reason: str, pool: Pool) -> None:
    with pytest.raises(InputError, match=reason):
        pool.commit(replace(LESSON, **change), op="one")
    assert not pool.learnt


def test_an_event_has_a_name_and_plain_numbers(pool: Pool) -> None:
    with pytest.raises(InputError, match="'Fork!' is invalid: what"):
        pool.commit(EventNoted(what="Fork!", about={}), op="one")
    with pytest.raises(InputError, match="not a plain number"):
        pool.commit(EventNoted(what="fork", about={"share": float("nan")}), op="one")


def test_keys_are_not_kept(pool: Pool) -> None:
    key = "sk-Abcdefghijklmnopqrstuv0123"
    pool.commit(replace(LESSON, text=f"It said {key} and stopped."), op="one")
    pool.commit(EventNoted(what="fork", about={"said": key}), op="two")
    assert pool.learnt["one"].text == "It said [secret] and stopped."
    assert key not in (pool.folder / "ledger.jsonl").read_text()


def test_half_a_character_is_replaced(pool: Pool) -> None:
    pool.commit(replace(LESSON, task="caf\ud800"), op="one")
    assert pool.learnt["one"].task == "caf?"


def test_the_key_changes_with_what_an_entry_is_found_by() -> None:
    found_by = {"id": "x", "kind": "x", "niche": None, "owner": "x", "level": "x", "task": "x"}
    keys = {replace(LESSON, **{name: value}).key for name, value in found_by.items()}
    assert len({*keys, LESSON.key}) == 7
    assert replace(LESSON, text="x", reward=None).key == LESSON.key
