"""How problems read, for people and for machines."""

import json

import pytest

from coterie.schema import ConfigError, Problem, TextPosition
from coterie.schema.values.problems import FORMATS, dotted, quoted, reason_of

TWO = (
    Problem(
        file="a,b:c.yaml", place=TextPosition(line=2, column=5), path="agents.w1", message="100 %."
    ),
    Problem(file="d.yaml", message="Line one.\nLine two."),
)
KEY = "sk-" + "abcd1234" * 4


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), ""),
        (("agents", "w2", "tools", 0), "agents.w2.tools[0]"),
        ((0, "q"), "[0].q"),
        (("$ref",), "$ref"),
        (("a b", "c\nd", ""), r"'a b'.'c\nd'.''"),
    ],
)
def test_a_path_reads_as_people_write_it(path: tuple[str | int, ...], text: str) -> None:
    assert dotted(path) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("lots", "'lots'"),
        ("it's", '"it\'s"'),
        ("a\nb", r"'a\nb'"),
        (True, "true"),
        (None, "null"),
        (5.0, "5.0"),
        ({"to": ["boss", None]}, '{"to": ["boss", null]}'),
        (b"\xff", r"b'\xff'"),
        ({1}, '"{1}"'),
        ("x" * 100, f"'{'x' * 47}…{'x' * 7}'"),
        (f"the key is {KEY}", "'the key is [secret]'"),
    ],
)
def test_a_value_is_shown_on_one_short_line(value: object, text: str) -> None:
    assert quoted(value) == text


def test_text_is_what_a_person_reads() -> None:
    assert FORMATS["text"](TWO) == (
        "a,b:c.yaml:2:5: error: agents.w1: 100 %.\nd.yaml:1:1: error: Line one.\nLine two."
    )


def test_json_has_every_part_of_a_problem() -> None:
    first, second = json.loads(FORMATS["json"](TWO))
    assert first == {
        "file": "a,b:c.yaml", "line": 2, "column": 5, "path": "agents.w1", "message": "100 %.",
        "severity": "error",
    }  # fmt: skip
    assert second["path"] == ""


def test_github_gets_commands_in_its_own_escapes() -> None:
    assert FORMATS["github"](TWO) == (
        "::error file=a%2Cb%3Ac.yaml,line=2,col=5::agents.w1: 100 %25.\n"
        "::error file=d.yaml,line=1,col=1::Line one.%0ALine two."
    )


def test_no_problem_shows_a_secret() -> None:
    problem = Problem(file="f", path=f"agents.{KEY}", message=f"no model {KEY}.")
    assert str(problem) == "f:1:1: error: agents.[secret]: no model [secret]."


def test_problems_sort_by_file_and_place() -> None:
    late = Problem(file="a", place=TextPosition(line=10, column=1), message="")
    early = Problem(file="a", place=TextPosition(line=9, column=80), message="")
    assert sorted([TWO[1], late, early]) == [early, late, TWO[1]]


def test_an_error_of_a_file_has_its_problems_and_reads_like_them() -> None:
    error = ConfigError(TWO)
    assert error.problems == TWO
    assert str(error) == FORMATS["text"](TWO)
    assert error.exit_code == 2


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (FileNotFoundError(2, "No such file or directory"), "No such file or directory"),
        (OSError("odd"), "odd"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid"), "it is not UTF-8 text"),
        (ValueError("it is not a file"), "it is not a file"),
    ],
)
def test_why_a_file_cannot_be_read_in_a_few_words(error: Exception, reason: str) -> None:
    assert reason_of(error) == reason
