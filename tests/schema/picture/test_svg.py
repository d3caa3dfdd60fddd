from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from coterie.schema.picture import draw

if TYPE_CHECKING:
    from coterie.schema import Team

SVG = "{http://www.w3.org/2000/svg}"


@dataclass(frozen=True)
class Box:
    x: float
    y: float
    width: float
    height: float
    texts: tuple[str, ...]

    def overlaps(self, other: Box) -> bool:
        apart = self.x + self.width <= other.x or other.x + other.width <= self.x
        return not (apart or self.y + self.height <= other.y or other.y + other.height <= self.y)


def parsed(picture: str) -> ET.Element:
    return ET.fromstring(picture)  # noqa: S314 - our own picture


def boxes(picture: str) -> list[Box]:
    result: list[Box] = []
    for group in parsed(picture).iter(f"{SVG}g"):
        place = re.fullmatch(r"translate\((\S+) (\S+)\)", group.attrib["transform"])
        assert place
        rect = next(group.iter(f"{SVG}rect")).attrib
        result.append(
            Box(
                x=float(place[1]),
                y=float(place[2]),
                width=float(rect["width"]),
                height=float(rect["height"]),
                texts=tuple(text.text or "" for text in group.iter(f"{SVG}text")),
            )
        )
    return result


def test_every_agent_has_a_box_of_its_own_on_the_page(team: Team) -> None:
    picture = draw(team, "svg")
    page = parsed(picture).attrib
    drawn = boxes(picture)
    assert len(drawn) == len(team.agents)
    assert not any(item.overlaps(other) for item, other in combinations(drawn, 2))
    for box in drawn:
        assert 0 <= box.x <= float(page["width"]) - box.width
        assert 0 <= box.y <= float(page["height"]) - box.height


def test_a_box_says_id_role_and_model(vote: Team) -> None:
    texts = [box.texts for box in boxes(draw(vote, "svg"))]
    assert texts[0] == ("worker_1", "worker", "LLM · default")
    assert texts[-1] == ("aggregator", "vote", "Function majority", "answer")


def test_every_edge_of_neighbouring_levels_is_a_curve_with_a_tip(debate: Team) -> None:
    assert draw(debate, "svg").count("url(#tip)") == 78


def test_an_edge_that_passes_a_level_runs_around_its_boxes(skipping: Team) -> None:
    picture = draw(skipping, "svg")
    ways = re.findall(r'd="M\S+ \S+C[^"L]*L(\S+) (\S+)"', picture)
    assert len(ways) == 3
    for x, y in ((float(x), float(y)) for x, y in ways):
        assert not any(
            box.x <= x <= box.x + box.width and box.y <= y <= box.y + box.height
            for box in boxes(picture)
        )


def test_only_the_output_is_highlighted(debate: Team) -> None:
    groups = list(parsed(draw(debate, "svg")).iter(f"{SVG}g"))
    output = [group for group in groups if group.get("class") == "output"]
    assert [next(group.iter(f"{SVG}title")).text for group in output] == ["moderator: moderator"]


def test_it_needs_nothing_from_elsewhere_and_runs_nothing(team: Team) -> None:
    picture = draw(team, "svg")
    assert re.findall(r"https?://[^\"\s]+", picture) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"<script|@import|@font-face|href|\bon\w+=", picture)


def test_text_is_escaped_and_signs_that_xml_cannot_hold_are_replaced(hostile: Team) -> None:
    root = parsed(draw(hostile, "svg"))
    title = next(next(root.iter(f"{SVG}g")).iter(f"{SVG}title")).text or ""
    assert 'end: a "quoted" <b>role</b> &amp; #1;' in title
    assert title.endswith("日本語 \ufffd")


def test_long_texts_are_shortened_in_the_box_and_whole_in_the_tooltip(hostile: Team) -> None:
    picture = draw(hostile, "svg")
    last = next(box for box in boxes(picture) if "answer" in box.texts)
    assert last.texts[0] == "o" + "x" * 12 + "…" + "x" * 14
    assert f"<title>graph: {'x' * 200}</title>" in picture
    assert all(box.width < 320 for box in boxes(picture))


def test_a_wide_script_is_given_the_room_that_it_takes(chain: Team) -> None:
    def width(role: str) -> float:
        agents = {key: replace(agent, role=role) for key, agent in chain.agents.items()}
        return boxes(draw(replace(chain, agents=agents), "svg"))[0].width

    assert width("翻" * 14) == width("x" * 28) > width("x" * 14)


@pytest.mark.parametrize(
    ("name", "downwards"), [("vote", False), ("debate", False), ("chain", True)]
)
def test_levels_follow_each_other_sideways_where_a_page_has_room(
    name: str, downwards: bool, request: pytest.FixtureRequest
) -> None:
    team: Team = request.getfixturevalue(name)
    first, last = boxes(draw(team, "svg"))[0], boxes(draw(team, "svg"))[-1]
    assert (last.x == first.x) is downwards
