"""Folders that travel: a copy becomes the same, and nothing outside of it is touched."""

import contextlib
import os
import shutil
import socket
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime.jail.tree import (
    DEEPEST,
    SMALLEST,
    TreeChange,
    TreeEntry,
    change,
    entries,
    read_content,
    rebuild,
    scan,
    stamped,
)
from coterie.schema.values.errors import JailError

NAMES = st.sampled_from(["a", "b", "ä", "new\nline", "-rf", os.fsdecode(b"\xff"), " "])
PATHS = st.lists(NAMES, min_size=1, max_size=3)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), PATHS, st.binary(max_size=8)),
        st.tuples(st.just("folder"), PATHS, st.none()),
        st.tuples(st.just("link"), PATHS, st.sampled_from(["a", "/etc/passwd", "../..", "b/c"])),
        st.tuples(st.just("same"), PATHS, PATHS),
        st.tuples(st.just("remove"), PATHS, st.none()),
        st.tuples(st.just("mode"), PATHS, st.sampled_from([0o600, 0o755, 0o644, 0o777, 0o4755])),
        st.tuples(st.just("time"), PATHS, st.integers(0, 2_000_000_000_000_000_000)),
        st.tuples(st.just("append"), PATHS, st.binary(min_size=1, max_size=3)),
    ),
    max_size=12,
)


def take(root: Path, step: tuple[str, list[str], Any]) -> None:
    """Do one thing in a folder, as far as it can be done there."""
    kind, parts, what = step
    path = root.joinpath(*parts)
    with contextlib.suppress(OSError):
        if any(place.is_symlink() for place in (path, *path.parents)) and kind != "remove":
            return
        if kind not in {"remove", "mode", "time", "append"}:
            path.parent.mkdir(parents=True, exist_ok=True)
        match kind:
            case "write":
                path.unlink(missing_ok=True)
                path.write_bytes(what)
            case "append":
                with path.open("r+b") as file:
                    file.seek(0, os.SEEK_END)
                    file.write(what)
            case "folder":
                path.mkdir()
            case "link":
                path.symlink_to(what)
            case "same":
                path.hardlink_to(root.joinpath(*what))
            case "remove":
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
            case "mode":
                path.chmod(what)
            case _:
                os.utime(path, ns=(what, what))


def bring(source: Path, copy: Path, before: Mapping[str, TreeEntry]) -> dict[str, TreeEntry]:
    """Make a copy of an earlier state what the folder is now, by what would travel."""
    now = entries(scan(source))
    result = change(before, now)
    contents = {name: read_content(source, name, 0, 1 << 20) for name in result.wanted}
    assert sum(map(len, contents.values())) == result.size
    rebuild(copy, result, lambda name, _: [contents[name][:3], contents[name][3:]])
    return now


@given(first=STEPS, later=STEPS)
def test_a_copy_becomes_the_same(
    first: list[tuple[str, list[str], Any]], later: list[tuple[str, list[str], Any]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source, copy = Path(folder, "source"), Path(folder, "copy")
        source.mkdir()
        copy.mkdir()
        before: dict[str, TreeEntry] = {}
        for steps in (first, later):
            for step in steps:
                take(source, step)
            before = bring(source, copy, before)
            assert entries(scan(copy)) == before
        assert bring(source, copy, before) == before
        assert change(before, before) == TreeChange()


@given(first=STEPS, later=STEPS)
def test_what_did_not_change_is_not_read_again_and_the_rest_is(
    first: list[tuple[str, list[str], Any]], later: list[tuple[str, list[str], Any]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for step in first:
            take(root, step)
        tree = entries(scan(root))
        start = stamped(root, tree)
        for step in later:
            take(root, step)
        assert entries(scan(root, before=start)) == entries(scan(root))


def test_only_what_changed_travels(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).write_text(name, "ascii")
    before = entries(scan(tmp_path))
    (tmp_path / "a").write_text("other", "ascii")
    (tmp_path / "b").chmod(0o755)
    result = change(before, entries(scan(tmp_path)))
    assert result.wanted == ["a"]
    assert (result.same_content, result.size, result.removed) == ({"b"}, 5, ())


def test_pipes_and_sockets_stay_behind(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as listening:
        listening.bind(str(tmp_path / "socket"))
        assert scan(tmp_path) == {}


def test_rights_beyond_the_owners_are_not_taken_along(tmp_path: Path) -> None:
    (tmp_path / "program").write_text("x", "ascii")
    (tmp_path / "program").chmod(0o6777)
    assert scan(tmp_path)["program"].entry.mode == 0o755
    entry = TreeEntry("file", mode=0o6777, value="", size=1)
    copy = tmp_path / "copy"
    copy.mkdir()
    rebuild(copy, TreeChange(created={"one": entry}), lambda *_: [b"x"])
    assert (copy / "one").stat().st_mode & 0o7777 == 0o755


@pytest.mark.parametrize("name", ["../out", "/out", "a/../../out", "", "a//b", "./a", "a\0b"])
@pytest.mark.parametrize("where", ["made", "removed", "same"])
def test_no_path_leads_out(tmp_path: Path, name: str, where: str) -> None:
    copy, out = tmp_path / "copy", tmp_path / "out"
    copy.mkdir()
    out.write_text("kept", "ascii")
    attempts = {
        "made": TreeChange(created={name: TreeEntry("file", mode=0o644, size=1)}),
        "removed": TreeChange(removed=(name,)),
        "same": TreeChange(created={"a": TreeEntry("same", value=name)}),
    }
    with pytest.raises(JailError):
        rebuild(copy, attempts[where], lambda *_: [b"x"])
    with pytest.raises(JailError):
        read_content(copy, name, 0, 10)
    assert out.read_text("ascii") == "kept"


def test_no_link_is_followed(tmp_path: Path) -> None:
    copy, out = tmp_path / "copy", tmp_path / "out"
    copy.mkdir()
    out.mkdir()
    (out / "file").write_text("kept", "ascii")
    (copy / "link").symlink_to(out)
    (copy / "file").symlink_to(out / "file")
    file = TreeEntry("file", mode=0o644, size=1)
    attempts: Iterable[TreeChange] = (
        TreeChange(created={"link/file": file}),
        TreeChange(created={"file": file}, same_content=frozenset({"file"})),
        TreeChange(removed=("link/file",)),
        TreeChange(created={"x": TreeEntry("same", value="link/file")}),
        TreeChange(created={"x": TreeEntry("device")}),
    )
    for attempt in attempts:
        with pytest.raises(JailError):
            rebuild(copy, attempt, lambda *_: [b"x"])
    for name in ("link/file", "file", "link"):
        with pytest.raises(JailError):
            read_content(copy, name, 0, 10)
    rebuild(copy, TreeChange(removed=("link",), created={"file": file}), lambda *_: [b"x"])
    assert (copy / "file").read_text("ascii") == "x"
    assert (out / "file").read_text("ascii") == "kept"


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(JailError, match="not a regular file"):
        read_content(tmp_path, "pipe", 0, 10)


def test_what_is_too_large_or_too_deep_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 40)  # it would take minutes to read
    with pytest.raises(JailError, match="more than 1000000 bytes"):
        scan(tmp_path, largest=1_000_000)
    (tmp_path / "sparse").unlink()
    for number in range(10):
        (tmp_path / str(number)).touch()
    scan(tmp_path, largest=10 * SMALLEST)
    with pytest.raises(JailError, match="bytes"):
        scan(tmp_path, largest=10 * SMALLEST - 1)
    deep = tmp_path
    for _ in range(DEEPEST + 1):
        deep /= "d"
        deep.mkdir()
    with pytest.raises(JailError, match=f"deeper than {DEEPEST} folders"):
        scan(tmp_path)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(JailError, match="can't be read"):
        scan(tmp_path / "none")
    with pytest.raises(JailError, match="can't be read"):
        stamped(tmp_path, {"none": TreeEntry("file")})
    with pytest.raises(JailError, match="can't be written"):
        rebuild(tmp_path / "none", TreeChange(removed=("x",)), lambda *_: [])


def test_what_goes_meanwhile_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("gone", "stays"):
        (tmp_path / name).write_text(name, "ascii")
    real = os.stat

    def stat(path: Any, **options: Any) -> os.stat_result:
        if path == "gone":
            raise FileNotFoundError(path)
        return real(path, **options)

    monkeypatch.setattr(os, "stat", stat)
    assert set(scan(tmp_path, live=True)) == {"stays"}
    with pytest.raises(JailError, match="can't be read"):
        scan(tmp_path)


def test_a_change_of_mode_alone_takes_no_content(tmp_path: Path) -> None:
    before = {"a": TreeEntry("file", mode=0o644, value="x", size=9)}
    after = {"a": replace(before["a"], mode=0o755)}
    assert change(before, after).wanted == []
