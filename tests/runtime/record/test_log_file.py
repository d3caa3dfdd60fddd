"""A file of lines: of what a failure left only the end is cut off, and other damage is an error."""

from collections.abc import Callable
from pathlib import Path

import pytest

from coterie.runtime.record import log_file
from coterie.runtime.record.log_file import HEAD, LogFile, lines_of, write_whole
from coterie.schema import InputError
from coterie.schema.values.errors import StorageError
from coterie.schema.values.files import sync

from ...support.failpoints import armed

TEXTS = [b"one", b"two " * 2_000, b"three"]
CUT: dict[str, Callable[[bytes], bytes]] = {
    "the end of the line": lambda line: line[:-1],
    "half of it": lambda line: line[: len(line) // 2],
    "all but zeros": lambda line: bytes(len(line)),
    "its first half": lambda line: bytes(len(line) // 2) + line[len(line) // 2 :],
}


def opened(path: Path, lines: list[bytes] | None = None) -> LogFile:
    def note(_: int, content: bytes) -> None:
        if lines is not None:
            lines.append(content)

    return LogFile.open(path, note)


def contents(path: Path) -> list[bytes]:
    return [content for _, content in lines_of(path)]


def killed(path: Path, texts: list[bytes], *, flushed: int = 0) -> list[int]:
    """Append lines, of which some are on disk, by a process that is then killed; say where."""
    log = opened(path)
    places = log.append(texts[:flushed])
    if flushed:
        log.flush()
    return places + log.append(texts[flushed:])


def test_lines_are_found_where_they_were_written(tmp_path: Path) -> None:
    log = opened(tmp_path / "f")
    places = log.append(TEXTS[:1]) + log.append(TEXTS[1:])
    assert [log.read(place) for place in places] == TEXTS
    log.close()
    assert contents(tmp_path / "f") == TEXTS


@pytest.mark.parametrize("how", CUT)
def test_half_a_line_at_the_end_is_replaced_by_the_next(tmp_path: Path, how: str) -> None:
    path = tmp_path / "f"
    places = killed(path, TEXTS)
    content = path.read_bytes()
    path.write_bytes(content[: places[2]] + CUT[how](content[places[2] :]))
    assert contents(path) == TEXTS[:2]
    lines = list[bytes]()
    log = opened(path, lines)
    assert lines == TEXTS[:2]
    log.append([b"four"])
    log.close()
    assert contents(path) == [*TEXTS[:2], b"four"]


def test_of_what_was_not_on_disk_nothing_is_left_behind_a_loss(tmp_path: Path) -> None:
    path = tmp_path / "f"
    places = killed(path, TEXTS)
    content = path.read_bytes()
    lost = slice(places[1], places[2])
    path.write_bytes(content[: lost.start] + bytes(lost.stop - lost.start) + content[lost.stop :])
    assert contents(path) == TEXTS[:1]
    opened(path).close()
    assert contents(path) == TEXTS[:1]


@pytest.mark.parametrize("line", range(4))
def test_damage_of_what_was_on_disk_is_only_an_error(tmp_path: Path, line: int) -> None:
    path = tmp_path / "f"
    log = opened(path)
    places = [0, *log.append(TEXTS)]
    log.close()
    content = bytearray(path.read_bytes())
    content[places[line] + 3] ^= 1
    path.write_bytes(content)
    for read in (contents, opened):
        with pytest.raises(InputError, match=f"f: the journal is damaged at byte {places[line]:,}"):
            read(path)
    assert path.read_bytes() == content


def test_what_a_killed_process_had_flushed_is_not_taken_for_its_end(tmp_path: Path) -> None:
    path = tmp_path / "f"
    places = killed(path, TEXTS, flushed=1)
    content = bytearray(path.read_bytes())
    content[places[0] + 12] ^= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match="the journal is damaged"):
        contents(path)


@pytest.mark.parametrize("text", [b"SQLite format 3\0", b"coterie journal 2\n", b"{}\n"])
def test_another_file_is_refused(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "f").write_bytes(text)
    with pytest.raises(InputError, match="not a journal, or a journal of another version"):
        opened(tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == text


def test_lines_are_taken_out_of_a_file_that_is_then_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "f"
    log = opened(path)
    places = log.append(TEXTS)
    log.rewrite([places[0], places[2]])
    assert log.is_flushed
    log.append([b"four"])
    log.close()
    assert contents(path) == [TEXTS[0], TEXTS[2], b"four"]


def test_a_line_of_a_file_that_has_become_shorter_is_missed(tmp_path: Path) -> None:
    log = opened(tmp_path / "f")
    (place,) = log.append([b"one"])
    (tmp_path / "f").write_bytes(HEAD)
    with pytest.raises(StorageError, match="it was truncated"):
        log.read(place)


@pytest.mark.parametrize("text", TEXTS)
def test_a_file_written_whole_shows_damage_of_any_line(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "f"
    write_whole(path, TEXTS)
    assert contents(path) == TEXTS
    path.write_bytes(path.read_bytes().replace(text, text.upper()))
    with pytest.raises(InputError, match="the journal is damaged"):
        contents(path)


def test_a_file_beside_it_that_is_renamed_while_it_is_flushed_does_not_end_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".manifest.half").write_text("written, and about to be renamed")

    def sync_late(path: Path, handle: int | None = None) -> None:
        if path.name == ".manifest.half":
            path.rename(tmp_path / "manifest")
        sync(path, handle)

    monkeypatch.setattr(log_file, "sync", sync_late)
    log = opened(tmp_path / "f")
    log.append(TEXTS)
    log.flush()
    log.close()
    assert contents(tmp_path / "f") == TEXTS
    assert (tmp_path / "manifest").exists()


def test_a_flush_that_comes_when_the_file_is_closed_leaves_its_handle_alone(tmp_path: Path) -> None:
    log = opened(tmp_path / "f")
    log.close()
    with armed("files.sync.before:1:raise-eio"):
        log.flush()
