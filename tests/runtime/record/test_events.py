"""A damaged line of events.jsonl costs that line and no other, whoever reads it."""

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime.command.view import main as mas_view
from coterie.runtime.record.events import EventLog, all_events_of, events_of
from coterie.schema.values.errors import InputError

from ...conftest import Draw
from ...effort import grows_linearly
from ...support.commands import invoked
from ..view.test_run_page import run_of

WRONG: tuple[Any, ...] = (
    *(None, True, -1, 10**400, 1e300, "", "text", "\ud800", "\0", [], [[]], [1], {}, {"a": 1}),
)
"""Values of which each field tries those of another type than its own."""
RIGHT = (("t", -1), ("seconds", -1))


def lines_of(run: Path) -> list[bytes]:
    return (run / "events.jsonl").read_bytes().splitlines(keepends=True)


def texts(line: bytes) -> Iterator[bytes]:
    """Yield what may become of a line: no text of JSON, or JSON that is no event."""
    body = line.removesuffix(b"\n")
    yield from (body[:size] + b"\n" for size in range(1, len(body), len(body) // 25))
    yield from (body[size:] + b"\n" for size in range(1, len(body), len(body) // 25))
    yield body.replace(b'"text"', '"text": "é", "t\u20ac'.encode()[:-1], 1) + b"\n"
    yield body.replace(b'"text"', b'"te\xff\xfext"', 1) + b"\n"
    yield from (b"\0" * size + b"\n" for size in (1, 100, len(line)))
    yield from (body[:9] + odd + body[9:] + b"\n" for odd in (b"\0", b"\n", b"\r\n", b"\x1b[2J"))
    yield from (
        f"{json.dumps(item)}\n".encode() for item in (*WRONG[:-2], float("nan"), float("-inf"))
    )
    yield from (
        b"\n",
        b" \n",
        b"\r\n",
        b"{}\n",
        b"{\n",
        b"nonsense\n",
        body + body + b"\n",
        b"\xef\xbb\xbf" + line,
    )
    yield b"[" * 100_000 + b"\n"
    yield b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"\n"
    yield body[:-1] + b', "x": ' + b"[" * 300 + b"]" * 300 + b"}\n"
    yield body[:-1] + b', "x": ' + b"9" * 5_000 + b"}\n"
    yield body[:-1] + b', "x": NaN}\n'
    yield body[:-1] + b', "x": -Infinity}\n'
    yield body[:-1] + b', "n": "duplicate"}\n'
    yield b"x" * 2_000_000 + b"\n"


def values(line: bytes) -> Iterator[bytes]:
    """Yield events with a field that is missing, or of another type."""
    event = json.loads(line)
    for name in (
        "v",
        "n",
        "t",
        "type",
        "path",
        "messages",
        "text",
        "tool_calls",
        "usage",
        "seconds",
    ):
        yield json.dumps({key: item for key, item in event.items() if key != name}).encode() + b"\n"
        for wrong in WRONG:
            if type(wrong) is not type(event[name]) and (name, wrong) not in RIGHT:
                yield json.dumps({**event, name: wrong}).encode() + b"\n"
    inner: list[tuple[str, Any]] = [
        ("usage", {**event["usage"], "usd": "much"}),
        ("usage", {**event["usage"], "more": 1}),
        ("usage", {"usd": 1}),
        *(("messages", [{"role": "user", "content": wrong}]) for wrong in (1, {"a": 1}, [1])),
        *(
            ("messages", [wrong])
            for wrong in (1, None, {}, {"role": 1}, {"role": "user", "content": 7})
        ),
        *(("tool_calls", [wrong]) for wrong in (1, None, {}, {"name": 1}, {"name": "x"})),
        *(("round", wrong) for wrong in ([], {}, 10**400)),
        *(("n", wrong) for wrong in (0, -1, 10**400, 10**20, 1, 1.5)),
        *(("agent", wrong) for wrong in (1, None, [], {})),
        *(("finish_reason", wrong) for wrong in (1, [], {})),
    ]
    yield from (json.dumps({**event, name: wrong}).encode() + b"\n" for name, wrong in inner)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose events have the numbers of their lines."""
    run = run_of(tmp_path_factory.mktemp("events"), "7")
    lines = lines_of(run)
    place = next(number for number, line in enumerate(lines) if b'"model_call"' in line)
    assert (json.loads(lines[place])["n"], len(lines) > 7) == (place + 1, True)
    return run


def damaged(run: Path, folder: Path, line: bytes) -> tuple[Path, int]:
    """Copy a run, with another line in the place of a model's call; give its number, too."""
    for path in run.iterdir():
        if path.is_file():
            (folder / path.name).write_bytes(path.read_bytes())
    lines = lines_of(run)
    place = next(number for number, each in enumerate(lines) if b'"model_call"' in each)
    lines[place] = line
    (folder / "events.jsonl").write_bytes(b"".join(lines))
    return folder, place + 1


def kinds(run: Path) -> list[bytes]:
    line = next(line for line in lines_of(run) if b'"model_call"' in line)
    return [*texts(line), *values(line)]


def test_a_damaged_line_is_left_out_and_named(run: Path, tmp_path: Path) -> None:
    whole = events_of(run)
    assert whole.damage == ""
    cases = kinds(run)
    assert len(cases) > 200
    for line in cases:
        folder, number = damaged(run, tmp_path, line)
        log = events_of(folder)
        assert re.match(
            rf"\d lines? cannot be read: {re.escape(str(folder))}/events.jsonl:{number} \(",
            log.damage,
        ), (line[:1_000], log.damage)
        assert "\n" not in log.damage
        assert len(log.damage) < 1_000
        assert log.events == [event for event in whole.events if event["n"] != number], line[:200]
        with pytest.raises(InputError, match=f"events.jsonl:{number} "):
            all_events_of(folder)


def test_every_reader_shows_the_rest_of_a_run(run: Path, tmp_path: Path, drawn: Draw) -> None:
    for line in drawn(kinds(run)):
        folder, number = damaged(run, tmp_path, line)
        shown = invoked(mas_view, ["--text", str(folder)], "mas-view")
        assert (shown.code, shown.err) == (0, ""), line[:200]
        (text,) = [name for name in shown.out.splitlines() if name.startswith("damaged  ")]
        assert f"events.jsonl:{number} (" in text
        as_json = invoked(mas_view, ["--text", str(folder), "--json"], "mas-view")
        assert (as_json.code, number) == (0, int(as_json.json["damaged"].split(":")[2].split()[0]))
        file = tmp_path / "report.html"
        invoked(mas_view, [str(folder), "-o", str(file)], "mas-view").ended(0)
        assert f"events.jsonl:{number} (" in file.read_text(encoding="utf-8")


def test_a_trace_is_sent_of_the_rest_of_a_run(run: Path, tmp_path: Path) -> None:
    folder, _ = damaged(run, tmp_path, b"nonsense\n")
    spans = tmp_path / "spans.jsonl"
    invoked(mas_view, ["--text", str(folder), "--otel", str(spans)], "mas-view").ended(0)
    assert b"invoke_agent judge" in spans.read_bytes()


@pytest.mark.parametrize(
    ("change", "count"),
    [
        (lambda text: text, 0),
        (lambda text: text.replace(b"\n", b"\r\n"), 0),
        (lambda text: text.removesuffix(b"\n"), 0),
        (lambda text: text + b'{"v": 1, "n"', 0),
        (lambda text: text.replace(b'"v":1', b'"v":1,"v":1'), 0),
        (lambda text: text.replace(b'"text"', b'"\\udc80": "\\ud800", "text"'), 0),
        (lambda text: text + text, "all of the second half"),
    ],
    ids=["as it is", "CRLF", "no end", "half a line", "twice", "half characters", "doubled"],
)
def test_what_costs_no_line(
    run: Path, tmp_path: Path, change: Callable[[bytes], bytes], count: object
) -> None:
    damaged(run, tmp_path, b"")
    (tmp_path / "events.jsonl").write_bytes(change((run / "events.jsonl").read_bytes()))
    log = events_of(tmp_path)
    assert [event["n"] for event in log.events] == [*range(1, len(lines_of(run)) + 1)]
    assert bool(log.damage) == bool(count)
    assert invoked(mas_view, ["--text", str(tmp_path)], "mas-view").code == 0


@pytest.mark.parametrize("content", [b"", b"\n", b"\0" * 5_000, b"nonsense\n" * 50, b"\xff"])
def test_a_run_without_events_is_shown(run: Path, tmp_path: Path, content: bytes) -> None:
    damaged(run, tmp_path, b"")
    (tmp_path / "events.jsonl").write_bytes(content)
    shown = invoked(mas_view, ["--text", str(tmp_path)], "mas-view")
    assert (shown.code, "status   done" in shown.out) == (0, True), shown.err
    lines = [line for line in shown.out.splitlines() if line.startswith("damaged")]
    assert len(lines) == (b"\n" in content)
    if content.startswith(b"nonsense"):
        assert lines[0].endswith(" and 45 more")


def test_another_version_is_refused_where_there_is_nothing_else(run: Path, tmp_path: Path) -> None:
    damaged(run, tmp_path, b"")
    text = (run / "events.jsonl").read_bytes().replace(b'"v":1', b'"v":2')
    (tmp_path / "events.jsonl").write_bytes(text)
    with pytest.raises(InputError, match="version 2 of the format; this coterie supports 1"):
        events_of(tmp_path)


def test_one_wrong_number_does_not_cost_the_lines_after_it(run: Path, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in lines_of(run)]
    for place in range(len(lines)):
        changed = [{**line, "n": 10**9} if at == place else line for at, line in enumerate(lines)]
        (tmp_path / "events.jsonl").write_text("".join(f"{json.dumps(item)}\n" for item in changed))
        kept = [event["n"] for event in events_of(tmp_path).events]
        assert {*range(1, len(lines) + 1)} - {*kept} == {place + 1}


@given(st.lists(st.integers(1, 30), max_size=30))
def test_as_many_lines_as_can_be_are_kept_in_order(tmp_path: Path, numbers: list[int]) -> None:
    lines = (f'{{"v": 1, "n": {number}, "t": 0, "type": "x"}}\n' for number in numbers)
    (tmp_path / "events.jsonl").write_text("".join(lines))
    kept = [event["n"] for event in events_of(tmp_path).events]
    assert kept == sorted(set(kept))
    longest = [0] * (len(numbers) + 1)
    for place, number in enumerate(numbers):
        before = [longest[at] for at in range(place) if numbers[at] < number]
        longest[place] = 1 + max(before, default=0)
    assert len(kept) == max(longest)


def test_damage_is_found_in_linear_time(tmp_path: Path) -> None:
    def reading(size: int) -> Callable[[], EventLog]:
        folder = tmp_path / str(size)
        folder.mkdir(exist_ok=True)
        numbers = (number * 7_919 % size for number in range(size))
        lines = (f'{{"v": 1, "n": {number + 1}, "t": 0, "type": "x"}}\n' for number in numbers)
        (folder / "events.jsonl").write_text("".join(lines))
        return partial(events_of, folder)

    assert grows_linearly(reading, 1_000)
