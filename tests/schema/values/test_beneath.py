"""The one door to folders that others made: no path leads out, whatever links say meanwhile."""

import os
import shutil
import socket
from collections.abc import Callable
from itertools import product
from pathlib import Path
from random import Random

import pytest

from coterie.schema.values import beneath

SECRET = b"what nobody may read"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root with a file in a folder; beside it, a folder outside with a file of the same name."""
    for name, content in {"root/a/b/file": b"own", "outside/b/file": SECRET}.items():
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_bytes(content)
    (tmp_path / "outside/file").write_bytes(SECRET)
    return tmp_path / "root"


def read_linked(root: Path, path: str) -> bytes:
    with beneath.open_linked(root, path) as file:
        return file.read()


OUTSIDE = ("", "/", "..", "../outside/file", "/etc/passwd", "a//b", "a/../a", "./a", "a\0")
READERS: dict[str, Callable[[Path, str], bytes]] = {
    "read": lambda root, path: beneath.read(root, path, 100),
    "linked": read_linked,
}


def swap(folder: Path, outside: Path) -> None:
    """Put a link that leads outside in the place of a folder."""
    folder.rename(folder.with_name("was"))
    folder.symlink_to(outside)


@pytest.fixture
def before_step(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, Callable[[], None]], None]:
    """Have something done right before the nth time that a file or folder is opened."""

    def arrange(number: int, act: Callable[[], None]) -> None:
        count = 0
        really = os.open

        def hooked(*words: object, **options: object) -> int:
            nonlocal count
            count += 1
            if count == number:
                act()
            return really(*words, **options)  # type: ignore[arg-type]

        monkeypatch.setattr(os, "open", hooked)

    return arrange


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(("step", "part"), [*product(range(1, 14), ["a", "a/b"])])
def test_a_folder_that_becomes_a_link_meanwhile_leads_nowhere(
    reader: str,
    step: int,
    part: str,
    root: Path,
    before_step: Callable[[int, Callable[[], None]], None],
) -> None:
    before_step(step, lambda: swap(root / part, root.with_name("outside")))
    try:
        content = READERS[reader](root, "a/b/file")
    except OSError:
        content = b"own"
    assert content == b"own"


@pytest.mark.parametrize(("step", "part"), [*product(range(1, 8), ["a", "a/b"])])
def test_nothing_is_written_or_removed_through_a_link_that_comes_meanwhile(
    step: int, part: str, root: Path, before_step: Callable[[int, Callable[[], None]], None]
) -> None:
    outside = root.with_name("outside")
    before_step(step, lambda: swap(root / part, outside))
    try:
        beneath.write(root, "a/b/new/file", b"x")
        with beneath.parent_of(root, "a/b/file") as (folder, name):
            beneath.remove(folder, name)
    except OSError:
        pass
    there = {path.relative_to(outside).as_posix() for path in outside.rglob("*")}
    assert there == {"b", "b/file", "file"}
    assert (outside / "file").read_bytes() == (outside / "b/file").read_bytes() == SECRET


@pytest.mark.parametrize("path", OUTSIDE)
def test_a_path_of_nothing_inside_is_refused(path: str, root: Path) -> None:
    with pytest.raises(ValueError, match="is not the path of something inside the folder"):
        beneath.names_of(path)
    with pytest.raises((OSError, ValueError)):
        beneath.read(root, path, 100)


def test_a_file_is_read_as_far_as_its_limit(root: Path) -> None:
    assert beneath.read(root, "a/b/file", 3) == b"own"
    with pytest.raises(ValueError, match="has more than 2 bytes"):
        beneath.read(root, "a/b/file", 2)


def test_pipes_sockets_folders_are_no_files(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("socket")
        for name in ("pipe", "socket", "a"):
            with pytest.raises(OSError, match=r"not a regular file|No such device"):
                beneath.read(root, name, 100)
            with pytest.raises(OSError, match="it is not a file"):
                read_linked(root, name)
        kinds = {node.path: node.kind for node in beneath.walk(root)}
    assert kinds == {
        "a": "folder",
        "a/b": "folder",
        "a/b/file": "file",
        "pipe": "other",
        "socket": "other",
    }


def test_only_an_installers_hard_link_is_ours(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "hard").hardlink_to(root.with_name("outside") / "file")
    with pytest.raises(OSError, match="it is a hard link"):
        read_linked(root, "hard")
    monkeypatch.setattr("sysconfig.get_path", lambda _name: str(root.parent))
    assert read_linked(root, "hard") == SECRET


@pytest.mark.parametrize(
    ("links", "why"),
    [
        ({"x": "../outside/file"}, "leads out of its folder"),
        ({"x": "a/../../outside/file"}, "leads out of its folder"),
        ({"x": "y", "y": "/"}, "leads out of its folder"),
        ({"x": "x"}, "leads to itself"),
        ({"x": "y", "y": "x"}, "leads to itself"),
        ({"x": "a/none"}, "leads nowhere"),
        ({"x": "."}, "not a file"),
    ],
)
def test_a_link_to_no_file_inside_is_said_to(links: dict[str, str], why: str, root: Path) -> None:
    for name, target in links.items():
        (root / name).symlink_to(target)
    with pytest.raises(OSError, match=why):
        read_linked(root, "x")


@pytest.mark.parametrize("target", ["a/b/file", "./a/../a/b/file", "dir/file", "ROOT/a/b/file"])
def test_a_link_that_stays_inside_is_followed(target: str, root: Path) -> None:
    (root / "dir").symlink_to("a/b")
    (root / "x").symlink_to(target.replace("ROOT", str(root)))
    assert beneath.settled(root, "x") == "a/b/file"
    assert read_linked(root, "x") == b"own"
    assert beneath.names_in(root, "dir") == ["file"]
    assert beneath.names_in(root, "") == ["a", "dir", "x"]


def test_nothing_there_is_told_from_a_link(root: Path) -> None:
    for path in ("none", "a/none", "none/a"):
        with pytest.raises(FileNotFoundError):
            beneath.settled(root, path)
    with pytest.raises(NotADirectoryError):
        beneath.names_in(root, "a/b/file")


def planted(folder: Path, chance: Random) -> list[str]:
    """Fill a folder with files, folders and links at random; give all paths of three names."""
    names = ("a", "b", "c")
    paths = ["/".join(parts) for depth in (1, 2, 3) for parts in product(names, repeat=depth)]
    targets = [*names, "..", ".", "../..", "a/b", "../a", "b/../c", "../out", str(folder / "a"),
               str(folder.parent / "out"), "/", "none"]  # fmt: skip
    for path in paths:
        place = folder / path
        if not place.parent.is_dir() or place.parent.is_symlink() or os.path.lexists(place):
            continue
        match chance.choice(["folder", "folder", "file", "link", "link"]):
            case "folder":
                place.mkdir()
            case "file":
                place.write_bytes(b"own")
            case _:
                place.symlink_to(chance.choice(targets))
    return paths


def test_links_lead_where_the_kernel_says_or_nowhere(tmp_path: Path) -> None:
    chance, followed, refused = Random(0), 0, 0
    out = tmp_path / "out"
    out.mkdir()
    for name in ("a", "b", "c"):
        (out / name).write_bytes(SECRET)
    for number in range(60):
        folder = tmp_path / str(number)
        folder.mkdir()
        for path in planted(folder, chance):
            try:
                real = beneath.settled(folder, path)
            except OSError:
                refused += 1
                continue
            followed += real != path
            assert (folder / path).resolve(strict=True) == folder / real
            if (folder / path).is_file():
                assert read_linked(folder, path) == b"own"
        shutil.rmtree(folder)
    assert min(followed, refused) > 100


def test_what_is_copied_is_what_is_there_and_links_as_links(root: Path, tmp_path: Path) -> None:
    (root / "link").symlink_to("../outside")
    os.mkfifo(root / "pipe")
    beneath.copy_tree(root, tmp_path / "copy")
    copied = tmp_path / "copy"
    assert (copied / "link").readlink() == Path("../outside")
    assert (copied / "a/b/file").read_bytes() == b"own"
    assert not os.path.lexists(copied / "pipe")
    assert beneath.copy(root, "link/file", copied) is None
    assert beneath.copy(root, "none", copied) is None
    for name in ("link", "a/b/file"):
        with pytest.raises(FileExistsError):
            beneath.copy(root, name, copied)


def test_a_walk_ends_where_there_is_too_much(root: Path) -> None:
    with pytest.raises(OSError, match="there are more than 2 entries"):
        list(beneath.walk(root, most=2))
    assert [node.path for node in beneath.walk(root, without="b")] == ["a"]


def test_folders_are_made_and_removed_inside(root: Path) -> None:
    beneath.make_folder(root, "a/new/er")
    assert (root / "a/new/er").is_dir()
    (root / "out").symlink_to("../outside")
    with pytest.raises(OSError, match="Not a directory"):
        beneath.make_folder(root, "out/new")
    with beneath.open_folder(root) as folder:
        for name in ("a", "out", "none"):
            beneath.remove(folder, name)
        os.close(beneath.new_file(folder, "x"))
        with pytest.raises(FileExistsError):
            beneath.new_file(folder, "x")
    assert [path.name for path in root.iterdir()] == ["x"]
    assert (root.with_name("outside") / "file").read_bytes() == SECRET
