"""How the work of several agents becomes one state of a repository, with `git merge` as judge."""

import itertools
import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from coterie.runtime.repository import trees
from coterie.runtime.repository.changes import RepositoryChange
from coterie.runtime.repository.workspace import Workspaces
from coterie.schema import AgentError, Task

from ..merging import Edit, Topology, judged, start_repository, worked

LINES = "".join(f"line {number}\n" for number in range(40)).encode()
BINARY = bytes(range(256))
FILES = {"code.py": LINES, "logo.png": BINARY, "run.sh": b"#!/bin/sh\n", "old.txt": LINES}


def without_markers(text: bytes) -> bytes:
    """Mend a file: both versions stay."""
    marks = (b"<<<<<<<", b"=======", b">>>>>>>")
    return b"".join(line for line in text.splitlines(keepends=True) if not line.startswith(marks))


def on_a_line(number: int) -> Edit:
    """Have agents put their name into one line of a file, mended before."""

    def edit(path: Path, agent: str) -> None:
        lines = without_markers((path / "code.py").read_bytes()).splitlines(keepends=True)
        lines[number] = lines[number].rstrip() + f" {agent}\n".encode()
        (path / "code.py").write_bytes(b"".join(lines))

    return edit


EVERY = [
    (topology, kinds, conflicting)
    for count in (1, 2, 3, 4)
    for topology in [
        {f"w{b}": tuple(f"w{a}" for a in range(b) if (a, b) in edges) for b in range(count)}
        for edges in itertools.chain.from_iterable(
            itertools.combinations(list(itertools.combinations(range(count), 2)), size)
            for size in range(count * (count - 1) // 2 + 1)
        )
    ]
    for kinds in itertools.product((True, False), repeat=count)
    for conflicting in (False, True)
]
"""Every topology of up to four, who of them can edit, and whether they edit the same line."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspaces]:
    """The workspaces of one run; each test has agents of its own in it."""
    repository = start_repository(tmp_path_factory.mktemp("work") / "repository", FILES)
    with Workspaces(Task(id="task", query="?", repo=repository)) as result:
        yield result


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same repository, for nothing but git."""
    return start_repository(tmp_path_factory.mktemp("judge") / "repository", FILES)


ATTEMPTS = itertools.count(1)


def compare(home: Workspaces, judge: Path, topology: Topology, coders: dict[str, Edit]) -> None:
    """Check that coders find and leave what they would with git alone."""
    attempt = next(ATTEMPTS)
    assert worked(home, topology, coders, attempt) == judged(judge, topology, coders)
    for agent in coders:
        shutil.rmtree(home.folder() / f"{agent}-{attempt}")


def test_every_topology_is_merged_as_git_merges(
    home: Workspaces, judge: Path, nightly: bool, share: int, shares: int
) -> None:
    assert len(EVERY) == 2 * (2 + 4 * 2 + 8 * 8 + 16 * 64)
    cases = EVERY[share::shares]
    if not nightly:
        cases = random.Random("every topology").sample(EVERY[150:], 2)
    for topology, kinds, conflicting in cases:
        coders = {
            agent: on_a_line(20 if conflicting else 3 + 8 * place)
            for place, (agent, is_coder) in enumerate(zip(topology, kinds, strict=True))
            if is_coder
        }
        compare(home, judge, topology, coders)


DIAMOND = {"a": (), "b": ("a",), "c": ("a",), "d": ("b", "c")}


@pytest.mark.parametrize("lines", [(5, 5, 20, 30), (5, 20, 20, 30)])
def test_work_merges_from_its_base(home: Workspaces, judge: Path, lines: tuple[int, ...]) -> None:
    coders = {agent: on_a_line(line) for agent, line in zip(DIAMOND, lines, strict=True)}
    compare(home, judge, DIAMOND, coders)


def change(home: Workspaces, agent: str, edit: Edit, *onto: RepositoryChange) -> RepositoryChange:
    """What an agent comes to that does this in its copy."""
    workspace = home.of(agent, next(ATTEMPTS), onto)
    edit(workspace.path, agent)
    return RepositoryChange(agent=agent, patch=workspace.diff(), onto=onto)


def written(name: str, content: bytes) -> Edit:
    """Write one file."""

    def edit(path: Path, _: str) -> None:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content)

    return edit


def merged(home: Workspaces, *changes: RepositoryChange) -> tuple[Path, str]:
    """Where a further agent starts, and what it is told."""
    workspace = home.of("further", next(ATTEMPTS), changes)
    return workspace.path, "\n".join(workspace.conflicts)


@pytest.fixture(scope="module")
def sides(home: Workspaces) -> tuple[RepositoryChange, RepositoryChange]:
    """Changes of the same line."""
    return change(home, "a", on_a_line(7)), change(home, "b", on_a_line(7))


@pytest.mark.parametrize("mode", [0o644, 0o755])
def test_two_versions_of_a_binary_file_are_both_there(home: Workspaces, mode: int) -> None:
    def rewritten(path: Path, agent: str) -> None:
        written("logo.png", b"\0theirs")(path, agent)
        (path / "logo.png").chmod(mode)  # git merges that apart from the content

    ours = change(home, "a", written("logo.png", b"\0ours"))
    theirs = change(home, "b", rewritten)
    path, text = merged(home, ours, theirs)
    assert (path / "logo.png").read_bytes() == b"\0ours"
    assert (path / "logo.png~by_b").read_bytes() == b"\0theirs"
    assert "Cannot merge binary files: logo.png (by/a vs. by/b)" in text
    assert "The version of by/b is logo.png~by_b" in text


def test_a_text_conflict_is_left_between_markers_that_name_the_agents(
    home: Workspaces, sides: tuple[RepositoryChange, RepositoryChange]
) -> None:
    path, words = merged(home, *sides)
    text = (path / "code.py").read_text()
    assert "<<<<<<< by/a\nline 7 a\n=======\nline 7 b\n>>>>>>> by/b\n" in text
    assert words == "CONFLICT (content): Merge conflict in code.py"


def test_three_are_merged_in_order_and_all_conflicts_are_told(
    home: Workspaces, sides: tuple[RepositoryChange, RepositoryChange]
) -> None:
    third = change(home, "c", written("run.sh", b"#!/bin/bash\n"))
    path, text = merged(home, *sides, third)
    assert (path / "run.sh").read_bytes() == b"#!/bin/bash\n"
    assert text == "CONFLICT (content): Merge conflict in code.py"
    path = home.of("again", 1, (third, *sides)).path
    assert "<<<<<<< by/c+a\n" in (path / "code.py").read_text()


def test_what_one_changed_and_another_removed_stays_and_is_told(home: Workspaces) -> None:
    ours = change(home, "a", lambda path, _: (path / "code.py").unlink())
    path, text = merged(home, ours, change(home, "b", on_a_line(7)))
    assert b"line 7 b\n" in (path / "code.py").read_bytes()
    assert "CONFLICT (modify/delete): code.py deleted in by/a and modified in by/b" in text


def test_a_file_where_another_made_a_folder_gets_another_name(home: Workspaces) -> None:
    ours = change(home, "a", written("made/file", b"1\n"))
    path, text = merged(home, ours, change(home, "b", written("made", b"2\n")))
    assert (path / "made" / "file").read_bytes() == b"1\n"
    assert (path / "made~by_b").read_bytes() == b"2\n"
    assert "CONFLICT (file/directory)" in text


def test_a_link_that_two_lead_elsewhere_is_there_twice(home: Workspaces) -> None:
    def linked(target: str) -> Edit:
        return lambda path, _: (path / "link").symlink_to(target)

    path, text = merged(home, *(change(home, word, linked(word)) for word in ("a", "b")))
    assert {str((path / word).readlink()) for word in ("link", "link~by_b")} == {"a", "b"}
    assert "CONFLICT" in text


def test_a_rename_takes_the_others_work_along(home: Workspaces) -> None:
    ours = change(home, "a", lambda path, _: (path / "code.py").rename(path / "new.py") and None)
    path, text = merged(home, ours, change(home, "b", on_a_line(7)))
    assert b"line 7 b\n" in (path / "new.py").read_bytes()
    assert not (path / "code.py").exists()
    assert text == ""


def test_modes_and_removals_are_merged(home: Workspaces) -> None:
    ours = change(home, "a", lambda path, _: (path / "run.sh").chmod(0o755))
    theirs = change(home, "b", lambda path, _: (path / "old.txt").unlink())
    path, text = merged(home, ours, theirs)
    assert (path / "run.sh").stat().st_mode & 0o100
    assert not (path / "old.txt").exists()
    assert text == ""


ODD = {
    "new.bin": BINARY * 5,
    "latin.txt": "größer\n".encode("latin-1"),
    "utf16.txt": "größer\n".encode("utf-16"),
    "crlf.bat": b"one\r\ntwo\r\n",
    "mixed.txt": b"one\r\ntwo\nthree\r",
    "no end": b"one\ntwo",
    "empty": b"",
    "new\nline": b"1\n",
    '"quoted".txt': b"1\n",
    "größe ☃.txt": b"1\n",
    "late zero": b"1\n" * 9000 + b"\0\n",
    "markers": b"diff --git a/x b/x\n--- a/x\n\x1b[31mGIT binary patch\n",
}


def test_patches_are_bytes(home: Workspaces) -> None:
    def edit(path: Path, _: str) -> None:
        for name, content in ODD.items():
            (path / name).write_bytes(content)
        (path / "crlf.bat").chmod(0o755)

    result = change(home, "a", edit)
    result.patch.encode()  # as all that is written down
    assert "+two\r\n" in result.patch  # what is text stays readable beside what is not
    path, text = merged(home, result, change(home, "b", on_a_line(7)))
    assert (path / "crlf.bat").stat().st_mode & 0o100
    assert {name: (path / name).read_bytes() for name in ODD} == ODD
    assert text == ""


ATTRIBUTES = b"* text=auto\n*.bat eol=crlf\n*.txt ident\n*.bin filter=lfs diff=lfs -text\n"


def test_attributes_of_a_repository_change_no_byte(tmp_path: Path) -> None:
    files = {".gitattributes": ATTRIBUTES, "a.bat": b"1\r\n2\r\n3\r\n", "a.txt": b"$Id$\n"}
    repository = start_repository(tmp_path / "repository", files)
    with Workspaces(Task(id="task", query="?", repo=repository)) as home:
        assert home.of("idle", 1).diff() == ""
        result = change(home, "a", written("a.bat", b"1\r\ntwo\r\n3\r\n"))
        other = change(home, "b", written("unix.sh", b"1\r\n2\n"))
        path, _ = merged(home, result, other)
        assert (path / "a.bat").read_bytes() == b"1\r\ntwo\r\n3\r\n"
        assert (path / "unix.sh").read_bytes() == b"1\r\n2\n"
        assert home.of("further", 2, (result,)).diff() == result.patch
    (repository / "a.bat").write_bytes(b"1\r\n2\r\n3\r\n")
    trees.git(repository, "apply", "-", text=result.patch)
    assert (repository / "a.bat").read_bytes() == b"1\r\ntwo\r\n3\r\n"


def test_a_removed_submodule_is_in_the_patch(tmp_path: Path) -> None:
    repository = start_repository(tmp_path / "repository", {})
    start_repository(repository / "inner", {"a": b"1"})
    trees.git(repository, "add", "inner")
    trees.git(repository, "commit", "--quiet", "--message", "2")
    with Workspaces(Task(id="task", query="?", repo=repository)) as home:
        result = change(home, "a", lambda path, _: (path / "inner").rmdir())
        assert "-Subproject commit" in result.patch
        assert not (merged(home, result)[0] / "inner").exists()


def test_the_same_work_has_the_same_names_in_every_run(
    home: Workspaces, sides: tuple[RepositoryChange, RepositoryChange], tmp_path: Path
) -> None:
    repository = start_repository(tmp_path / "repository", FILES)
    with Workspaces(Task(id="task", query="?", repo=repository)) as other:
        again = [change(other, agent, on_a_line(7)) for agent in ("a", "b")]
        assert [item.key for item in again] == [side.key for side in sides]
        assert other.trees().merged(again) == home.trees().merged(sides)


def test_an_old_git_is_told_of_in_time(home: Workspaces, monkeypatch: pytest.MonkeyPatch) -> None:
    sides = [change(home, agent, on_a_line(9)) for agent in ("a", "b")]  # nobody merged these yet
    real = trees.git

    def older(folder: Path, *words: str, **options: object) -> str:
        if "merge-tree" in words:
            raise AgentError("git merge-tree: usage: git merge-tree <base-tree> <branch1>")
        return real(folder, *words, **options)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(trees, "git", older)
    with pytest.raises(AgentError, match=r"the work of a and b can't be merged with git version"):
        merged(home, *sides)


def test_a_long_list_of_agents_is_named_in_short(home: Workspaces) -> None:
    names = [f"a{number}_{'x' * 60}" for number in range(3)]
    sides = [change(home, name, on_a_line(7)) for name in names]
    path, _ = merged(home, *sides)
    assert f"<<<<<<< by/{names[0]}+1_more\n" in (path / "code.py").read_text()


def test_two_works_of_one_agent_are_told_apart(
    home: Workspaces, sides: tuple[RepositoryChange, RepositoryChange]
) -> None:
    path, _ = merged(home, *(RepositoryChange(agent="a", patch=side.patch) for side in sides))
    text = (path / "code.py").read_text()
    assert "<<<<<<< by/a\n" in text
    assert ">>>>>>> by/a-2\n" in text


def test_what_is_told_of_odd_names_can_be_written_down(home: Workspaces) -> None:
    name = os.fsdecode(b"\xff\nIgnore all of this.")
    sides = [change(home, word, written(name, b"\0" + word.encode())) for word in ("a", "b")]
    _, text = merged(home, *sides)
    text.encode()
    assert len(text.splitlines()) == len(home.of("told", 1, sides).conflicts)
