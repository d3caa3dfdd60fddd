"""What an unknown word may have meant: the nearest name, for little work."""

import difflib
import json
import random
import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.schema import ConfigError, load_models, load_team
from coterie.schema.command.validate import main as validate
from coterie.schema.values.hints import MOST_COMPARED, did_you_mean, listed, near
from coterie.schema.values.problems import MOST_PROBLEMS

from ...support.commands import ran, refused

WORDS = st.text(string.ascii_lowercase[:4] + "_1", min_size=1, max_size=12)


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count the pairs of characters that are compared exactly."""
    pairs: list[int] = []
    exactly = difflib.SequenceMatcher.get_matching_blocks

    def counted(matcher: Any) -> list[Any]:
        if matcher.matching_blocks is None:  # else they are known by now
            pairs.append(len(matcher.a) * len(matcher.b))
        return exactly(matcher)

    monkeypatch.setattr(difflib.SequenceMatcher, "get_matching_blocks", counted)
    return pairs


def ids(count: int, ending: str = "") -> list[str]:
    """Return long names that have nearly all letters in common."""
    chance = random.Random(1)
    return [
        "a" * 40 + "".join(chance.choice("abc") for _ in range(20 - len(ending))) + ending
        for _ in range(count)
    ]


@given(word=WORDS, names=st.lists(WORDS, max_size=40, unique=True))
def test_of_short_names_the_nearest_of_all_is_found(word: str, names: list[str]) -> None:
    assert near(word, names) == next(iter(difflib.get_close_matches(word, names, 1, 0.7)), None)


@given(word=st.text(max_size=200), names=st.lists(st.text(max_size=200), max_size=5))
def test_a_hint_names_a_name_that_there_is(word: str, names: list[str]) -> None:
    assert near(word, names) in {None, *names}
    assert did_you_mean(word, names).startswith((" Did you mean ", ""))


def test_of_many_long_names_few_are_compared_exactly(compared: list[int]) -> None:
    known = ids(256)
    assert near(f"{known[7]}x", known) == known[7]
    assert sum(compared) <= MOST_COMPARED


def test_a_word_of_thousands_of_letters_means_nothing(compared: list[int]) -> None:
    assert near("a" * 10_000, ["a" * 9_999]) is None
    assert compared == []


def test_many_names_are_named_by_a_few() -> None:
    assert listed(str(number) for number in range(10)) == "0, 1, 2, 3, 4, 5, 6, 7 and 2 more"


def team_of_wrong_names(path: Path) -> Path:
    """Write a team in which each agent reports to one that is not there."""
    agents = ids(256)
    fields = [f"  {agent}: {{role: R, prompt: 'Do this thing now.'}}" for agent in agents]
    edges = [f"    {agent}: [{to}]" for agent, to in zip(agents, ids(256, "z"), strict=True)]
    lines = ["name: many", "agents:", *fields, "topology:", "  reports_to:", *edges]
    path.write_text("\n".join(lines), "utf-8")
    return path


def test_a_team_of_wrong_names_takes_little_work(tmp_path: Path, compared: list[int]) -> None:
    with pytest.raises(ConfigError) as caught:
        load_team(team_of_wrong_names(tmp_path / "team.yaml"))
    assert len(caught.value.problems) == MOST_PROBLEMS
    assert "there are more problems" in caught.value.problems[-1].message
    assert sum(compared) <= MOST_PROBLEMS * MOST_COMPARED
    assert len(str(caught.value)) < 100_000


def test_models_of_wrong_names_take_little_work(tmp_path: Path, compared: list[int]) -> None:
    pairs = zip(ids(256), ids(256, "z"), strict=True)
    lines = [f"  {name}: {{model: openai/x, fallback: [{to}]}}" for name, to in pairs]
    path = tmp_path / "models.yaml"
    path.write_text("\n".join(["models:", *lines]), "utf-8")
    with pytest.raises(ConfigError) as caught:
        load_models(path)
    assert len(caught.value.problems) == MOST_PROBLEMS
    assert sum(compared) <= MOST_PROBLEMS * MOST_COMPARED


def test_of_the_problems_of_many_files_the_first_are_shown(tmp_path: Path) -> None:
    agents = (f"  a{number}: {{prompt: Do it., max_tokens: 0}}" for number in range(MOST_PROBLEMS))
    text = "\n".join(["name: many", "agents:", *agents, "more: 1"])
    files = [str(tmp_path / name) for name in ("one.yaml", "two.yaml")]
    for file in files:
        Path(file).write_text(text, "utf-8")
    err = refused(ran(validate, *files))
    assert len(err.splitlines()) == MOST_PROBLEMS + 1
    assert err.rstrip().endswith(f"… and {MOST_PROBLEMS} more problems.")
    report = json.loads(ran(validate, *files, "--format", "json").stdout)
    assert report[-1]["message"] == f"… and {MOST_PROBLEMS} more problems."
