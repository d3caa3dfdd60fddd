"""Tasks and answers that somebody wrote to break scorers: told at load, or scored, and never more.

Law: whatever a scorer's form lets through, it scores any answer, at a cost that grows as the answer
does. It stands here, because scorers of every floor are held to it.
"""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from coterie.runtime.agents.outcomes import Score
from coterie.runtime.jail import Jails
from coterie.runtime.scoring.scorers import ENDING, Evidence, score
from coterie.schema import Catalogue, ConfigError, ScorerChoice, Task, load_task
from coterie.schema.host.catalogue import installed
from coterie.schema.host.scorer_form import LONGEST_ANSWER, form_of

from ...scoring import found

SIZE = 10_000
"""Characters of an answer by rule; nightly, as many as a scorer reads."""
PIECES = (
    " ", "\n", "\\", "(", "[", "{", '"', "A ", "A\n", "1,", "1e9", "-", ".", "*", "\u00df",
    "\U0001f600", "```\n", "\\boxed{", "[[", '{"a":', "def f():\n", "1. ", "**", "red,", "NaN ",
    "\x00", "\ud800",
    "Answer: A ", "FUNCTION_CALLS: ", "ACTIONS: move:", "Part 1: A. ", "1: there\n", "'",
)  # fmt: skip
OWN = [name for name, entry in installed("scorers").items() if entry.package == "coterie"]
"""Not those of a plug-in that a neighbour has made known."""
REFERENCES: dict[str, Any] = {
    "bbeh": "x", "choice": "B", "contains": ["red", "blue"], "exact": "x", "json": '{"a": [1]}',
    "lesson": "A", "letter": "A", "mention": "red", "number": "7", "ranked": ["red"],
    "regex": "(a+)+$", "sequence": ["red"], "plancraft": {"impossible": False},
}  # fmt: skip
OPTIONS: dict[str, dict[str, Any]] = {
    "letter": {"letters": "ABCD"},
    "lesson": {"choices": ["red", "blue"], "before": "student"},
    "mention": {"among": ["red", "blue", *(f"w{n}" for n in range(98))]},
    "plancraft": {"target": "a", "slots": {}, "recipes": [], "stacks": {}, "steps": 30},
}
KNOWN = Catalogue.of_host()
NEEDS_MORE = {"humaneval", "math", "repair", "workbench"}
"""What runs code in a jail, and so is bounded there, or has files of its own."""


def scored(name: str, answer: str) -> Score:
    choice = ScorerChoice(name=name, options=OPTIONS.get(name, {}))
    return found(Task(id="t", query="?", answer=REFERENCES[name], scorer=choice), answer)


def test_every_scorer_is_held_to_the_law() -> None:
    assert set(OWN) == REFERENCES.keys() | NEEDS_MORE


@pytest.mark.parametrize("name", sorted(OWN))
def test_every_scorer_says_what_it_takes(name: str) -> None:
    form = form_of(name)
    assert all("description" in schema for schema in form.options.values())
    assert set(form.required) <= form.options.keys()
    takes_anything = {"exact"}
    assert form.reference or form.check.__name__ != "_nothing_more" or name in takes_anything


@pytest.mark.parametrize("name", ["choice", "letter", "number", "mention", "lesson"])
@pytest.mark.parametrize(("after", "value"), [(ENDING // 2, 1), (ENDING, 0)])
def test_what_counts_last_is_looked_for_at_the_end(name: str, after: int, value: int) -> None:
    assert scored(name, f"so: ({REFERENCES[name]}) {'.' * after}").value == value


@pytest.mark.parametrize("name", sorted(REFERENCES))
def test_any_answer_is_scored_within_bounds(name: str, nightly: bool) -> None:
    size = LONGEST_ANSWER if nightly else SIZE
    for piece in PIECES:
        answer = (piece * size)[:size]
        assert 0 <= scored(name, answer).value <= 1


texts = st.text() | st.lists(st.sampled_from(PIECES), max_size=30).map("".join)


@given(st.sampled_from(sorted(REFERENCES.keys() - {"regex"})), texts)
def test_any_text_is_an_answer(name: str, answer: str) -> None:
    assert 0 <= scored(name, answer).value <= 1


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**40), 10**40)
    | st.floats(allow_nan=False)
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=4,
)
named = st.sampled_from(sorted({key for name in OWN for key in form_of(name).options}))


@given(
    st.sampled_from(sorted(OWN)),
    st.dictionaries(named | st.text(max_size=5), anything, max_size=3),
    anything,
    st.sampled_from(["", "A", "7", '{"a": 1}', "red\n1. x"]),
)
@example("letter", {"letters": "]["}, "A", "A")
@example("json", {}, "[" * 990 + "]" * 990, "[" * 990 + "]" * 990)
@example("contains", {}, [], "x")
@example("regex", {"pattern": "(" * 500 + ")" * 500}, "x", "x")
def test_a_task_is_told_at_load_or_every_answer_to_it_is_scored(
    tmp_path_factory: pytest.TempPathFactory,
    name: str,
    options: dict[str, Any],
    reference: Any,
    answer: str,
) -> None:
    path = tmp_path_factory.getbasetemp() / "hostile.json"
    fields = {"id": "t", "query": "?", "answer": reference, "scorer": {**options, "name": name}}
    path.write_text(json.dumps(fields))
    word = ""
    try:
        task = load_task(path, KNOWN)
    except ConfigError as error:
        word = str(error)
    else:
        if name not in NEEDS_MORE:
            asyncio.run(score(Evidence(task=task, answer=answer, jails=Jails())))
    assert not word or "hostile.json:1:" in word
