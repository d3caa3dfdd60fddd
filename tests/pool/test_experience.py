"""Entries as lines: what is written can be read, and nothing else is taken for an entry."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.pool import experience as module
from coterie.pool.experience import (
    Experience,
    OperatorOutcome,
    Provenance,
    from_line,
    to_line,
)

HASH = "0123456789abcdef" * 4
FULL = Experience(
    id="task-7/consolidate",
    kind="evolution",
    task="Write October 23, 1983\nas an ISO date.",
    summary="Examples in the prompt helped; votes did not.",
    niche="dates",
    team=HASH,
    operators=(
        OperatorOutcome(operator="mutate", component="prompts", team=HASH, reward=0.8),
        OperatorOutcome(operator="crossover"),
    ),
    reward=-0.25,
    provenance=Provenance(run="20261121T070000Z-debate-dates", config="evomas.yaml"),
)

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=50)
hashes = st.none() | st.just(HASH)
rewards = st.none() | st.floats(-1e6, 1e6)
entries = st.builds(
    Experience,
    id=texts,
    kind=st.from_regex(r"[a-z][a-z0-9_]{0,20}", fullmatch=True),
    task=texts,
    summary=st.text(st.characters(exclude_categories=["Cs"]), max_size=50),
    niche=st.none() | texts,
    team=hashes,
    operators=st.lists(
        st.builds(
            OperatorOutcome,
            operator=texts,
            component=st.none() | texts,
            team=hashes,
            reward=rewards,
        ),
        max_size=3,
    ).map(tuple),
    reward=rewards,
    provenance=st.builds(Provenance, run=st.none() | texts, config=st.none() | texts),
)


@given(entries)
def test_a_line_gives_the_entry_back(entry: Experience) -> None:
    line = to_line(entry)
    assert line.count(b"\n") == 1
    assert from_line(line) == entry


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_anything_else_is_refused_with_a_reason(line: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        from_line(line)


def test_a_line_reads_well() -> None:
    assert to_line(replace(FULL, operators=FULL.operators[:1])).decode() == (
        '{"v": 1, "id": "task-7/consolidate", "kind": "evolution", "task": "Write October 23, 1983'
        '\\nas an ISO date.", "summary": "Examples in the prompt helped; votes did not.", "niche":'
        f' "dates", "team": "{HASH}", "operators": [{{"operator": "mutate", "component": "prompts",'
        f' "team": "{HASH}", "reward": 0.8}}], "reward": -0.25, "provenance": {{"run":'
        ' "20261121T070000Z-debate-dates", "config": "evomas.yaml"}}\n'
    )


def test_an_entry_of_an_earlier_version_that_says_when_it_was_written_still_opens() -> None:
    value = {**json.loads(to_line(FULL)), "created": "2026-11-21T07:00:00Z"}
    assert from_line(json.dumps(value).encode()) == FULL


def test_the_same_entry_is_the_same_line_whenever_it_is_written() -> None:
    assert b"2026-11" not in to_line(replace(FULL, provenance=Provenance()))
    assert not hasattr(FULL, "created")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"v": 2}, "v: .*1 was expected"),
        ({"id": ""}, "id"),
        ({"kind": "Big Idea"}, "kind"),
        ({"task": None}, "task"),
        ({"team": "abc"}, "team"),
        ({"reward": 1e400}, "Infinity is not a number of JSON"),
        ({"reward": 1e10}, "reward"),
        ({"operators": [{"component": "prompts"}]}, r"operators\[0\]: .*operator.*required"),
        ({"colour": "red"}, "the entry: .*colour"),
    ],
)
def test_a_wrong_field_is_named(change: dict[str, object], reason: str) -> None:
    value = json.loads(to_line(FULL)) | change
    with pytest.raises(ValueError, match=reason):
        from_line(json.dumps(value).encode())


def test_the_largest_float_of_a_text_is_refused() -> None:
    line = to_line(FULL).replace(b"-0.25", b"1e999")
    with pytest.raises(ValueError, match="reward"):
        from_line(line)


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        from_line(b"[" * 100_000)


@pytest.mark.parametrize("reward", [float("nan"), float("inf")])
def test_a_reward_is_a_number(reward: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_line(replace(FULL, reward=reward))


def test_keys_are_not_written() -> None:
    line = to_line(replace(FULL, summary="It said sk-Abcdefghijklmnopqrstuv0123 and stopped."))
    assert b"It said [secret] and stopped." in line


def test_half_a_character_is_replaced() -> None:
    assert from_line(to_line(replace(FULL, task="caf\ud800"))).task == "caf?"


def test_the_key_changes_with_what_an_entry_is_found_by() -> None:
    found_by = {"id": "x", "kind": "x", "niche": None, "task": "x"}
    keys = {replace(FULL, **{name: value}).key for name, value in found_by.items()}
    assert len({*keys, FULL.key}) == 5
    assert replace(FULL, summary="x", reward=None).key == FULL.key


def test_the_schema_is_one_and_describes_every_field() -> None:
    schema: Any = module._validator().schema
    jsonschema.Draft202012Validator.check_schema(schema)
    fields = {*schema["properties"]}
    assert fields == {"v", *Experience.__dataclass_fields__}
    assert all(one["description"].endswith(".") for one in schema["properties"].values())
