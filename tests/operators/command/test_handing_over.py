"""A team is handed over to a new file, or in place, as one commit of one file."""

import os
from pathlib import Path

import pytest

from coterie.operators.command.handing_over import commit_in_place, refuse_unclean, write_new
from coterie.runtime.repository import repository as repositories
from coterie.runtime.repository.repository import Repository
from coterie.schema import AgentError, InputError, load_team

from ...support.repositories import Repo

TEXT = """\
# The desk.
name: desk
agents:
  clerk:
    prompt: |
      Answer the customer.
      Write dates as they come.
"""
NEW = TEXT.replace("as they come", "as ISO dates")
MESSAGE = "desk: dates are ISO (+0.48 on 60 tasks)\n\nWhy: they were not."


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "house")
    (repo.folder / "teams").mkdir()
    (repo.folder / "teams/desk.yaml").write_text(TEXT)
    (repo.folder / "README.md").write_text("Ours.\n")
    repo.commit("first")
    return repo


def test_the_commit_is_of_one_file_and_one_line_and_done_twice_it_is_done_once(repo: Repo) -> None:
    path = repo.folder / "teams/desk.yaml"
    (repo.folder / "notes.txt").write_text("Untracked.\n")
    refuse_unclean(path)
    commit_in_place(path, NEW, MESSAGE)
    assert path.read_text() == NEW
    assert repo.git("show", "--stat", "--format=%B", "HEAD").startswith(
        f"{MESSAGE}\n\n\n teams/desk.yaml | 2 +-\n 1 file changed"
    )
    diff = repo.git("show", "--format=", "--unified=0", "HEAD").splitlines()
    assert diff[-2:] == ["-      Write dates as they come.", "+      Write dates as ISO dates."]
    assert repo.git("status", "--porcelain") == "?? notes.txt\n"
    commit_in_place(path, NEW, MESSAGE)
    assert repo.git("rev-list", "--count", "HEAD").strip() == "2"


def test_what_was_killed_between_writing_and_committing_is_ended(repo: Repo) -> None:
    path = repo.folder / "teams/desk.yaml"
    path.write_text(NEW)
    commit_in_place(path, NEW, MESSAGE)
    assert repo.git("log", "--format=%s") == f"{MESSAGE.splitlines()[0]}\nfirst\n"
    assert repo.git("status", "--porcelain") == ""


def test_a_held_index_leaves_all_as_it_was_and_the_same_call_completes_later(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, lock = repo.folder / "teams/desk.yaml", repo.folder / ".git/index.lock"
    monkeypatch.setattr(repositories, "LOCK_SECONDS", 0)
    lock.touch()
    with pytest.raises(AgentError, match=r"index\.lock: another process of git"):
        commit_in_place(path, NEW, MESSAGE)
    assert path.read_text() == TEXT
    assert repo.git("log", "--format=%s") == "first\n"
    lock.unlink()
    assert repo.git("status", "--porcelain") == ""
    commit_in_place(path, NEW, MESSAGE)
    assert repo.git("log", "--format=%s") == f"{MESSAGE.splitlines()[0]}\nfirst\n"
    assert repo.git("status", "--porcelain") == ""


def test_an_index_that_is_soon_free_is_waited_for(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = repo.folder / ".git/index.lock"
    monkeypatch.setattr(repositories, "LOCK_SECONDS", float("inf"))
    monkeypatch.setattr(repositories, "sleep", lambda _: lock.unlink())
    lock.touch()
    commit_in_place(repo.folder / "teams/desk.yaml", NEW, MESSAGE)
    assert repo.git("show", "--name-only", "--format=", "HEAD") == "teams/desk.yaml\n"
    assert repo.git("status", "--porcelain") == ""


def test_other_changes_are_refused_ahead_but_those_of_the_pool(repo: Repo) -> None:
    path = repo.folder / "teams/desk.yaml"
    (repo.folder / "README.md").write_text("Yours.\n")
    with pytest.raises(InputError, match=r"there are uncommitted changes: README\.md\. Commit"):
        refuse_unclean(path)
    assert path.read_text() == TEXT
    refuse_unclean(path, besides=[repo.folder / "README.md"])
    repo.git("add", "README.md")
    commit_in_place(path, NEW, MESSAGE)
    assert repo.git("show", "--name-only", "--format=", "HEAD") == "teams/desk.yaml\n"
    assert repo.git("status", "--porcelain") == "M  README.md\n"


@pytest.mark.parametrize("is_staged", [False, True])
def test_a_file_changed_meanwhile_is_not_overwritten(repo: Repo, *, is_staged: bool) -> None:
    path = repo.folder / "teams/desk.yaml"
    path.write_text("name: mine\n")
    if is_staged:
        repo.git("add", "-A")
        path.write_text(TEXT)
    there = path.read_text()
    for attempt in (lambda: refuse_unclean(path), lambda: commit_in_place(path, NEW, MESSAGE)):
        with pytest.raises((InputError, AgentError), match="uncommitted"):
            attempt()
    assert path.read_text() == there
    assert repo.git("rev-list", "--count", "HEAD").strip() == "1"


def test_a_file_that_no_commit_can_change_is_refused(repo: Repo, tmp_path: Path) -> None:
    untracked = repo.folder / "new.yaml"
    untracked.write_text(TEXT)
    with pytest.raises(InputError, match="git does not track"):
        refuse_unclean(untracked)
    with pytest.raises(InputError, match=r"is not a file\. Write the team to one: mas dev fmt"):
        refuse_unclean(repo.folder / "teams")
    outside = tmp_path / "team.yaml"
    outside.write_text(TEXT)
    with pytest.raises(InputError, match="is not in a git repository"):
        refuse_unclean(outside)
    with pytest.raises(AgentError, match="is no longer in a git repository"):
        commit_in_place(outside, NEW, MESSAGE)
    assert outside.read_text() == TEXT
    empty = Repo(tmp_path / "empty")
    (empty.folder / "team.yaml").write_text(TEXT)
    with pytest.raises(InputError, match="--in-place: git"):
        refuse_unclean(empty.folder / "team.yaml")


def test_a_link_leads_to_the_file_that_is_committed(repo: Repo, tmp_path: Path) -> None:
    link = tmp_path / "desk.yaml"
    link.symlink_to(repo.folder / "teams/desk.yaml")
    refuse_unclean(link)
    commit_in_place(link, NEW, MESSAGE)
    assert link.is_symlink()
    assert repo.git("show", "HEAD:teams/desk.yaml") == NEW


def test_files_that_differ_from_the_last_commit_are_named(repo: Repo) -> None:
    for name in ("gone", "staged", "taken back", "left out"):
        (repo.folder / name).write_text(name)
    repo.commit("more")
    repo.git("update-index", "--skip-worktree", "left out")
    for name in ("gone", "left out"):
        (repo.folder / name).unlink()
    for name in ("staged", "added"):
        (repo.folder / name).write_text("other")
    repo.git("add", "staged", "added")
    (repo.folder / "staged").write_text("staged")
    os.utime(repo.folder / "taken back", (0, 0))
    (repo.folder / "untracked").write_text("")
    with Repository.open(repo.folder) as repository:
        assert repository.uncommitted() == ["added", "gone", "staged"]


def test_a_new_file_takes_no_others_place(repo: Repo) -> None:
    team = load_team(repo.folder / "teams/desk.yaml")
    path = repo.folder / "better.yaml"
    for _ in range(2):
        write_new(path, team)
        assert load_team(path) == team
    with pytest.raises(InputError, match=r"is not overwritten\. Name another file"):
        write_new(repo.folder / "teams/desk.yaml", team)
    with pytest.raises(InputError, match="cannot be read"):
        write_new(repo.folder, team)
