"""`mas-op` of the phases of a dream: each reads what the one before it printed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from coterie.operators.operator import operator_of
from coterie.runtime.doubles import Reply

from .test_readers import TEAMWORK, Did, folder, mas

__all__ = ["folder"]

RUN = TEAMWORK[1:]
SAID: Mapping[str, Any] = {
    "dream_reflect": {"diagnosis": "It was guessed."},
    "dream_contrast": {"difference": "It counted."},
    "dream_imagine": {"ideas": [{"difference": 1, "strategy": "Count.", "niches": ["sums"]}]},
    "dream_debate": {"strategy_1": {"reason": "too short", "keep": True}},
    "dream_crystallize": {
        "insights": [{"strategy": 1, "text": "Count.", "level": "subdomain", "niche": "sums"}]
    },
}
DIFFERENCE = {"giver": "writer", "failed": "solver", "text": "It counted."}
IDEA = {"text": "Count.", "niches": ["sums"], "of": DIFFERENCE}


def phase(name: str, *arguments: str, **said: Any) -> Did:
    return mas(f"dream_{name}", *arguments, replies=Reply.json(said or SAID[f"dream_{name}"]))


def given(folder: Path, name: str, value: Any) -> str:
    (folder / name).write_text(json.dumps(value))
    return name


def test_strategies_find_them_by_name_with_what_they_work_on() -> None:
    assert [operator_of(one).scale for one in SAID] == ["agent", "pair", "team", "agent", "team"]


def test_from_a_run_to_an_insight(folder: Path) -> None:
    done = phase("reflect", "trio.yaml", "solver", *RUN, "--score", "0.25")
    assert (done.code, done.out) == (0, "It was guessed.\n"), done.err
    assert "the agent's own answer: 0.25" in done.calls[0].text
    compared = phase("contrast", "trio.yaml", "solver", "writer", *RUN, "--scores", "0.5", "0.75")
    assert json.loads(compared.out) == DIFFERENCE, compared.err
    assert "solver failed, and writer succeeded" in compared.calls[0].text
    (folder / "difference.json").write_text(compared.out)
    task = ("--task", "task.json", "--niche", "sums")
    imagined = phase("imagine", "difference.json", *task)
    assert json.loads(imagined.out) == [IDEA], imagined.err
    (folder / "ideas.json").write_text(imagined.out)
    debated = phase("debate", "trio.yaml", "planner", *RUN, "--ideas", "ideas.json")
    opinions = [{"keep": True, "reason": "too short"}]
    assert json.loads(debated.out) == {"agent": "planner", "opinions": opinions}, debated.err
    (folder / "said.json").write_text(debated.out)
    made = phase("crystallize", "--ideas", "ideas.json", "--opinions", "said.json", *task)
    assert json.loads(made.out) == [
        {"text": "Count.", "level": "subdomain", "niche": "sums", "of": DIFFERENCE}
    ], made.err
    assert "- too short" in made.calls[0].text
    everything = (done, compared, imagined, debated, made)
    assert not any("sevenish" in call.text for one in everything for call in one.calls)


def test_what_most_would_drop_is_left_out(folder: Path) -> None:
    ideas = given(folder, "ideas.json", [IDEA])
    dropped = {"opinions": [{"keep": False, "reason": "r"}]}
    files = [given(folder, f"{one}.json", {"agent": one, **dropped}) for one in ("a", "b")]
    against = [word for file in files for word in ("--opinions", file)]
    done = phase("crystallize", "--ideas", ideas, *against, "--task", "task.json")
    assert done.code == 2
    assert "Nothing is left." in done.err
    assert done.calls == []


@pytest.mark.parametrize(
    ("ideas", "opinions", "why"),
    [
        ([{"text": "Count."}], None, "not what mas-op dream_imagine writes"),
        ({}, {"agent": "a", "opinions": [1]}, "not what mas-op dream_debate writes"),
        ([IDEA], {"agent": "a", "opinions": []}, "no opinions on the 1 strategies"),
    ],
)
def test_files_of_something_else_are_refused(
    folder: Path, ideas: Any, opinions: Any, why: str
) -> None:
    more = ["--opinions", given(folder, "said.json", opinions)] if opinions else []
    file = given(folder, "ideas.json", ideas)
    done = phase("crystallize", "--ideas", file, *more, "--task", "task.json")
    assert done.code == 2
    assert why in done.err


@pytest.mark.parametrize("name", ["reflect", "contrast", "imagine", "debate", "crystallize"])
def test_what_is_of_no_use_ends_with_one(folder: Path, name: str) -> None:
    given(folder, "ideas.json", [IDEA])
    given(folder, "difference.json", DIFFERENCE)
    arguments = {
        "reflect": ("trio.yaml", "solver", *RUN),
        "contrast": ("trio.yaml", "solver", "writer", *RUN),
        "imagine": ("difference.json", "--task", "task.json"),
        "debate": ("trio.yaml", "solver", *RUN, "--ideas", "ideas.json"),
        "crystallize": ("--ideas", "ideas.json", "--task", "task.json"),
    }
    done = phase(name, *arguments[name], nonsense=1)
    assert done.code == 1
    assert "also after one repair" in done.err
