"""The figure of docs/research/calibration.md: what teams are worth, beside what is expected."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .measures import Decile

SIZE, MARGIN = 360, 48
COLOURS = ("#1b6ca8", "#c8553d", "#4f772d", "#8e5ea2", "#d19a1a", "#555555")
TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def figure(worlds: Mapping[str, Sequence[Decile]]) -> str:
    """Draw the deciles of each world as SVG; what is on the diagonal is as expected."""
    return "\n".join(_lines(worlds)) + "\n"


def _lines(worlds: Mapping[str, Sequence[Decile]]) -> Iterator[str]:
    end = MARGIN + SIZE
    whole = end + MARGIN
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {whole}"'
        ' font-family="sans-serif" font-size="12">'
    )
    yield f'<rect width="{whole}" height="{whole}" fill="white"/>'
    for tick in TICKS:
        x, y = _at(tick, tick)
        yield f'<path d="M{x} {MARGIN}V{end}M{MARGIN} {y}H{end}" stroke="#ddd"/>'
        yield f'<text x="{x}" y="{end + 16}" text-anchor="middle">{tick:.1f}</text>'
        yield f'<text x="{MARGIN - 6}" y="{y + 4}" text-anchor="end">{tick:.1f}</text>'
    yield f'<path d="M{MARGIN} {end}L{end} {MARGIN}" stroke="#888" stroke-dasharray="4"/>'
    for number, (name, groups) in enumerate(worlds.items()):
        colour = COLOURS[number % len(COLOURS)]
        for group in groups:
            x, y = _at(group.expected, group.worth)
            yield f'<circle cx="{x}" cy="{y}" r="4" fill="{colour}" fill-opacity="0.8"/>'
        y = MARGIN + 16 + 16 * number
        yield f'<circle cx="{MARGIN + 12}" cy="{y - 4}" r="4" fill="{colour}"/>'
        yield f'<text x="{MARGIN + 22}" y="{y}">{name}</text>'
    yield f'<text x="{whole / 2}" y="{whole - 8}" text-anchor="middle">expected to score</text>'
    yield (
        f'<text x="12" y="{whole / 2}" text-anchor="middle"'
        f' transform="rotate(-90 12 {whole / 2})">worth</text>'
    )
    yield "</svg>"


def _at(x: float, y: float) -> tuple[float, float]:
    return round(MARGIN + SIZE * x, 1), round(MARGIN + SIZE * (1 - y), 1)
