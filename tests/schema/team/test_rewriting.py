"""YAML that is rewritten says the new value; what did not change stays to the byte."""

from typing import Any

import pytest

from coterie.schema.team.rewriting import exactly, rewritten_yaml
from coterie.schema.values.yaml_text import read_yaml

TEXT = """\
# A file.

name: 'front'   # of the house
agents:   # all of them

  # reads
  reader:
    prompt: |   # short
      Read it.

      Say it.
    tools:
    - a  # one
    # two
    - b
    # later: c

  # --- those who write ---

  # writes
  writer: {role: "x", tools: [a]}

limits:
    time: 60.0   # seconds
    note: "none"
"""


def value_of(text: str) -> Any:
    document, problems = read_yaml(text.encode(), "t.yaml")
    assert not problems
    return document.value


def rewritten(text: str, new: Any) -> str | None:
    return rewritten_yaml(text, value_of(text), new)


def changed(path: str, item: Any) -> Any:
    """What `TEXT` says, with another item at a path; without it where that is None."""
    value = inner = value_of(TEXT)
    *names, last = path.split("/")
    for name in names:
        inner = inner[name]
    if item is None:
        del inner[last]
    else:
        inner[last] = item
    return value


@pytest.mark.parametrize(
    ("path", "item", "old", "new"),
    [
        ("name", "it's", "'front'   #", "'it''s'   #"),
        ("name", "a\nb", "'front'   # of the house", "|-  # of the house\n  a\n  b"),
        ("limits/time", 30, "60.0   #", "30   #"),
        ("limits/note", "yes", '"none"', '"yes"'),
        ("limits/note", "a\u2028b", '"none"', '"a\\u2028b"'),
        ("limits/note", {"a": 1}, ' "none"\n', "\n      a: 1\n"),
        ("limits/more", {"b": [1]}, "", "    more:\n      b: [1]\n"),
        ("agents/reader/prompt", "Read it.\n\nSay more.\n", "Say it.", "Say more."),
        ("agents/reader/prompt", "Read it.\n", "\n\n      Say it.\n", "\n"),
        ("agents/reader/prompt", "Say it.", "|   # short\n      Read it.\n\n", "|-   # short\n"),
        (
            "agents/reader/prompt",
            "a\n\n",
            "|   # short\n      Read it.\n\n      Say it.",
            '"a\\n\\n"  # short',
        ),
        ("agents/reader/tools", ["a", "c", "b"], "a  # one\n", "a  # one\n    - c\n"),
        ("agents/reader/tools", ["b"], "    - a  # one\n", ""),
        ("agents/reader/tools", [], "\n    - a  # one\n    # two\n    - b\n", " []\n"),
        ("agents/reader/tools", {"a": 1}, "- a  # one\n    # two\n    - b\n", "  a: 1\n"),
        ("agents/writer/tools", ["a", "b"], "[a]", "[a, b]"),
        (
            "agents/writer/role",
            "x" * 120,
            ' {role: "x", tools: [a]}\n',
            f"\n    role: |-\n      {'x' * 120}\n    tools: [a]\n",
        ),
        ("agents/writer/role", "z", '"x"', '"z"'),
        ("agents/writer/more", 1, '"x", tools: [a]}', "x, tools: [a], more: 1}"),
        ("agents/judge", {"role": "z"}, "[a]}\n", "[a]}\n\n  judge:\n    role: z\n"),
        ("agents/writer", None, '\n  # writes\n  writer: {role: "x", tools: [a]}\n', ""),
    ],
)  # fmt: skip
def test_a_change_touches_only_its_own_lines(path: str, item: Any, old: str, new: str) -> None:
    value = changed(path, item)
    expected = TEXT.replace(old, new, 1) if old else TEXT + new
    assert rewritten(TEXT, value) == expected


def test_comments_of_their_own_stay_where_the_field_beside_them_goes() -> None:
    text = rewritten(TEXT, changed("agents/reader", None))
    assert text is not None
    assert "# reads" not in text
    assert "# --- those who write ---\n\n  # writes\n  writer:" in text
    text = "a: 1\n\n# about b and c\n\nb: 2\n\n# about c\n\nc: 3\n"
    assert rewritten(text, {"d": 4, **value_of(text)}) == f"d: 4\n\n{text}"
    assert rewritten(text, {"a": 1, "c": 3}) == text.replace("b: 2\n", "")


def test_fields_that_change_places_or_names_keep_their_comments() -> None:
    value = value_of(TEXT)
    agents = {"poet": value["agents"]["writer"], "reader": value["agents"]["reader"]}
    text = rewritten(TEXT, {**value, "agents": agents})
    assert text is not None
    assert '\n  # writes\n  poet: {role: "x", tools: [a]}\n' in text
    assert text.index("# writes") < text.index("# reads")
    assert sorted(text.split()) == sorted(TEXT.replace("writer:", "poet:").split())


def test_lines_end_as_they_did_and_so_does_the_file() -> None:
    crlf = TEXT.replace("\n", "\r\n")
    value = changed("agents/reader/prompt", "Read it.\n\nNow.\nSay it.\n")
    expected = TEXT.replace("      Say it.", "      Now.\n      Say it.")
    assert rewritten(crlf, value) == expected.replace("\n", "\r\n")
    assert rewritten(TEXT.rstrip("\n"), value) == expected.rstrip("\n")
    assert rewritten(TEXT.rstrip("\n"), changed("limits/note", "a\nb\n")) == TEXT.replace(
        '"none"', "|\n      a\n      b"
    )


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("a: >\n  x\n  y\nb: 1\n", "a: |-\n  z\n  z\nb: 1\n"),
        ("a: x\n  y  # c\nb: 1\n", "a: |-  # c\n  z\n  z\nb: 1\n"),
        ("a: |2\n   x\nb: 1\n", "a: |-\n  z\n  z\nb: 1\n"),
        ("a: |+\n  x\n\nb: 1\n", "a: |-\n  z\n  z\nb: 1\n"),
        ("a: [x,  # c\n  y]\nb: 1\n", "a: |-\n  z\n  z\nb: 1\n"),
        ("a: [x]  # c\nb: 1\n", "a: |-  # c\n  z\n  z\nb: 1\n"),
        ("a:\n# c\nb: 1\n", "a: |-\n  z\n  z\n# c\nb: 1\n"),
        ("a: {}  # c\nb: 1\n", "a: |-  # c\n  z\n  z\nb: 1\n"),
        ("a:\n  -\n    x\nb: 1\n", "a: |-\n  z\n  z\nb: 1\n"),
    ],
)
def test_what_cannot_be_kept_in_part_is_written_as_a_whole(text: str, new: str) -> None:
    assert rewritten(text, {"a": "z\nz", "b": 1}) == new


def test_blank_lines_at_the_end_of_a_text_are_kept() -> None:
    assert rewritten("a: |+\n  x\n\nb: 1\n", {"a": "y\n\n", "b": 1}) == "a: |+\n  y\n\nb: 1\n"
    assert rewritten("a: |+\n  x\n\nb: 1\n", {"a": "y\n", "b": 1}) == "a: |+\n  y\nb: 1\n"


def test_lists_are_rewritten_item_by_item() -> None:
    text = "a:\n- b: 1  # one\n  c: 2\n\n# two\n- x\n-\n"
    new = {"a": [{"b": 1, "c": 2}, {"d": "p\nq", "e": 1}, ["x", {"w": 1}], None, "z"]}
    added = "- d: |-\n    p\n    q\n  e: 1\n-\n  - x\n  - w: 1\n"
    assert rewritten(text, new) == text.replace("\n# two\n- x\n", f"{added}\n") + "- z\n"
    assert rewritten("a:\n-\n  x\n- z\n", {"a": ["x", "w"]}) == "a: [x, w]\n"


@pytest.mark.parametrize("text", ['{"a": 1}', "? a\n: 1\n", "a: |+\n  x\n\n# end\n"])
def test_a_form_that_cannot_be_rewritten_is_nobodys_guess(text: str) -> None:
    new = {"a": "x\n"} if "|" in text else {"a": 2}
    result = rewritten(text, new)
    assert result is None or exactly(value_of(result)) == exactly(new)
