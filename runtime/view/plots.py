"""Figures for pages: points with intervals and lines, drawn by the server. Each needs its table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

WIDTH, HEIGHT = 1000, 300
LEFT, RIGHT, TOP, BOTTOM = 64, 20, 26, 40
"""The plot's size in pixels, and its margins."""
LABELS, ROW = 260, 26
"""The width of the names beside bars, and a row's height."""
LONGEST = 34
STEPS = (1, 2, 2.5, 5, 10)
MOST_TICKS = 6
LEAST = 1e-9
"""The smallest difference between numbers that an axis shows."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PlotPoint:
    """A point of a plot.

    Attributes:
        x: The position in the unit of the axis.
        low: The lower end of its interval; None if it has none.
        label: The text beside it; may be empty.
    """

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    tip: str = ""
    label: str = ""
    address: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Series:
    """Points of one series.

    Attributes:
        is_line: Whether a line joins the points, and a band joins their intervals.
        has_points: Whether the points are drawn with their intervals.
    """

    name: str
    points: Sequence[PlotPoint]
    is_line: bool = False
    has_points: bool = True


@dataclass(frozen=True, kw_only=True)
class Plot:
    """A plot with two axes; the macro `plotted` draws it.

    Attributes:
        y_range: The smallest range of the y axis.
    """

    caption: str
    x: str
    y: str
    series: Sequence[Series]
    y_range: tuple[float, float] | None = None
    width: int = field(default=WIDTH, init=False)
    height: int = field(default=HEIGHT, init=False)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not any(placed.points for placed in self.series)

    @property
    def drawn(self) -> Drawn:
        """The plot in pixels."""
        points = [point for placed in self.series for point in placed.points]
        ends = [end for point in points for end in (point.low, point.high) if end is not None]
        x = Scale.over([point.x for point in points], LEFT, WIDTH - RIGHT)
        heights = [*(point.y for point in points), *ends, *(self.y_range or ())]
        y = Scale.over(heights, HEIGHT - BOTTOM, TOP)
        return Drawn(
            x_ticks=[(x.at(tick), f"{tick:,.10g}") for tick in x.ticks],
            y_ticks=[(y.at(tick), f"{tick:,.10g}") for tick in y.ticks],
            left=LEFT,
            right=WIDTH - RIGHT,
            bottom=HEIGHT - BOTTOM,
            top=TOP,
            series=[_placed(number, placed, x, y) for number, placed in enumerate(self.series)],
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Drawn:
    """A plot in pixels."""

    x_ticks: Sequence[tuple[float, str]]
    y_ticks: Sequence[tuple[float, str]]
    left: float
    right: float
    bottom: float
    top: float
    series: Sequence[Placed]


@dataclass(frozen=True, kw_only=True, slots=True)
class Placed:
    """A series in pixels: paths through its points and around their intervals, and each point."""

    number: int
    name: str
    path: str
    band: str
    points: Sequence[tuple[float, float, float | None, float | None, PlotPoint]]


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps numbers to pixels."""

    low: float
    high: float
    start: float
    end: float
    step: float

    @classmethod
    def over(cls, numbers: Sequence[float], start: float, end: float) -> Scale:
        """Return a scale that covers the numbers and ends at round ones."""
        finite = [number for number in numbers if math.isfinite(number)] or [0.0]
        low, high = min(finite), max(finite)
        if high - low < max(LEAST, abs(high) * LEAST):
            room = max(abs(high), 1.0) / 2
            low, high = low - room, high + room
        step = _step(high - low)
        first, last = math.floor(low / step), math.ceil(high / step)
        return cls(first * step, last * step, start, end, step)

    @property
    def ticks(self) -> list[float]:
        """Round numbers on the axis."""
        first, last = round(self.low / self.step), round(self.high / self.step)
        return [round(self.step * number, 12) for number in range(first, last + 1)]

    def at(self, number: float) -> float:
        """Return the pixel of a number."""
        share = (number - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Bar:
    """A row of a bar chart: a name, a figure, and its interval."""

    name: str
    value: float
    low: float
    high: float
    label: str
    address: str = ""

    @property
    def short(self) -> str:
        """The name, shortened to the room for it."""
        if len(self.name) <= LONGEST:
            return self.name
        half = (LONGEST - 1) // 2
        return f"{self.name[:half]}…{self.name[-half:]}"


@dataclass(frozen=True, kw_only=True)
class Bars:
    """A chart of figures with intervals, one below the other; the macro `barred` draws it.

    Attributes:
        bars: The figures, in [0, 1].
    """

    caption: str
    bars: Sequence[Bar]
    width: int = field(default=WIDTH, init=False)

    @property
    def height(self) -> int:
        """The chart's height in pixels."""
        return 24 + ROW * len(self.bars) + 6

    @property
    def ticks(self) -> Sequence[tuple[float, str]]:
        """The grid lines."""
        return [(self.at(number / 4), f"{number / 4:g}") for number in range(5)]

    @property
    def rows(self) -> Sequence[tuple[int, float, float, float, Bar]]:
        """Each bar with the pixels of its row, its value, and the ends of its interval."""
        return [
            (24 + ROW * number, self.at(bar.value), self.at(bar.low), self.at(bar.high), bar)
            for number, bar in enumerate(self.bars)
        ]

    def at(self, share: float) -> float:
        """Return the pixel of a figure."""
        return round(LABELS + min(1.0, max(0.0, share)) * (WIDTH - RIGHT - LABELS), 1)


def _placed(number: int, series: Series, x: Scale, y: Scale) -> Placed:
    points = [
        (
            x.at(point.x),
            y.at(point.y),
            None if point.low is None else y.at(point.low),
            None if point.high is None else y.at(point.high),
            point,
        )
        for point in series.points
        if math.isfinite(point.x) and math.isfinite(point.y)
    ]
    lows = [(x, low) for x, _, low, _, _ in points if low is not None]
    highs = [(x, high) for x, _, _, high, _ in points if high is not None]
    return Placed(
        number=number,
        name=series.name,
        path=path_through([(x, y) for x, y, *_ in points]) if series.is_line else "",
        band=path_through([*highs, *reversed(lows)])
        if series.is_line and series.has_points
        else "",
        points=points if series.has_points else (),
    )


def path_through(places: Iterable[tuple[float, float]]) -> str:
    """Return the path through some points, in pixels."""
    return " ".join(f"{'L' if at else 'M'}{x} {y}" for at, (x, y) in enumerate(places))


def _step(span: float) -> float:
    """Return a round step that divides a span into few parts."""
    least = span / MOST_TICKS
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * step for step in STEPS if power * step >= least * (1 - 1e-9))
