"""Ways to spoil a file, by rule and by chance, and what a command that reads it may cost."""

import json
import resource
import shutil
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any

import yaml

from coterie.runtime.record.log_file import lines_of, write_whole

MEGABYTES = 100.0
"""Of memory that it may need; no file here is larger than a few."""

VALUES = (
    "null", "true", "0", "-1", "1.5", "1e999", "NaN", "-Infinity", "1" + "0" * 30, "9" * 5_000,
    '""', '"x"', '"../../etc/passwd"', '"\\u0000\\u001b[2J\\u202e"', '"\\ud800"', '"1,2"',
    '"' + "a" * 1_000_000 + '"', '"' + "ab " * 20_000 + '"', "[]", "{}", "[null]", '["a", "a"]',
    '{"a": null}', '{"": {}}', '{"a": {"b": {"c": []}}}', '{"kind": "x", "v": 1}', '{"$ref": "#"}',
    "[" * 500 + "]" * 500, "[" * 100_000 + "]" * 100_000, "[" + "0," * 20_000 + "0]",
)  # fmt: skip
"""JSON, and what some take for it, to stand in a value's place."""

HOLE = '"\u2400 hole \u2400"'
ANCHORS = "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9) if n else 'x'}]\n" for n in range(9)
)
TEXTS: Mapping[str, Callable[[bytes], bytes]] = {
    "nothing": lambda _: b"",
    "a line": lambda _: b"\n",
    "half of it": lambda text: text[: len(text) // 2],
    "all but its end": lambda text: text[:-3],
    "it twice": lambda text: text + text,
    "it many times": lambda text: text * (1 + 200_000 // (1 + len(text))),
    "a mark of UTF-8": lambda text: b"\xef\xbb\xbf" + text,
    "UTF-16": lambda text: text.decode("utf-8", "replace").encode("utf-16"),
    "Latin-1": lambda text: text + b"# \xe9\n",
    "zeros": lambda text: text[:40] + b"\0" * 1_000 + text[40:],
    "a form feed": lambda text: text[:40] + b"\x0c\x85\xe2\x80\xa8" + text[40:],
    "billion laughs": lambda text: ANCHORS.encode() + text,
    "a circle": lambda text: b"a: &a [*a]\n" + text,
    "tags": lambda text: b"a: !!python/object/apply:os.getcwd []\n" + text,
    "braces": lambda _: b"{" * 200_000,
    "quotes": lambda _: b'"' * 200_000,
    "tabs": lambda text: text.replace(b"  ", b"\t"),
}
PLACES = ("gone", "a folder", "a link to itself", "a link to nowhere")


def spoil(path: Path, chance: Random) -> str:
    """Do something to a file; say what."""
    kinds = ("place", "text", "bytes", *["value"] * 9)
    match chance.choice(kinds):
        case "place":
            return _misplace(path, chance.choice(PLACES))
        case "text" if path.suffix != ".log":
            what = chance.choice(sorted(TEXTS))
            path.write_bytes(TEXTS[what](path.read_bytes()))
            return what
        case "value" if path.suffix == ".log":
            return _spoil_entry(path, chance)
        case "value" if (replaced := _replaced(path, path.read_bytes(), chance)) is not None:
            what, content = replaced
            path.write_bytes(content)
            return what
        case _:
            what, content = _torn(path.read_bytes(), chance)
            path.write_bytes(content)
            return what


def _misplace(path: Path, how: str) -> str:
    path.unlink()
    match how:
        case "a folder":
            path.mkdir()
        case "a link to itself":
            path.symlink_to(path.name)
        case "a link to nowhere":
            path.symlink_to("nowhere")
        case _:
            pass
    return how


def _torn(content: bytes, chance: Random) -> tuple[str, bytes]:
    """Change bytes as a disk, or an editor, might."""
    start = chance.randrange(len(content) + 1)
    end = min(len(content), start + chance.choice((1, 1, 4, 40, 4_096)))
    piece = content[start:end]
    torn = {
        "cut off": content[:start],
        "taken out": content[:start] + content[end:],
        "flipped": content[:start] + bytes(byte ^ 1 << chance.randrange(8) for byte in piece)
        + content[end:],
        "repeated": content[:start] + piece * 50 + content[end:],
        "moved": content[:start] + content[end:] + piece,
    }  # fmt: skip
    how = chance.choice(sorted(torn))
    return f"bytes {start} to {end} {how}", torn[how]


def _replaced(path: Path, content: bytes, chance: Random) -> tuple[str, bytes] | None:
    """Put something else in the place of a value of a file, or of a line of one."""
    if path.suffix == ".jsonl":
        lines = content.splitlines(keepends=True)
        if not lines:
            return None
        number = chance.randrange(len(lines))
        what, text = altered(json.loads(lines[number]), chance)
        lines[number] = text.encode("utf-8", "backslashreplace") + b"\n"
        return f"line {number + 1}, {what}", b"".join(lines)
    read = json.loads if path.suffix == ".json" else yaml.safe_load
    if path.suffix not in {".json", ".yaml"} or not isinstance(value := read(content), dict | list):
        return None
    what, text = altered(value, chance)
    return what, text.encode("utf-8", "backslashreplace")


def altered(value: Any, chance: Random) -> tuple[str, str]:
    """Write a value with something else in one place; of a sealed line, sealed again."""
    is_sealed = isinstance(value, dict) and "crc" in value
    if is_sealed:
        del value["crc"]
    path = chance.choice([*_paths(value)])
    name = ".".join(map(str, path)) or "all"
    odd = chance.choice(VALUES)
    how = chance.choice(("replaced", "replaced", "replaced", "gone", "unknown", "twice"))
    holder = _at(value, path[:-1])
    match how:
        case "gone" if path:
            del holder[path[-1]]
            text = json.dumps(value)
        case "unknown" if isinstance(here := _at(value, path), dict):
            here["unknown"] = 1
            text = json.dumps(value)
        case "twice" if path and isinstance(holder, dict):
            holder["\u2400"] = holder[path[-1]]
            text = json.dumps(value).replace('"\\u2400"', json.dumps(path[-1]))
        case _:
            how = f"replaced by {odd[:40]}"
            if path:
                holder[path[-1]] = json.loads(HOLE)
                text = json.dumps(value).replace(json.dumps(json.loads(HOLE)), odd)
            else:
                text = odd
    if is_sealed:
        text = _sealed(text)
    return f"{name} {how}"[:200], text


def replaced_in(line: str, way: list[Any], last: Any, odd: str) -> str:
    """Write a sealed line with something else, as JSON, in one place, and seal it again."""
    value = json.loads(line)
    del value["crc"]
    _at(value, tuple(way))[last] = json.loads(odd)
    return _sealed(json.dumps(value))


def _sealed(text: str) -> str:
    content = text.removesuffix("}")
    return content + f', "crc": "{zlib.crc32(content.encode()):08x}"}}'


def _spoil_entry(path: Path, chance: Random) -> str:
    """Change an entry of a journal, whose line is then whole; or its form."""
    lines = [content.split(b"\t") for _, content in lines_of(path)]
    number = chance.randrange(len(lines))
    text, value = lines[number]
    head = json.loads(text)
    what = chance.choice(("value",) * 12 + ("text", "blob", "kind", "moment", "head"))
    match what:
        case "value":
            what, changed = altered(json.loads(value), chance)
            value = changed.encode("utf-8", "backslashreplace").replace(b"\n", b" ")
        case "text":
            value = b"{"
        case "blob":
            value = b"\xff\x00"
        case "kind":
            head[1] = "sample"
        case "moment":
            head[3] = "soon"
        case _:
            head = head[1:]
    lines[number] = [json.dumps(head).encode(), value]
    write_whole(path, [b"\t".join(line) for line in lines])
    return f"{text}: {what}"


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _paths(item, (*path, key))


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


@contextmanager
def bounded(*, size: int = 0, more: int = 0) -> Generator[None]:
    """Assert that what is done takes little memory at its peak.

    Args:
        size: Bytes of what is worked on, which may be held besides.
        more: How many are worked on beside the first. Each may need 5 MB.
    """
    before = _reset_peak()
    yield
    grew = _peak() - before
    assert grew <= MEGABYTES + size / 1e6 + 5 * more, f"{grew:.0f} MB"


def _reset_peak() -> float:
    """Let the system begin anew with the most memory that this process had, where it can."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _peak()


def _peak() -> float:
    """Return the most memory that this process had, in MB."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    return int(status.partition("VmHWM:")[2].split()[0]) / 1e3


def copied(folder: Path, target: Path) -> Path:
    """Return a copy of a folder, in place of one that was spoilt."""
    shutil.rmtree(target, ignore_errors=True)
    return Path(shutil.copytree(folder, target, symlinks=True))
