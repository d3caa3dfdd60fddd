"""`seed:NAME` in the place of a team file."""

from pathlib import Path

import pytest

from coterie.schema.loading.seeds import seed_files

from ...support.commands import mas, refused

ONE = "seed:majority_vote_3"


@pytest.mark.parametrize(
    ("words", "says", "code"),
    [
        (("dev", "graph", ONE), "majority_vote_3 · 4 agents", 0),
        (("validate", ONE, "seed:debate_3"), "2 files: no problems.", 0),
        (("dev", "diff", ONE, ONE), "", 0),
        (("dev", "diff", ONE, "seed:debate_3", "--format", "json"), '"equal": false', 1),
        (("dev", "fmt", "--check", ONE), "", 0),
    ],
)
def test_a_command_that_reads_takes_a_seed(words: tuple[str, ...], says: str, code: int) -> None:
    done = mas(*words)
    assert (done.exit_code, done.stderr) == (code, "")
    assert says in done.stdout


def test_a_seed_is_copied_and_never_written(tmp_path: Path) -> None:
    before = seed_files()["direct"].read_bytes()
    err = refused(mas("dev", "fmt", "seed:direct"))
    assert "Write a copy: mas dev fmt seed:direct --to-file team.yaml" in err
    assert mas("dev", "fmt", "seed:direct", "--to-file", tmp_path / "t.yaml").exit_code == 0
    assert mas("dev", "diff", "seed:direct", tmp_path / "t.yaml").exit_code == 0
    assert seed_files()["direct"].read_bytes() == before


def test_what_explains_fields_says_who_tells_of_teams() -> None:
    assert "`mas dev graph seed:debate` draws it" in refused(mas("dev", "explain", "seed:debate"))


@pytest.mark.parametrize("command", ["dev graph", "validate", "dev fmt", "dev diff"])
def test_a_bare_name_is_told_by_each_command(command: str) -> None:
    err = refused(mas(*command.split(), *(["debate_3"] * (2 if command == "dev diff" else 1))))
    assert "no file 'debate_3'. Did you mean 'seed:debate_3'?" in err
