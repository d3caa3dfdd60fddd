"""Searches for input that breaks a reader, by what of its code the input reaches (libFuzzer).

    python -m tests.fuzzing TARGET [-max_total_time=600] [FOLDER OF WHAT IT BEGINS WITH]

A target reads bytes and may end in the errors that its callers expect. Any other exception, and
more time or memory than `damage` allows, ends the program with an exit code; the input is then in a
file of the current folder, and `python -m tests.fuzzing TARGET FILE` reads it again. Of what reads
JSON, half of the changes are libFuzzer's own, and half put something odd in the place of a value.
"""

import io
import json
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

import atheris

with atheris.instrument_imports(include=["coterie"]):  # pyright: ignore[reportAttributeAccessIssue]
    from coterie.operators.core.answers import InvalidAnswer, edits_in
    from coterie.operators.core.bounds import Bounds
    from coterie.pool.teams.pool import Pool
    from coterie.runtime.gateway.chat.answer import failure_in, parsed
    from coterie.runtime.gateway.chat.errors import CallError
    from coterie.runtime.gateway.wires import WIRES
    from coterie.runtime.scrubbing.scrubber import Scrubber
    from coterie.runtime.values.structured import answer_in, object_in, parse_structured
    from coterie.schema import CoterieError, dump, load_models, load_tools
    from coterie.schema.edits import COMPONENTS
    from coterie.schema.foreign.taking_over import take_over
    from coterie.schema.host.catalogue import Catalogue
    from coterie.schema.loading.lines import Lines
    from coterie.schema.loading.loading import hostless_team, parse_task
    from coterie.schema.loading.recipe import load_recipe
    from coterie.schema.loading.task_form import PLAIN
    from coterie.schema.loading.tasks import read_table

# Beside what is watched, and no part of it.
from .damage import altered, bounded
from .pool.every_kind import pool_of_every_kind, sealed

HANGS = 20
"""Seconds after which an input counts as one that never ends."""
FORM = {
    "type": "object",
    "properties": {
        "answer": {"type": "string", "enum": ["7", "8"]},
        "why": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "number"}]}},
    },
    "required": ["answer"],
}
KEY = "sk-proj-4f9Kq2ZxW7"
KNOWN = Catalogue.of_host()
FOLDER = Path(tempfile.mkdtemp(prefix="fuzzing_"))
POOL = FOLDER / "pool"


@dataclass(frozen=True, slots=True)
class Target:
    """A reader of what others wrote.

    `expected` are the errors that say what is wrong with it; `is_json`, whether each line of what
    it reads is JSON.
    """

    read: Callable[[bytes], object]
    expected: tuple[type[Exception], ...] = (CoterieError,)
    is_json: bool = False


def on_disk(read: Callable[[Path], object]) -> Callable[[bytes], object]:
    """Return a reader of bytes for one of a file."""

    def read_bytes(data: bytes) -> object:
        file = FOLDER / "file.yaml"
        file.write_bytes(data)
        return read(file)

    return read_bytes


def team(data: bytes) -> None:
    """Read a team, and read what is written of it."""
    read = hostless_team(data, "team.yaml")
    again = hostless_team(dump(read).encode(), "team.yaml")
    if again != read:
        raise AssertionError("What is written of a team reads as another.")


def task(data: bytes) -> None:
    """Read a task, as one of its formats."""
    parse_task(data, "task.yaml" if data[:1] not in b"{[" else "task.json", FOLDER, KNOWN)


def table(data: bytes) -> None:
    """Read a table of tasks."""
    for _line, result in read_table(Lines(io.BytesIO(data)), "tasks.csv", PLAIN):
        if isinstance(result, bytes):
            with suppress(CoterieError):
                parse_task(result, "task.json", FOLDER, KNOWN)


def answers(data: bytes) -> None:
    """Read an answer of each API."""
    for wire in WIRES.values():
        with suppress(CallError):
            wire.answer(parsed("h", data), "h")


def streams(data: bytes) -> None:
    """Read the events of a stream of each API, one a line."""
    for wire in WIRES.values():
        assembly = wire.assembly()
        with suppress(CallError):
            for line in data.splitlines():
                event = parsed("h", line)
                if failure_in(event) is None:
                    assembly.add(event)
            wire.answer(assembly.body(), "h")


def structured(data: bytes) -> None:
    """Find JSON in a text."""
    text = data.decode("utf-8", "replace")
    value, problems = parse_structured(text, FORM)
    if not problems:
        answer_in(value)
    with suppress(ValueError):
        object_in(text)


def edits(data: bytes) -> None:
    """Read the edits of a team that a model answers with."""
    edits_in(data.decode("utf-8", "replace"), Bounds(), COMPONENTS)


def secrets(data: bytes) -> None:
    """Take secrets out of a text, whole and in pieces."""
    text = data.decode("utf-8", "replace")
    scrubber = Scrubber([KEY])
    whole = scrubber(text)
    stream = scrubber.stream()
    pieces = [stream.feed(text[at : at + 7]) for at in range(0, len(text), 7)]
    if KEY in whole or KEY in "".join(pieces) + stream.flush():
        raise AssertionError("A secret passed.")


def ledger(data: bytes) -> None:
    """Open a pool whose lines fit their seals, whatever they say, and look at all it holds."""
    lines = data.decode("utf-8", "replace").splitlines()
    (POOL / "ledger.jsonl").write_bytes(b"".join(map(sealed, lines)))
    pool = Pool.open(POOL, catalogue=KNOWN, report=lambda _: None)
    for member in pool.members.values():
        repr((member.team, member.statistics))
    repr((pool.agents, pool.learnt, pool.rejections))


TARGETS: Mapping[str, Target] = {
    "answers": Target(answers, is_json=True),
    "edits": Target(edits, (InvalidAnswer,)),
    "foreign": Target(on_disk(take_over)),
    "ledger": Target(ledger, is_json=True),
    "models": Target(on_disk(load_models)),
    "recipe": Target(on_disk(load_recipe)),
    "secrets": Target(secrets),
    "streams": Target(streams, is_json=True),
    "structured": Target(structured),
    "table": Target(table),
    "task": Target(task),
    "team": Target(team),
    "tools": Target(on_disk(load_tools)),
}


def changed(data: bytes, most: int, seed: int) -> bytes:
    """Change some JSON in one of its lines, or bytes in one place."""
    chance = Random(seed)
    lines = data.splitlines()
    if lines and chance.random() < 0.5:
        place = chance.randrange(len(lines))
        with suppress(ValueError, RecursionError):
            _what, text = altered(json.loads(lines[place]), chance)
            lines[place] = text.encode("utf-8", "backslashreplace")
            return b"\n".join(lines)[:most]
    return atheris.Mutate(data, most)


def main(name: str, options: Sequence[str]) -> None:
    """Search until the time is over, or something breaks."""
    target = TARGETS[name]
    if name == "ledger":
        pool_of_every_kind(POOL)

    def read(data: bytes) -> None:
        with bounded(size=len(data)), suppress(*target.expected):
            target.read(data)

    limits = [f"-timeout={HANGS}", "-rss_limit_mb=0", "-max_len=100000"]
    mutator = {"custom_mutator": changed} if target.is_json else {}
    atheris.Setup([sys.argv[0], *limits, *options], read, **mutator)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
