"""Scorers that are Python files of one's own: who grants one, and what is wrong with others."""

import json
from pathlib import Path

import pytest

from coterie.schema import Catalogue, ConfigError, InputError, Task, load_task, load_tools
from coterie.schema.command.validate import main as validate
from coterie.schema.loading.scorers import granting_scorer

from ...support.commands import invoked_in

GRADING = "def polite(answer):\n    return 'please' in answer\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "grading.py").write_text(f"open('ran', 'w').close()\n{GRADING}")
    return tmp_path


def task(scorer: object, catalogue: Catalogue) -> Task:
    Path("task.json").write_text(json.dumps({"id": "t", "query": "q", "scorer": scorer}))
    return load_task("task.json", catalogue)


def granted() -> Catalogue:
    return granting_scorer(Catalogue.of_host(), "grading.py:polite")


@pytest.mark.parametrize("scorer", ["polite", {"python": "grading.py:polite", "strict": 1}])
def test_a_granted_function_scores_tasks_that_name_it(folder: Path, scorer: object) -> None:
    asked = task(scorer, granted())
    assert (asked.scorer.name, asked.is_scored) == ("polite", True)
    (folder / "tools.yaml").write_text("scorers: [grading.py:polite]\n")
    known = Catalogue.of_host(host_tools=load_tools("tools.yaml"))
    assert task(scorer, known).scorer == asked.scorer


def test_a_task_file_runs_no_python_by_itself(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"'grading\.py:polite' runs only if you allow it"):
        task({"python": "grading.py:polite"}, Catalogue.of_host())
    assert not (folder / "ran").exists()


def test_a_file_of_the_same_name_elsewhere_is_not_granted(folder: Path) -> None:
    with pytest.raises(ConfigError, match="runs only if you allow it"):
        task({"python": "elsewhere/grading.py:polite"}, granted())


def test_another_text_of_the_file_is_another_scorer(folder: Path) -> None:
    first = task("polite", granted()).scorer
    (folder / "grading.py").write_text(f"{GRADING}# stricter\n")
    assert task("polite", granted()).scorer.identity != first.identity


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def polite(reply): ...", "has the argument 'reply'. A scorer takes answer, reference, "),
        ("def polite(): ...", "the function has no arguments"),
        ("def other(answer): ...", r"grading.py has no function 'polite'"),
        ("1 / 0", r"grading\.py cannot be imported: ZeroDivisionError.*grading\.py:1\)"),
    ],
)
def test_what_cannot_be_a_scorer_is_named(folder: Path, text: str, message: str) -> None:
    (folder / "grading.py").write_text(text)
    with pytest.raises(InputError, match=message):
        granted()
    (folder / "tools.yaml").write_text("scorers: grading.py:polite\n")
    with pytest.raises(ConfigError, match=rf"tools\.yaml:1:10: error: scorers: .*{message}"):
        load_tools("tools.yaml")


def test_an_installed_name_stays_that_of_the_installed_scorer(folder: Path) -> None:
    (folder / "grading.py").write_text("def exact(answer): ...")
    with pytest.raises(InputError, match="a scorer 'exact' already exists"):
        granting_scorer(Catalogue.of_host(), "grading.py:exact")


def test_scorers_of_benchmarks_are_proposed_to_nobody(folder: Path) -> None:
    words = ["recipe.yaml", "mine.csv", "--scorer", "grading.py:polite"]
    (folder / "recipe.yaml").write_text("strategy: evomas\nscorer: {python: grading.py:polite}\n")
    (folder / "mine.csv").write_text("query,scorer\nq,polite\n")
    assert invoked_in(folder, validate, words, "mas-validate").code == 0
    alone = invoked_in(folder, validate, words[:2], "mas-validate")
    known = "Known: choice, contains, exact, json, number, ranked, regex; or yours, with --scorer"
    assert (alone.code, f"no scorer 'polite'. {known}" in alone.err) == (2, True)
    assert "recipe.yaml:2:18: error: scorer.python: " in alone.err
