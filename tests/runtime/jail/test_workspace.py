"""How the host handles a folder in which a jail has written."""

import os
import stat
from pathlib import Path

import pytest

from coterie.runtime.jail.workspace import (
    break_hard_links,
    disarm,
    make_plain,
    measure,
    read_file,
    remove,
)
from coterie.schema import JailError


def deep(folder: Path, levels: int) -> None:
    """Make folders in folders, deeper than a recursive function gets."""
    handle = os.open(folder, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("i", dir_fd=handle)
        inner = os.open("i", os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = inner
    os.close(handle)


def test_a_file_is_read_up_to_a_limit(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_bytes(b"12345")
    assert read_file(tmp_path, "folder/file", limit=5) == b"12345"
    with pytest.raises(JailError, match="5 bytes, more than the 4"):
        read_file(tmp_path, "folder/file", limit=4)


LINKS = ("link", "folder/secret", "pipe", "socket", "missing", "../secret", "folder/../secret")
NO_NAMES = ("", ".", "a\0b", "\ud800", "x" * 5000, "work/" * 2000)


@pytest.mark.parametrize("name", LINKS + NO_NAMES)
def test_no_name_leads_out_of_the_folder_or_waits(tmp_path: Path, name: str) -> None:
    work, outside = tmp_path / "work", tmp_path / "outside"
    work.mkdir()
    outside.mkdir()
    (tmp_path / "secret").write_text("secret")
    (outside / "secret").write_text("secret")
    (work / "link").symlink_to(tmp_path / "secret")
    (work / "folder").symlink_to(outside)
    os.mkfifo(work / "pipe")
    os.mknod(work / "socket", stat.S_IFSOCK)
    with pytest.raises(JailError):
        read_file(work, name, limit=100)


def test_a_file_with_a_hole_is_read_no_further_than_the_limit(tmp_path: Path) -> None:
    with (tmp_path / "hole").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(JailError, match="1099511627776 bytes, more than the 100"):
        read_file(tmp_path, "hole", limit=100)


def test_programs_lose_their_owners_rights_and_the_owner_gets_in(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed" / "program").touch()
    (tmp_path / "closed" / "program").chmod(0o6111)
    (tmp_path / "plain").touch(0o640)
    (tmp_path / "link").symlink_to("/nowhere")
    (tmp_path / "closed").chmod(0o000)
    disarm(tmp_path)
    assert (tmp_path / "closed").stat().st_mode & 0o7777 == 0o500
    assert (tmp_path / "closed" / "program").stat().st_mode & 0o7777 == 0o511
    assert (tmp_path / "plain").stat().st_mode & 0o7777 == 0o640
    remove(tmp_path)
    assert not tmp_path.exists()


def test_pipes_sockets_and_inner_repositories_go_and_the_rest_stays(tmp_path: Path) -> None:
    for folder in (".git", "one/.git/hooks", "one/two/three/.git", "one/.github"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "one" / "two" / ".git").write_text("gitdir: /")
    (tmp_path / "one" / "link").symlink_to("/")
    os.mkfifo(tmp_path / "one" / "pipe")
    os.mknod(tmp_path / "socket", stat.S_IFSOCK)
    make_plain(tmp_path)
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")}
    assert left == {".git", "one", "one/two", "one/two/three", "one/.github", "one/link"}


def test_an_absolute_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(JailError, match="not the path of a file inside"):
        read_file(tmp_path, str(tmp_path / "file"), limit=100)


def test_a_file_that_is_linked_from_outside_gets_a_copy_of_its_own(tmp_path: Path) -> None:
    work, original = tmp_path / "work", tmp_path / "original"
    work.mkdir()
    original.write_text("theirs")
    original.chmod(0o640)
    for name in ("one", "two"):
        (work / name).hardlink_to(original)
    break_hard_links(work)
    (work / "one").write_text("ours")
    assert original.read_text() == "theirs"
    assert (work / "two").read_text() == "ours"  # still two names of one file
    assert (work / "one").stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in work.iterdir()) == ["one", "two"]


def test_links_within_the_folder_are_not_multiplied(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("x")
    (tmp_path / "two").hardlink_to(tmp_path / "one")
    break_hard_links(tmp_path)
    assert (tmp_path / "one").samefile(tmp_path / "two")


def test_the_size_counts_blocks_once_and_follows_no_link(tmp_path: Path) -> None:
    work = tmp_path / "work"
    (work / "folder").mkdir(parents=True)
    (tmp_path / "large").write_bytes(bytes(1 << 20))
    (work / "folder" / "file").write_bytes(bytes(100_000))
    (work / "again").hardlink_to(work / "folder" / "file")
    (work / "link").symlink_to(tmp_path)
    (work / "empty").touch()
    size = measure(work)
    assert size.whole
    assert 100_000 <= size.bytes < 150_000


def test_a_tree_that_is_too_deep_is_noticed_and_can_be_removed(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    deep(work, 2200)
    assert not measure(work).whole
    with pytest.raises(JailError, match="can't be made ready"):
        break_hard_links(work)
    remove(work)
    assert not work.exists()
