"""The canonical form: one order, one style, and no comment lost."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.schema import Agent, Execution, Team, dump, write_yaml
from coterie.schema.team.writing import canonical, schema_beside
from coterie.schema.values.yaml_text import read_yaml

HEADER = "# yaml-language-server: $schema=team.schema.json\n"

FORM = """\
--- @
agents: @
@
  boss: {role: chief, prompt: "Pick # one", @
    @
    tools: [], @
    @
    max_tokens: 5} @
  w1: @
    @
    prompt: | @
      Solve it. # no comment
        # nor this

      # nor that
@
    tools: [ @
      @
      read_file, @
      search_text @
    ] @
    agent_type: @
      ToolCallingAgent @
  w2: @
    tools: [read_file, list_files] @
    prompt: "Several
      lines # no comment" @
topology: @
  output: boss @
  reports_to: @
    w1: @
    @
    - boss @
    w2: [boss] @
@
successful_tasks: @
@
- notes: a plain text @
  @
  q: why @
- {q: really, @
   notes: "yes"} @
name: vote @
# yaml-language-server: $schema=../some.schema.json
@
"""
"""A team in many styles; each @ is a place where a comment may stand."""
GAPS = FORM.count("@")


def read(text: str) -> Any:
    document, problems = read_yaml(text.encode(), "team.yaml")
    assert problems == []
    return document


def formatted(text: str) -> str:
    return canonical(read(text), text)


def with_comments(chosen: set[int]) -> str:
    """The form with a numbered comment in each chosen place."""
    numbers = iter(range(GAPS))
    marked = re.sub("@", lambda _: f"# c{n}." if (n := next(numbers)) in chosen else "", FORM)
    return re.sub(r" +$", "", marked, flags=re.MULTILINE)


@given(st.sets(st.integers(0, GAPS - 1)))
def test_every_comment_survives_and_formatting_again_changes_nothing(chosen: set[int]) -> None:
    text = with_comments(chosen)
    once = formatted(text)
    assert read(once).value == read(text).value
    assert sorted(re.findall(r"# c\d+\.", once)) == sorted(f"# c{n}." for n in chosen)
    assert formatted(once) == once


def test_one_order_and_one_style() -> None:
    assert formatted(with_comments(set())) == (
        """\
# yaml-language-server: $schema=../some.schema.json
name: vote
agents:
  boss:
    role: chief
    prompt: "Pick # one"
    tools: []
    max_tokens: 5
  w1:
    agent_type: ToolCallingAgent
    prompt: |
      Solve it. # no comment
        # nor this

      # nor that
    tools: [read_file, search_text]
  w2:
    prompt: "Several lines # no comment"
    tools: [read_file, list_files]
topology:
  reports_to:
    w1: [boss]
    w2: [boss]
  output: boss
successful_tasks:
  - q: why
    notes: a plain text
  - q: really
    notes: "yes"
"""
    )


def test_comments_stay_with_what_they_are_about() -> None:
    text = """\
# The whole team.
name: vote  # short
agents:
  # The only one.
  boss:  # works alone
    tools: [
      read_file,  # for the notes
      list_files]
    # How it sounds.
    role: chief
# The end.
"""
    assert (
        formatted(text)
        == HEADER
        + """\
# The whole team.
name: vote  # short
agents:
  # The only one.
  boss:  # works alone
    # How it sounds.
    role: chief
    tools:
      - read_file  # for the notes
      - list_files
# The end.
"""
    )


def test_a_schema_named_in_a_prompt_names_no_schema() -> None:
    prompt = "      # yaml-language-server: $schema=evil\n      Be brief.\n"
    text = f"name: t\nagents:\n  a:\n    prompt: |\n{prompt}"
    assert formatted(text) == HEADER + text


def test_what_is_at_its_default_is_not_written() -> None:
    team = Team(name="t", agents={"a": Agent(id="a", prompt="Be brief.")}, execution=Execution())
    assert dump(team) == f"{HEADER}name: t\nagents:\n  a:\n    prompt: Be brief.\n"


def test_one_worker_is_not_as_many_as_possible() -> None:
    agents = {"a": Agent(id="a", prompt="Be brief.")}
    team = Team(name="t", agents=agents, execution=Execution(parallel_workers=1))
    assert "parallel_workers: 1\n" in dump(team)
    assert team.content_hash != Team(name="t", agents=agents).content_hash


WRITTEN = {
    "Solve it.": "Solve it.",
    "": '""',
    "no": '"no"',
    "1:30": '"1:30"',
    "0o10": '"0o10"',
    "2026-11-21": '"2026-11-21"',
    " led by a blank": '" led by a blank"',
    "a: b": '"a: b"',
    "a #b": '"a #b"',
    "[a]": '"[a]"',
    'say "x"': 'say "x"',
    "a\nb": "|-\n  a\n  b",
    "a\nb\n": "|\n  a\n  b",
    "a\nb\n\n": "|+\n  a\n  b\n",
    " a\nb": '" a\\nb"',
    "long " * 30 + "text": f"|-\n  {'long ' * 30}text",
    "👩\u200d🔬": '"👩\\u200d🔬"',
    "\U000e0001": '"\\U000e0001"',
}


@pytest.mark.parametrize("text", WRITTEN)
def test_texts_are_written_so_that_nobody_takes_them_for_something_else(text: str) -> None:
    assert write_yaml({"k": text}) == f"k: {WRITTEN[text]}\n"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (1e-7, "1.0e-07"),
        (-1e22, "-1.0e+22"),
        (0.1, "0.1"),
        (7, "7"),
        (True, "true"),
        (None, "null"),
        ({}, "{}"),
        ([], "[]"),
        (["a", 1, "b, c", "d?"], '[a, 1, "b, c", "d?"]'),
        ([["a"], ["b"]], "\n  - [a]\n  - [b]"),
        ([[["a"]]], "\n  - - [a]"),
        (["a\nb", ["c"]], "\n  - |-\n    a\n    b\n  - [c]"),
        ([{"a": {"b": 1}}], "\n  - a:\n      b: 1"),
        (["x" * 50, "y" * 50], f"\n  - {'x' * 50}\n  - {'y' * 50}"),
    ],
)
def test_values_are_written_in_one_way(value: Any, written: str) -> None:
    space = "" if written.startswith("\n") else " "
    assert write_yaml({"k": value}) == f"k:{space}{written}\n"


def test_the_schema_is_found_beside_a_file_or_above_it(tmp_path: Path) -> None:
    deep = tmp_path / "seeds" / "mine"
    deep.mkdir(parents=True)
    assert schema_beside(deep / "t.yaml") == "team.schema.json"
    (tmp_path / "schema").mkdir()
    (tmp_path / "schema" / "team.schema.json").touch()
    assert schema_beside(deep / "t.yaml") == "../../schema/team.schema.json"
    (deep / "team.schema.json").touch()
    assert schema_beside(deep / "t.yaml") == "team.schema.json"
