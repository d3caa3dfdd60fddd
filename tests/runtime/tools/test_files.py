"""The tools for files: what they tell, and that they never leave the workspace."""

import os
import shutil
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime.repository.workspace import Workspace, Workspaces
from coterie.runtime.tools import ToolError, confined, files
from coterie.runtime.tools.confined import Walk, open_folder
from coterie.runtime.tools.files import list_files, read_file, search_text
from coterie.schema import Task

from .conftest import FILES, done, refused

PRIVATE = "what only the host may read"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder of the host with a secret."""
    tmp_path.joinpath("secret.txt").write_text(PRIVATE, encoding="utf-8")
    return tmp_path


class TestListing:
    def test_all_files_in_order(self, workspace: Workspace) -> None:
        assert done(list_files, workspace).split("\n") == [
            "notes.txt",
            "src/deep/er.py",
            "src/main.py",
        ]

    def test_a_folder(self, workspace: Workspace) -> None:
        assert done(list_files, workspace, path="src/deep/") == "src/deep/er.py"

    def test_an_empty_folder(self, workspace: Workspace, root: Path) -> None:
        root.joinpath("empty").mkdir()

        assert done(list_files, workspace, path="empty") == "No files."

    def test_git_folders_are_passed_over(self, workspace: Workspace, root: Path) -> None:
        root.joinpath("src", ".git").mkdir()
        root.joinpath("src", ".git", "config").write_text("[core]", encoding="utf-8")

        assert ".git" not in done(list_files, workspace)

    def test_what_is_no_file_is_counted(
        self, workspace: Workspace, root: Path, outside: Path
    ) -> None:
        root.joinpath("link").symlink_to(outside)
        os.mkfifo(root / "pipe")

        listing = done(list_files, workspace)

        assert listing.endswith("\n[Links, special files and closed folders left out: 2.]")
        assert "secret" not in listing

    def test_a_line_feed_in_a_name_is_no_new_line(self, workspace: Workspace, root: Path) -> None:
        root.joinpath("a\nb.txt").touch()
        Path(os.fsdecode(os.fsencode(root) + b"/\xff.txt")).touch()

        listed = done(list_files, workspace).split("\n")

        assert listed[0] == r"'a\nb.txt'"
        assert listed[-1] == r"'\udcff.txt'"

    def test_many_are_cut(self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(files, "MOST_FILES", 2)

        assert done(list_files, workspace).split("\n") == [
            "notes.txt",
            "src/deep/er.py",
            "[Files left out: 1. Give the path of a folder.]",
        ]

    def test_a_file_is_no_folder(self, workspace: Workspace) -> None:
        assert "'notes.txt' is not a folder" in refused(list_files, workspace, path="notes.txt")


class TestReading:
    @pytest.mark.parametrize(
        ("arguments", "text"),
        [
            ({"path": "./src//main.py"}, FILES["src/main.py"]),
            ({"start_line": 2, "line_count": 2}, "two\nthree\n[lines 2 to 3 of 5]"),
            ({"start_line": 5, "line_count": 10**30}, "five\n[lines 5 to 5 of 5]"),
        ],
        ids=["whole", "lines", "the last lines"],
    )
    def test_what_is_asked_for(self, workspace: Workspace, arguments: Any, text: str) -> None:
        assert done(read_file, workspace, **{"path": "notes.txt", **arguments}) == text

    def test_past_the_end(self, workspace: Workspace) -> None:
        reason = refused(read_file, workspace, path="notes.txt", start_line=6)
        assert reason == "'notes.txt' ends with line 5; start_line is 6."

    @pytest.mark.parametrize(
        ("content", "count", "text"),
        [
            (b"", None, ""),
            ("a\x0cb\u2028c\r\nd\n".encode(), 1, "a\x0cb\u2028c\r\n[lines 1 to 1 of 2]"),
            (b"x" * 99 + b"\n" + b"y" * 99_999, None, "x" * 99 + "\n[lines 1 to 1 of 2]"),
            (b"x" * 60_000, None, "x" * 50_000 + "\n[line 1 of 1, cut after 50000 characters]"),
            ("caf\xe9".encode("latin-1"), None, "caf\N{REPLACEMENT CHARACTER}"),
            ("caf\xe9".encode("utf-8-sig"), None, "caf\xe9"),
        ],
        ids=["empty", "line feeds alone end lines", "long", "a long line", "latin", "bom"],
    )
    def test_odd_files(
        self, workspace: Workspace, root: Path, content: bytes, count: int | None, text: str
    ) -> None:
        root.joinpath("odd").write_bytes(content)
        lines = {} if count is None else {"line_count": count}
        assert done(read_file, workspace, path="odd", **lines) == text

    @pytest.mark.parametrize(
        ("path", "reason"),
        [
            ("nothing.txt", "there is no 'nothing.txt' here"),
            ("no/thing.txt", "there is no 'no' here"),
            ("src", "'src' is a folder. list_files lists"),
            (".", "'.' is a folder"),
            ("", "'' is a folder"),
            ("/etc/passwd", "starts with '/'"),
            ("src/../../x", "has '..' in it"),
            ("notes.txt/x", "'notes.txt' is not a folder"),
            ("a\0b", "not a path"),
            ("\ud800", "not a path"),
            ("x" * 300, "File name too long"),
        ],
    )
    def test_what_is_not_there(self, workspace: Workspace, path: str, reason: str) -> None:
        assert reason in refused(read_file, workspace, path=path)


class TestHostileFiles:
    def test_a_link(self, workspace: Workspace, root: Path, outside: Path) -> None:
        root.joinpath("link").symlink_to(outside / "secret.txt")

        assert "Links are not followed" in refused(read_file, workspace, path="link")
        assert "Links are not followed" in refused(search_text, workspace, text="s", path="link")

    def test_a_link_on_the_way(self, workspace: Workspace, root: Path, outside: Path) -> None:
        root.joinpath("link").symlink_to(outside)

        assert "Links are not followed" in refused(read_file, workspace, path="link/secret.txt")
        assert "Links are not followed" in refused(list_files, workspace, path="link")

    def test_a_hard_link(self, workspace: Workspace, root: Path, outside: Path) -> None:
        root.joinpath("link").hardlink_to(outside / "secret.txt")

        assert "is a hard link" in refused(read_file, workspace, path="link")
        assert PRIVATE not in done(search_text, workspace, text="s")

    def test_a_pipe_that_nobody_writes_to(self, workspace: Workspace, root: Path) -> None:
        os.mkfifo(root / "pipe")

        assert "not a regular file" in refused(read_file, workspace, path="pipe")

    def test_a_socket(
        self, workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(root)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("socket")

            assert "'socket' cannot be read" in refused(read_file, workspace, path="socket")

    def test_a_huge_file(self, workspace: Workspace, root: Path) -> None:
        with root.joinpath("huge").open("wb") as stream:
            stream.truncate(1 << 40)

        assert "has more than 10485760 bytes" in refused(read_file, workspace, path="huge")

    def test_a_binary_file(self, workspace: Workspace, root: Path) -> None:
        root.joinpath("image").write_bytes(b"\x89PNG\0\0")

        assert "'image' is a binary file of 6 bytes" in refused(read_file, workspace, path="image")
        assert done(search_text, workspace, text="PNG").endswith(
            "[Files not searched: 1 (binary, hard links, too large or not readable).]"
        )

    def test_deep_folders_and_many_files(
        self, workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        deep = root.joinpath(*"d" * 60)
        deep.mkdir(parents=True)
        deep.joinpath("file").touch()

        assert done(list_files, workspace).endswith("closed folders left out: 1.]")

        monkeypatch.setattr("coterie.runtime.tools.confined.MOST_ENTRIES", 10)
        assert "too many files to look at all of them" in done(list_files, workspace)

    def test_a_folder_that_is_removed_meanwhile(self, root: Path) -> None:
        root.joinpath("gone").mkdir()
        walk = Walk()

        with open_folder(root, ("gone",)) as folder:
            root.joinpath("gone").rmdir()
            assert list(walk.files(folder)) == []

    def test_a_workspace_that_is_removed(self, workspace: Workspace, root: Path) -> None:
        shutil.rmtree(root)

        assert "there is no '.' here" in refused(list_files, workspace)
        assert "there is no '.' here" in refused(read_file, workspace, path="notes.txt")

    def test_a_file_that_grows_meanwhile(
        self, workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(confined, "LARGEST_FILE", 10)
        monkeypatch.setattr(confined, "_check", lambda *_: None)
        root.joinpath("growing").write_text("x" * 11, encoding="utf-8")

        assert "has more than 10 bytes" in refused(read_file, workspace, path="growing")

    async def test_a_folder_that_turns_into_a_link_again_and_again(
        self, workspace: Workspace, root: Path, outside: Path
    ) -> None:
        inside, aside = root / "swapped", root / "aside"
        inside.mkdir()
        inside.joinpath("secret.txt").write_text("nothing", encoding="utf-8")
        stop = threading.Event()

        def swap() -> None:
            while not stop.is_set():
                inside.rename(aside)
                inside.symlink_to(outside)
                inside.unlink()
                aside.rename(inside)

        swapper = threading.Thread(target=swap)
        swapper.start()
        try:
            seen: set[str] = set()
            for _ in range(300):
                for tool, arguments in (
                    (read_file, {"path": "swapped/secret.txt"}),
                    (search_text, {"text": "s", "path": "swapped"}),
                    (search_text, {"text": "secret", "regular_expression": True}),
                ):
                    try:
                        seen.add(await tool.run(arguments, workspace))
                    except ToolError as refusal:
                        seen.add(f"refused: {refusal}")
        finally:
            stop.set()
            swapper.join()

        assert len(seen) > 1, "the folder did change meanwhile"
        assert [text for text in seen if PRIVATE in text] == []


class TestSearching:
    @pytest.mark.parametrize(
        ("arguments", "result"),
        [
            ({"text": "main"}, "src/deep/er.py:1: name = 'main'\nsrc/main.py:4: def main():"),
            ({"text": r"^t\w+e$", "regular_expression": True}, "notes.txt:3: three"),
            ({"text": "t.o"}, "No match. Files searched: 3."),
            ({"text": r"^$", "regular_expression": True}, "src/main.py:2: \nsrc/main.py:3: "),
            ({"text": "main", "path": "src/main.py"}, "src/main.py:4: def main():"),
        ],
        ids=["a text", "an expression", "dots are dots", "empty lines", "in one file"],
    )
    def test_matches(self, workspace: Workspace, arguments: Any, result: str) -> None:
        assert done(search_text, workspace, **arguments) == result

    def test_nowhere(self, workspace: Workspace) -> None:
        assert "there is no 'lib'" in refused(search_text, workspace, text="x", path="lib")

    def test_a_long_line_is_shown_around_the_match(self, workspace: Workspace, root: Path) -> None:
        root.joinpath("min.js").write_text("a" * 500 + "needle" + "b" * 500, encoding="utf-8")
        result = done(search_text, workspace, text="needle")
        assert result == f"min.js:1: …{'a' * 100}needle{'b' * 194}…"

    def test_many_matches_are_cut(self, workspace: Workspace, root: Path) -> None:
        root.joinpath("many").write_text("match\n" * 500, encoding="utf-8")

        *result, note = done(search_text, workspace, text="match").split("\n")

        assert len(result) == 200
        assert note == "[Stopped after 200 matches. Search for more, or give a path.]"

    def test_it_ends_after_a_while(
        self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(files, "SEARCH_SECONDS", 0.0)

        assert "Stopped after 0 seconds" in done(search_text, workspace, text="x")


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A workspace with links to all that is outside, beside a folder with a secret."""
    outside = tmp_path_factory.mktemp("outside")
    outside.joinpath("secret.txt").write_text(PRIVATE, encoding="utf-8")
    with Workspaces(Task(id="task", query="?", files={"in/secret.txt": "fine"})) as home:
        workspace = home.of("agent", 1, ())
        home.folder().joinpath("secret.txt").write_text(PRIVATE, encoding="utf-8")
        for name, target in {"up": "..", "root": "/", "out": outside, "in/up": "../.."}.items():
            workspace.path.joinpath(name).symlink_to(target)
        yield workspace


NAMES = st.sampled_from(
    ["..", ".", "", "~", "up", "root", "out", "in", "secret.txt", "agent-1", "proc", "self", "\0"]
)
PATHS = st.text(max_size=20) | st.lists(NAMES, max_size=6).map("/".join)


@given(path=PATHS)
def test_no_path_leads_out(crowded: Workspace, path: str) -> None:
    for tool, arguments, allowed in (
        (read_file, {}, {"fine"}),
        (search_text, {"text": "e"}, {"in/secret.txt:1: fine"}),
        (list_files, {}, {"in/secret.txt"}),
    ):
        try:
            answer = done(tool, crowded, path=path, **arguments)
        except ToolError:
            continue
        assert answer.partition("\n[")[0] in allowed
