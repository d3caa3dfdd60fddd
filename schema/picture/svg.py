"""A team as a picture for any browser: self-contained, for light and dark pages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from xml.sax.saxutils import escape

from ..team.team import Agent, Team
from ..team.words import one_line, terms, totals, works
from .layout import Arrangement, Slot, Spacing, arrange

# All measures are in pixels.
PAGE = 1080
"""The width that fits most pages."""
MARGIN, HEADER = 28, 46
HEIGHT, LINE, INDENT = 64, 17, 18
"""The height of a box, the height of its lines of text, and their indentation."""
SIDE_GAP, LANE = 16, 10
"""The gap between neighbours on a level, and the width of a lane for passing edges."""
NAME_SIGN, ID_SIGN, SIGN = 9.1, 7.9, 6.5
"""The width of a character in each text size, a little more than common fonts need."""
LONGEST_ID, LONGEST_LINE = 28, 34
"""The maximum characters shown of an id and of a smaller line; the tooltip has all."""

COLORS = {
    "llm": "indigo",
    "function": "teal",
    "person": "amber",
    "smolagents": "amber",
    "mini-swe-agent": "rose",
    "swe-agent": "rose",
}
STYLE = """\
  .page { fill: #fcfcfd; stroke: #e4e7ec }
  .box { fill: #ffffff; stroke: #cfd6e0 }
  .output .box { fill: #eef2ff; stroke: #6366f1; stroke-width: 2 }
  .edge { fill: none; stroke: #8b98ab; stroke-width: 1.2; stroke-opacity: .55 }
  .tip { fill: #8b98ab }
  .indigo { fill: #818cf8 } .teal { fill: #2dd4bf } .amber { fill: #fbbf24 }
  .rose { fill: #fb7185 } .grey { fill: #94a3b8 }
  text { fill: #5b6778; font: 11px system-ui, "Segoe UI", "DejaVu Sans", sans-serif }
  .name, .id { fill: #1b2433; font-family: Menlo, Consolas, "DejaVu Sans Mono", monospace }
  .name { font-size: 15px; font-weight: bold }
  .id { font-size: 13px }
  .answer { fill: #4f46e5; text-anchor: end }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0f141b; stroke: #2a3340 }
    .box { fill: #1a212b; stroke: #3a4656 }
    .output .box { fill: #23264a; stroke: #818cf8 }
    .edge { stroke: #7d8ca2; stroke-opacity: .7 }
    .tip { fill: #7d8ca2 }
    text { fill: #a3afbf }
    .name, .id { fill: #eef2f7 }
    .answer { fill: #a5b4fc }
  }"""
TIP = (
    '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"'
    ' orient="auto"><path class="tip" d="M0 .8 8 4 0 7.2 2 4Z"/></marker>'
)
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
    """A page's mark on an agent.

    Attributes:
        words: Its state: `✓ done`. It replaces the description of how the agent works.
        kind: The state as a class of the page's style: `good`.
    """

    words: str
    kind: str
    address: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Label:
    """The text of a box: an agent's id and lines below it. `output` marks the team's answer."""

    id: str
    lines: tuple[str, ...]
    tooltip: str
    color: str
    output: bool
    mark: Mark | None = None

    @property
    def width(self) -> float:
        """The width of the box."""
        first = _signs(self.id) * ID_SIGN + (8 * SIGN if self.output else 0)
        texts = (first, *(_signs(line) * SIGN for line in self.lines))
        return round(max(90, *texts) + INDENT + 16)


@dataclass(frozen=True, kw_only=True, slots=True)
class Frame:
    """Converts positions along and across the levels to positions on the page.

    Attributes:
        arrangement: The agents' positions across their levels.
        downwards: Whether the levels run downwards, not to the right.
        between: The gap between two levels.
    """

    arrangement: Arrangement
    downwards: bool
    box: float
    between: float

    @property
    def depth(self) -> float:
        """The size of a box along the levels."""
        return HEIGHT if self.downwards else self.box

    def start(self, level: int) -> float:
        """Return the position where a level begins."""
        return level * (self.depth + self.between)

    def point(self, along: float, across: float) -> tuple[float, float]:
        """Return x and y on the page."""
        x, y = (across, along) if self.downwards else (along, across)
        return round(MARGIN + x, 1), round(MARGIN + HEADER + y, 1)

    def corner(self, slot: Slot) -> tuple[float, float]:
        """Return the upper left corner of an agent's box."""
        breadth = self.box if self.downwards else HEIGHT
        return self.point(self.start(slot.level), self.arrangement.centers[slot] - breadth / 2)


def draw(team: Team) -> str:
    """Draw a team as SVG: boxes on their levels, curves from senders to receivers."""
    labels = _labels(team, {})
    frame = _frame(team, labels)
    head = _head(team, *_size(team, frame))
    return "\n".join([*head, *_edges(frame), *_boxes(frame, labels), "</svg>", ""])


def draw_marked(
    team: Team, marks: Mapping[str, Mark], carried: Container[tuple[str, str]], *, tip: str
) -> str:
    """Draw a team for a page with its own style: the state of agents, and the edges in use.

    Args:
        marks: The marks of agents, by their ids; the words appear in the picture too.
        carried: The edges, from sender to receiver, that carried a report.
        tip: The page's id of the arrow tip.
    """
    labels = _labels(team, marks)
    frame = _frame(team, labels)
    # The page shows the team's name, so only the header's upper margin remains.
    width, height = _size(team, frame)
    view = f'viewBox="0 {HEADER} {width:g} {height - HEADER:g}" width="{width:g}"'
    lines = (
        f'<svg {view} role="group" aria-label="{_text(totals(team))}">',
        TIP.replace('id="tip"', f'id="{tip}"'),
        *(edge.replace("url(#tip)", f"url(#{tip})") for edge in _edges(frame, carried, team)),
        *_boxes(frame, labels),
        "</svg>",
    )
    return "\n".join(lines)


def _size(team: Team, frame: Frame) -> tuple[float, float]:
    """Return the size of the page: the graph and the title above it, with margins."""
    end = frame.start(len(team.levels)) - frame.between
    right, bottom = frame.point(end, frame.arrangement.extent)
    title = max(_signs(team.name) * NAME_SIGN, _signs(totals(team)) * SIGN)
    return max(right, MARGIN + title) + MARGIN, bottom + MARGIN


def _head(team: Team, width: float, height: float) -> Iterator[str]:
    size = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    name, inner = _text(team.name), f'width="{width - 1:g}" height="{height - 1:g}"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
    yield f"<title>{name}: {totals(team)}</title>"
    yield f"<desc>{_text(team.description)}</desc>"
    yield f"<style>\n{STYLE}\n</style>"
    yield TIP
    yield f'<rect class="page" x=".5" y=".5" {inner} rx="14"/>'
    yield f'<text class="name" x="{MARGIN}" y="34">{name}</text>'
    yield f'<text x="{MARGIN}" y="52">{totals(team)}</text>'


def _labels(team: Team, marks: Mapping[str, Mark]) -> Mapping[str, Label]:
    output = team.output
    return {
        agent.id: _label(team, agent, agent.id == output, marks.get(agent.id))
        for agent in team.agents.values()
    }


def _label(team: Team, agent: Agent, output: bool, mark: Mark | None) -> Label:
    below = (works(team, agent), *terms(agent)) if mark is None else (mark.words,)
    lines = filter(None, (one_line(agent.role), *below))
    return Label(
        id=_without_middle(agent.id),
        lines=tuple(map(_without_end, lines)),
        tooltip=": ".join(filter(None, (agent.id, one_line(agent.role)))),
        color=COLORS.get(team.backend_of(agent), "grey"),
        output=output,
        mark=mark,
    )


def _frame(team: Team, labels: Mapping[str, Label]) -> Frame:
    """Arrange the levels side by side if that fits a page or takes less room, else downwards."""
    box = max(label.width for label in labels.values())
    levels, most = len(team.levels), max(map(len, team.levels))
    # The more agents a level has, the more room the curves between need.
    between = min(36 + 8 * most, 100)
    rightwards = levels * (box + between) - between + 2 * MARGIN
    downwards = rightwards > max(PAGE, most * (box + SIDE_GAP) + 2 * MARGIN)
    spacing = Spacing(box=box if downwards else HEIGHT, lane=LANE, gap=SIDE_GAP)
    return Frame(arrangement=arrange(team, spacing), downwards=downwards, box=box, between=between)


def _edges(
    frame: Frame, carried: Container[tuple[str, str]] = (), team: Team | None = None
) -> Iterator[str]:
    sending = {edge[0] for edge in (team.edges if team else ()) if edge in carried}
    for upper, lower in frame.arrangement.links:
        # The edges of one agent share the pieces that pass a level.
        is_used = (
            upper.agent_id in sending
            if lower.passing
            else (upper.agent_id, lower.agent_id) in carried
        )
        kind = "edge carried" if is_used else "edge"
        end = frame.start(lower.level)
        begin, middle = end - frame.between, end - frame.between / 2
        here, there = frame.arrangement.centers[upper], frame.arrangement.centers[lower]
        way = _points(frame, (begin, here), (middle, here), (middle, there), (end, there))
        curve = f"M{way[0]}C{' '.join(way[1:])}"
        if lower.passing:
            [beyond] = _points(frame, (end + frame.depth, there))
            yield f'<path class="{kind}" d="{curve}L{beyond}"/>'
        else:
            yield f'<path class="{kind}" marker-end="url(#tip)" d="{curve}"/>'


def _points(frame: Frame, *places: tuple[float, float]) -> list[str]:
    return ["{:g} {:g}".format(*frame.point(*place)) for place in places]


def _boxes(frame: Frame, labels: Mapping[str, Label]) -> Iterator[str]:
    for slot in frame.arrangement.centers:
        if not slot.passing:
            x, y = frame.corner(slot)
            label = labels[slot.agent_id]
            kind = "output" if label.output else "agent"
            if label.mark is not None:
                kind += f" state-{label.mark.kind}"
                yield f'<a href="{_text(label.mark.address)}">'
            yield f'<g class="{kind}" transform="translate({x:g} {y:g})">'
            yield from _box(label, frame.box)
            yield "</g>" if label.mark is None else "</g></a>"


def _box(label: Label, width: float) -> Iterator[str]:
    top = (HEIGHT - LINE * len(label.lines)) / 2 + 5
    yield f"<title>{_text(label.tooltip)}</title>"
    yield f'<rect class="box" width="{width:g}" height="{HEIGHT}" rx="10"/>'
    yield f'<rect class="{label.color}" x="8" y="12" width="3" height="{HEIGHT - 24}" rx="1.5"/>'
    yield f'<text class="id" x="{INDENT}" y="{top:g}">{_text(label.id)}</text>'
    for number, line in enumerate(label.lines, 1):
        is_state = label.mark is not None and number == len(label.lines)
        kind = ' class="state"' if is_state else ""
        yield f'<text{kind} x="{INDENT}" y="{top + LINE * number:g}">{_text(line)}</text>'
    if label.output:
        yield f'<text class="answer" x="{width - 12:g}" y="{top:g}">answer</text>'


def _without_middle(agent_id: str) -> str:
    """Shorten an id in its middle: ids differ most at their ends."""
    half = LONGEST_ID // 2
    if len(agent_id) <= LONGEST_ID:
        return agent_id
    return f"{agent_id[: half - 1]}…{agent_id[-half:]}"


def _without_end(line: str) -> str:
    if _signs(line) <= LONGEST_LINE:
        return line
    while _signs(line) >= LONGEST_LINE:
        line = line[:-1]
    return f"{line.rstrip()}…"


def _signs(text: str) -> int:
    """Return the columns of a text; a Chinese character takes two."""
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)


def _text(text: str) -> str:
    return escape(_NOT_XML.sub("\ufffd", text))
