"""Compares what an arena's table says of its cost with the journals of its cells, to the token.

The journals are read here without any code that makes the table.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coterie.runtime.record.journal import recorded
from coterie.runtime.runs.record import read_value
from coterie.runtime.values.caps import Caps
from coterie.schema.command import Command
from coterie.schema.values.yaml_text import read_yaml

from ..simulated import head, row

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

TEST = "held out/"
"""What the journal's paths of a test begin with."""
PARTS = ("learning", "testing")


@dataclass(frozen=True, kw_only=True, slots=True)
class Audit:
    """A cell by its journal.

    Attributes:
        tokens: The tokens of learning and of testing.
        calls: The calls.
        lost: Calls that were broken off; what they may have cost counts.
        problems: Where the cell passes its cap, differs from the table, or paid an answer twice.
    """

    tokens: Counter[str]
    calls: Counter[str]
    lost: int
    problems: tuple[str, ...]


def audit(folder: Path, cell: Mapping[str, Any], caps: Mapping[str, Caps]) -> Audit:
    """Compare a cell of arena.json with its journal.

    Args:
        folder: The results.
        caps: What learning and testing might consume.
    """
    place = folder / cell["folder"] / "evolutions" / "cell"
    sums: dict[str, Counter[str]] = {part: Counter() for part in PARTS}
    paid = Counter[str]()
    lost = 0
    for path, attempt in recorded(place, "attempt"):
        usage, is_settled = attempt["usage"], attempt["state"] == "settled"
        sums["testing" if path.startswith(TEST) else "learning"].update(_counts(usage))
        lost += not is_settled
        if is_settled:
            paid[path.removesuffix("/attempts")] += usage["calls"]
    answered = Counter[str]()  # of all questions of a path: a run without an agent asks others
    for path, value in recorded(place, "model"):
        answered[path] += value["usage"]["calls"]
    return Audit(
        tokens=Counter({part: sums[part]["tokens"] for part in PARTS}),
        calls=Counter({part: sums[part]["calls"] for part in PARTS}),
        lost=lost,
        problems=(
            *_against_the_table(cell, sums),
            *_over(sums, caps),
            *(f"paid twice: {path}" for path in answered if paid[path] > answered[path]),
        ),
    )


def _counts(usage: Mapping[str, int]) -> dict[str, int]:
    tokens = usage["prompt_tokens"] + usage["completion_tokens"]
    return {"calls": usage["calls"], "tokens": tokens}


def _against_the_table(
    cell: Mapping[str, Any], sums: Mapping[str, Mapping[str, int]]
) -> Iterator[str]:
    for part in PARTS:
        for unit in ("calls", "tokens"):
            if cell[part][unit] != sums[part][unit]:
                yield f"{part}: the table has {cell[part][unit]} {unit}, not {sums[part][unit]}"


def _over(sums: Mapping[str, Mapping[str, int]], caps: Mapping[str, Caps]) -> Iterator[str]:
    for part, cap in caps.items():
        for unit, most in cap.value().items():
            if unit in sums[part] and sums[part][unit] > most:
                yield f"{part}: {sums[part][unit]} {unit} of {most}"


@click.command(cls=Command)
@click.argument("arena", type=click.Path(exists=True, path_type=Path))
@click.argument("results", type=click.Path(exists=True, file_okay=False, path_type=Path))
def main(arena: Path, results: Path) -> None:
    """Compare RESULTS of ARENA with the journals; the exit code is 1 where they differ."""
    written = read_yaml(arena.read_bytes(), str(arena))[0].value
    texts = written["cap"], written.get("test_cap", written["cap"])
    caps = {part: Caps.parse(text) for part, text in zip(PARTS, texts, strict=True)}
    cells = read_value(results / "arena.json")["cells"]
    audits = [audit(results, cell, caps) for cell in cells]
    click.echo(
        "\n".join(head("", "calls", "most of a cell", "cap", "tokens", "tokens in the table"))
    )
    for part, text in zip(PARTS, texts, strict=True):
        calls = [each.calls[part] for each in audits]
        tokens = sum(each.tokens[part] for each in audits)
        table = sum(cell[part]["tokens"] for cell in cells)
        counts = (f"{count:,}" for count in (sum(calls), max(calls, default=0)))
        click.echo(row(part, *counts, text, f"{tokens:,}", f"{table:,}"))
    click.echo(f"\n{len(cells)} cells, {sum(each.lost for each in audits)} calls broken off")
    problems = [f"{_name(cell)}: {text}" for cell, each in zip(cells, audits, strict=True)
                for text in each.problems]  # fmt: skip
    click.echo("\n".join(problems or ["no cell passes its cap, and no answer was paid twice"]))
    raise SystemExit(bool(problems))


def _name(cell: Mapping[str, Any]) -> str:
    return f"{cell['method']}, {cell['stream']}, seed {cell['seed']}"


if __name__ == "__main__":
    main()
