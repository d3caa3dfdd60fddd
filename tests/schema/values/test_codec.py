"""One form for one value: what a dataclass declares is what is written, and what is read back."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import Annotated, Any, Literal

import pytest

from coterie.schema.values.codec import (
    OMITTED,
    SKIPPED,
    Form,
    Misfit,
    check_of,
    from_value,
    misfit,
    stored,
    to_value,
)


@stored(omit=True, closed=True)
class Part:
    name: str
    share: float | None = None


@stored()
class Result:
    content: str
    steps: Sequence[Mapping[str, Any]] = ()


@stored(tag=("kind", "told"))
class Told:
    what: str


@stored(tag=("kind", "failed"))
class Failed:
    why: Literal["slow", "down"]


Letters = Annotated[str, Form(write="|".join, read=lambda text: text.split("|"))]


@stored()
class Whole:
    number: int
    of: Annotated[str, Form(key="team")]
    result: Annotated[Result | None, Form(flat=True)] = None
    parts: Mapping[str, Part] = field(default_factory=dict[str, Part])
    pairs: tuple[tuple[str, int], ...] = ()
    names: frozenset[str] = frozenset()
    slots: Mapping[int, str] = field(default_factory=dict[int, str])
    letters: Annotated[Letters, Form(key="choices", omit=True)] = ""
    words: Annotated[tuple[Letters, ...], OMITTED] = ()
    anything: Annotated[tuple[Any, ...], OMITTED] = ()
    about: Annotated[Any, OMITTED] = None
    seconds: Annotated[float, Form(write=lambda seconds: round(seconds, 3))] = 0.0
    last: Told | Failed | None = None
    rounds: Annotated[int, OMITTED] = 1
    folder: Annotated[object, SKIPPED] = None


WHOLE = Whole(
    number=1,
    of="vote",
    result=Result(content="7", steps=({"one": 1},)),
    parts={"a": Part(name="w1"), "b": Part(name="w2", share=0.5)},
    pairs=(("x", 1),),
    names=frozenset({"n"}),
    slots={3: "x"},
    seconds=1.23456,
    last=Failed(why="slow"),
    folder=object(),
)
VALUE: dict[str, Any] = {
    "number": 1,
    "team": "vote",
    "content": "7",
    "steps": [{"one": 1}],
    "parts": {"a": {"name": "w1"}, "b": {"name": "w2", "share": 0.5}},
    "pairs": [["x", 1]],
    "names": ["n"],
    "slots": {"3": "x"},
    "seconds": 1.235,
    "last": {"kind": "failed", "why": "slow"},
}


def test_a_value_is_written_in_the_order_of_its_declaration() -> None:
    assert json.dumps(to_value(WHOLE)) == json.dumps(VALUE)


def test_a_value_is_read_as_it_was_written() -> None:
    again = from_value(Whole, json.loads(json.dumps(VALUE)))
    assert to_value(again) == VALUE
    assert (again.result, again.parts, again.pairs) == (WHOLE.result, WHOLE.parts, WHOLE.pairs)
    assert (again.names, again.slots, again.last) == (WHOLE.names, WHOLE.slots, WHOLE.last)
    assert again.folder is None


def test_a_flat_field_that_is_none_is_written_as_nothing_and_read_as_none() -> None:
    value = to_value(Whole(number=1, of="vote"))
    assert (value["content"], value["steps"]) == (None, [])
    assert from_value(Whole, value) == Whole(number=1, of="vote")


def test_what_is_omitted_at_its_default_is_written_elsewhere() -> None:
    assert to_value(Whole(number=1, of="vote", rounds=3))["rounds"] == 3


@pytest.mark.parametrize(
    ("form", "change", "problem"),
    [
        (Whole, {"number": "1"}, "number: '1' is not of type 'integer'"),
        (Whole, {"number": True}, "number: true is not of type 'integer'"),
        (Whole, {"number": 1.0}, "number: 1.0 is not of type 'integer'"),
        (Whole, {"seconds": "long"}, "seconds: 'long' is not of type 'number'"),
        (Whole, {"content": 7}, "content: 7 is not of type 'string'"),
        (Whole, {"steps": {}}, "steps: {} is not of type 'array'"),
        (Whole, {"parts": []}, "parts: [] is not of type 'object'"),
        (Whole, {"parts": {"a": {}}}, "parts.a: 'name' is a required property"),
        (Whole, {"parts": {"a": 3}}, "parts.a: 3 is not of type 'object'"),
        (
            Whole,
            {"parts": {"a": {"name": "b", "share": "c"}}},
            "parts.a.share: 'c' is not of type 'number', 'null'",
        ),
        (Whole, {"parts": {"a": {"name": "b", "more": 1}}}, "parts.a: 'more' was unexpected"),
        (Whole, {"pairs": [["x", 1], ["y"]]}, 'pairs[1]: ["y"] does not have 2 items'),
        (Whole, {"slots": {"x": "y"}}, "slots.x: 'x' is not a number"),
        (Whole, {"pairs": [["x", "y"]]}, "pairs[0][1]: 'y' is not of type 'integer'"),
        (Whole, {"last": {"kind": "slow"}}, "last.kind: 'slow' is not one of ['told', 'failed']"),
        (Whole, {"last": 3}, "last.kind: null is not one of ['told', 'failed']"),
        (
            Whole,
            {"last": {"kind": "failed", "why": "tired"}},
            "last.why: 'tired' is not one of ['slow', 'down']",
        ),
    ],
)
def test_faults_have_their_place(form: type[Any], change: Mapping[str, Any], problem: str) -> None:
    assert misfit(form, {**VALUE, **change}) == problem
    for reading in (partial(from_value, form), check_of(form)):
        with pytest.raises(Misfit, match=re.escape(problem)):
            reading({**VALUE, **change})


def test_what_is_read_passes_its_check() -> None:
    check_of(Whole)(VALUE)
    for wrong, problem in (([1], "not of type 'object'"), ({}, "'number' is a required property")):
        with pytest.raises(Misfit, match=problem):
            check_of(Whole)(wrong)


def test_the_forms_of_a_type_and_of_its_field_are_both_followed() -> None:
    value = to_value(
        Whole(number=1, of="vote", letters="ab", words=("cd",), anything=(1, {}), about=[1])
    )
    assert (value["choices"], value["words"], value["anything"]) == ("a|b", ["c|d"], [1, {}])
    again = from_value(Whole, value)
    assert (again.letters, again.words) == (["a", "b"], (["c", "d"],))
    assert (again.anything, again.about) == ((1, {}), [1])


def test_what_is_written_of_nothing_is_nobody_elses() -> None:
    first, second = (to_value(Whole(number=1, of="vote")) for _ in range(2))
    first["steps"].append("more")
    assert second["steps"] == []


def test_unknown_fields_are_ignored_where_a_class_is_open() -> None:
    assert misfit(Whole, {**VALUE, "later": 1}) == ""


def test_a_missing_field_and_a_value_that_is_no_object_are_named() -> None:
    assert misfit(Whole, {}) == "'number' is a required property"
    assert misfit(Whole, [1]) == "[1] is not of type 'object'"


def test_a_kept_value_has_its_fields_and_no_others_and_stays_as_it_is() -> None:
    with pytest.raises(TypeError, match=r"Part has \['name', 'share'\].*required: \['share'\]"):
        Part(share=0.5)  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match=r"\['more', 'name'\]"):
        Part(name="a", more=1)  # pyright: ignore[reportCallIssue]
    part = Part(name="a")
    with pytest.raises(AttributeError, match="cannot assign"):
        part.name = "b"  # pyright: ignore[reportAttributeAccessIssue]
    assert part == Part(name="a", share=None)
    assert hash(part) == hash(Part(name="a", share=None))
