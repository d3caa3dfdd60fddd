"""Fallbacks in models.yaml: known, and never in a circle."""

from pathlib import Path

import pytest

from coterie.schema.loading.loading import load_models

from ...support.problems import problems_of


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "models.yaml"


def models(**fallbacks: str) -> str:
    lines = [
        f"  {alias}: {{model: openai/m, fallback: {names}}}" for alias, names in fallbacks.items()
    ]
    return "\n".join(["models:", *lines]) + "\n"


def refused(file: Path, text: str) -> list[str]:
    file.write_text(text)
    return [problem.removeprefix(f"{file}:") for problem in problems_of(load_models, file)]


def test_fallbacks_are_loaded_in_their_order(file: Path) -> None:
    file.write_text(models(a="[c, b]", b="[default]", c="[]"))
    loaded = load_models(file)
    assert loaded["a"].fallback == ("c", "b")
    assert loaded["b"].fallback == ("default",)  # every host has this alias
    assert loaded["c"].fallback == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            models(critic="[coder, critc]", coder="[]"),
            ["2:47: error: models.critic.fallback[1]: no model 'critc'. Did you mean 'critic'?"],
        ),
        (
            models(a="[gpt]"),
            ["2:35: error: models.a.fallback[0]: no model 'gpt'. Aliases: a, default."],
        ),
        (
            models(a="[b, a]", b="[]"),
            [
                "2:38: error: models.a.fallback[1]: 'a' cannot be its own fallback. Leave it out.",
            ],
        ),
        (
            models(a="[b]", b="[c]", c="[b]"),
            [
                "3:34: error: models.b.fallback: circular fallbacks: b -> c -> b."
                " Leave one of them out."
            ],
        ),
        (
            models(a="[b, b]", b="[]"),
            ["2:38: error: models.a.fallback[1]: 'b' occurs twice. Keep one."],
        ),
        (
            models(a="b", b="[]"),
            ["2:34: error: models.a.fallback: 'b' is not a list. Write a list: [\"b\"]."],
        ),
        (
            "models:\n  a: {model: m, fallback: [3, b], timeout: 0}\n  b:\n",
            [
                "2:28: error: models.a.fallback[0]: 3 is not text. Write it in quotes, or text, for"
                ' instance "default".',
                "2:44: error: models.a.timeout: 0 is out of range (seconds, above 0 to 86400)."
                " Write a number in it, for instance 300.",
                "3:5: error: models.b: null is not a mapping. Write a mapping with model.",
            ],
        ),
    ],
)
def test_senseless_fallbacks_are_told_by_place(file: Path, text: str, expected: list[str]) -> None:
    assert refused(file, text) == expected


def test_a_file_that_cannot_be_read_tells_only_that(file: Path) -> None:
    (problem,) = refused(file, "models: {a: {fallback: [a]}\n")
    assert "fallback" not in problem.partition("error:")[2]
