"""Working copies: the same on every machine, at one commit, and without its history."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from coterie.benchmarks.repair.working_copies import commit_all, working_copy
from coterie.schema.values.errors import InputError

from ...repairs import git


def write(folder: Path) -> None:
    (folder / "a.txt").write_text("a\n", encoding="utf-8")
    (folder / "ignored.txt").write_text("in the release\n", encoding="utf-8")
    (folder / ".gitignore").write_text("ignored.txt\n", encoding="utf-8")


def test_equal_files_are_one_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commits: set[str] = set()
    for name, author in (("one", "ann"), ("two", "ben")):
        monkeypatch.setenv("GIT_AUTHOR_NAME", author)
        (tmp_path / name).mkdir()
        write(tmp_path / name)
        commits.add(commit_all(tmp_path / name, "a message"))
    assert len(commits) == 1
    assert git(tmp_path / "one", "ls-files").split() == [".gitignore", "a.txt", "ignored.txt"]
    assert git(tmp_path / "one", "status", "--porcelain") == ""


def test_a_working_copy_is_made_once_and_must_stay_as_it_is(tmp_path: Path) -> None:
    folder, texts = tmp_path / "below" / "here", list[str]()

    def make(new: Path) -> None:
        write(new)
        texts.append(commit_all(new, "a"))

    (tmp_path / "first").mkdir()
    make(tmp_path / "first")
    with ThreadPoolExecutor(4) as threads:  # several processes at once do no worse
        assert set(threads.map(lambda _: working_copy(folder, texts[0], make), range(4))) == {
            folder
        }
    count = len(texts)
    assert working_copy(folder, texts[0], make) == folder
    assert len(texts) == count
    assert [path.name for path in folder.parent.iterdir()] == ["here"]
    (folder / "a.txt").write_text("changed\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"was changed: M a\.txt\. Remove the folder"):
        working_copy(folder, texts[0], make)
    git(folder, "checkout", "--quiet", ".")
    with pytest.raises(InputError, match="is at commit"):
        working_copy(folder, "1" * 40, make)


def test_a_folder_that_cannot_be_made_leaves_nothing(tmp_path: Path) -> None:
    def fail(_: Path) -> None:
        raise InputError("no")

    with pytest.raises(InputError, match="no"):
        working_copy(tmp_path / "x", "1" * 40, fail)
    assert list(tmp_path.iterdir()) == []
