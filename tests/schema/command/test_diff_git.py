"""`git diff` and its kin with `mas-diff` as their driver, set up as docs/pools.md says."""

import re
import shutil
from pathlib import Path

import pytest

from ...support.repositories import run_git

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "pools.md").read_text(encoding="utf-8")
SETTINGS = re.findall(r'^git config (diff\.team\.\w+) ["\'](.+)["\']$', PAGE, re.MULTILINE)
ATTRIBUTES = re.search(r'^echo "(.+)" > \.gitattributes$', PAGE, re.MULTILINE)

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


class Repository:
    """A repository with two teams, one commit, and the settings of the page."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "-q")
        assert len(SETTINGS) == 2
        assert ATTRIBUTES
        (folder / ".gitattributes").write_text(f"{ATTRIBUTES[1]}\n")
        for name, value in SETTINGS:
            self.git("config", name, value)
        (folder / "teams").mkdir()
        for name in ("debate_3", "majority_vote_3"):
            shutil.copy(ROOT / "seeds" / f"{name}.yaml", folder / "teams")
        self.git("add", ".")
        self.git("commit", "-qm", "Start")

    def git(self, *words: str) -> str:
        return run_git(self.folder, *words)

    def change(self, name: str, old: str, new: str) -> None:
        path = self.folder / "teams" / f"{name}.yaml"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def test_git_shows_words(repository: Repository) -> None:
    repository.change("majority_vote_3", "temperature: 0\n", "temperature: 0.5\n")
    repository.change("debate_3", "[debater_*_round_2]", "[debater_*_round_2, moderator]")
    assert repository.git("diff").splitlines() == [
        "teams/debate_3.yaml",
        "topology: +3 edges",
        "    + debater_1..3_round_1 -> moderator",
        "teams/majority_vote_3.yaml",
        "reader_1..3: temperature 0 -> 0.5",
    ]
    repository.git("commit", "-qam", "Warmer")
    shown = repository.git("log", "-1", "-p", "--ext-diff", "--format=%s").splitlines()
    assert shown[0] == "Warmer"
    assert shown[-1] == "reader_1..3: temperature 0 -> 0.5"


def test_git_diff_of_a_text_says_which_agent_a_line_is_of(repository: Repository) -> None:
    repository.change("majority_vote_3", "timeout: 60", "timeout: 90")
    text = repository.git("diff", "--no-ext-diff", "-U0")
    assert "+    timeout: 90" in text
    assert re.search(r"^@@ .* @@\s+reader_1:$", text, re.MULTILINE)


def test_git_shows_files_that_come_and_go(repository: Repository) -> None:
    repository.git("rm", "-q", "teams/debate_3.yaml")
    shutil.copy(ROOT / "seeds" / "single_agent.yaml", repository.folder / "teams")
    repository.git("add", "teams/single_agent.yaml")
    lines = repository.git("diff", "--cached").splitlines()
    assert lines[:2] == ["teams/debate_3.yaml", "a deleted file:"]
    assert "-name: debate_3" in lines
    new = lines.index("teams/single_agent.yaml")
    assert lines[new + 1] == "a new file:"
    assert "+name: single_agent" in lines[new:]


def test_git_shows_what_else_a_rename_changes(repository: Repository) -> None:
    repository.git("mv", "teams/majority_vote_3.yaml", "teams/vote.yaml")
    repository.change("vote", "name: majority_vote_3", "name: vote")
    repository.git("add", ".")
    assert repository.git("diff", "--cached", "-M").splitlines() == [
        "teams/majority_vote_3.yaml -> teams/vote.yaml",
        "team: name majority_vote_3 -> vote",
    ]


def test_git_shows_that_only_a_mode_differs(repository: Repository) -> None:
    (repository.folder / "teams" / "debate_3.yaml").chmod(0o755)
    assert repository.git("diff").splitlines() == [
        "teams/debate_3.yaml",
        "same text, different file mode",
    ]


def test_git_never_stops_at_a_file_that_is_no_team(repository: Repository) -> None:
    repository.change("majority_vote_3", "temperature: 0\n", "temperature: [\n")
    repository.change("debate_3", "timeout: 60", "timeout: 90")
    lines = repository.git("diff").splitlines()
    assert lines[0] == "teams/debate_3.yaml"
    broken = lines.index("teams/majority_vote_3.yaml")
    assert lines[broken + 1].startswith("the team is invalid, so this compares the texts: ")
    assert "+    temperature: [" in lines[broken:]


def test_git_shows_a_conflict(repository: Repository) -> None:
    repository.git("checkout", "-qb", "other")
    repository.change("majority_vote_3", "temperature: 0\n", "temperature: 0.9\n")
    repository.git("commit", "-qam", "Hot")
    repository.git("checkout", "-q", "-")
    repository.change("majority_vote_3", "temperature: 0\n", "temperature: 0.1\n")
    repository.git("commit", "-qam", "Cool")
    with pytest.raises(AssertionError):
        repository.git("merge", "-q", "other")
    assert "++<<<<<<< HEAD" in repository.git("diff").splitlines()
    staged = repository.git("diff", "--cached").splitlines()
    assert staged == ["teams/majority_vote_3.yaml: not merged"]
