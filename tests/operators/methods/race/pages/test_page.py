"""`mas-view` on a race: its page has the figures of race.json, and nothing foreign acts on it."""

import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coterie.operators.methods.race.result import Entrant, LastWord, RaceResult
from coterie.runtime.record.journal import Journal
from coterie.runtime.view import opened
from coterie.schema.values.errors import CoterieError
from coterie.schema.values.terminal import visible

from .....attacks import attacks
from .....sites import ELEMENTS, file_of, page_at, texts, visited
from .....webpage import Element
from .races import GOES_ON, RACE, write_race


def rows(page: Element, caption: str) -> list[list[str]]:
    """Return the texts of the rows of the table with this caption."""
    (table,) = (
        element for element in page.all("table") if element.one("caption").text.startswith(caption)
    )
    return [[cell.text.strip() for cell in row.inside] for row in table.one("tbody").inside]


def facts(page: Element) -> dict[str, str]:
    return dict(zip(texts(page, "dt"), texts(page, "dd"), strict=True))


def test_the_page_of_a_race_has_its_figures(tmp_path: Path) -> None:
    page = page_at(opened(write_race(tmp_path / "pool", RACE)), "")
    headline = "A better team: original 0.500, candidate 0.667, gain +0.167 [+0.050, +0.600], on 3"
    assert page.all("strong")[0].text.startswith(headline)
    assert facts(page) == {
        "Gain": "+0.167 [+0.050, +0.600]", "Held-back tasks": "3", "Leader": "candidate 1",
        "Candidates": "2", "Useless proposals": "3", "Runs": "12", "Tasks to race on": "3",
        "Calls": "30", "Tokens": "500", "Cost": "$0.2500",
    }  # fmt: skip
    assert rows(page, "What was spent") == [
        ["search", "20", "500", "$0.2000"],
        ["operators", "4", "0", "$0.0500"],
        ["last word", "6", "0", "free"],
    ]
    original, child, dropped = rows(page, "Expected mean score ± its")
    assert original[2:5] == ["4", "9", "0.400 ± 0.100"]
    assert "examples, of the original: Show two solved tasks." in child[1]
    assert "a: temperature 0 -> 0.5" in child[1]
    assert child[2:6] == ["6", "12", "0.700 ± 0.125", "-0.25 to +0.75"]
    assert ("leads" in child[6], child[7]) == (True, "12")
    assert "vote, of candidate 1" in dropped[1]
    assert (dropped[3], "behind" in dropped[6]) == ("7", True)
    assert rows(page, "Candidate 1 beside the original: means of one or two runs") == [
        ["h0", "✓ win", "0", "1"], ["h1", "✓ win", "0.5", "1"], ["h2", "✗ loss", "1", "0"],
    ]  # fmt: skip


def test_candidates_meet_the_original_task_by_task(tmp_path: Path) -> None:
    page = page_at(opened(write_race(tmp_path / "pool", RACE)), "")
    original, child, dropped = rows(page, "Win, tie or loss")
    assert original == ["0 the original", "", "", "", "0", "1", "0", "0.5", ""]
    assert child == ["1 examples", "2", "1", "1", "+", "=", "+", "−", "·", "·"]  # noqa: RUF001
    assert dropped == ["2 vote", "0", "1", "1", "=", "−", ""]  # noqa: RUF001
    signs = page.all("span", role="img")
    assert [sign.attributes["aria-label"] for sign in signs[:4]] == ["win", "tie", "win", "loss"]
    assert signs[3].attributes["title"] == "0, the original 0.5"
    assert rows(page, "Slots in their order") == [
        ["1", "t0", "0", "1", "1", ""],
        ["2", "t1", "1", "", "1", "1"],
        ["3", "t2", "0", "1", "", ""],
        ["4", "t0", "0.5", "", "", "1"],
        ["5", "t1", "", "", "", ""],
        ["6", "t2", "", "", "", ""],
    ]
    assert "0 0 1 0 1 2 2 1 0 1 1 1" in texts(page, "pre")


def test_beliefs_are_drawn_with_the_leader_marked(tmp_path: Path) -> None:
    page = page_at(opened(write_race(tmp_path / "pool", RACE)), "")
    figure = page.one("svg", role="group")
    assert [element.text for element in figure.all("text")] == [
        "★ 1 examples",
        "0 the original",
        "2 vote",
    ]
    table = rows(page, "Expected mean score ± 2")
    assert [len([cell for cell in row[1:] if cell]) for row in table] == [10, 9, 6]
    tips = [element.text.rpartition(": ")[2] for element in figure.all("title")]
    drawn = [tip.removesuffix(", leads") for tip in tips]
    figures = [cell.removeprefix("★ ") for row in table for cell in row[1:] if cell]
    assert sorted(drawn) == sorted(figures)
    leading = [element for element in figure.all("circle") if element.attributes["r"] == "5"]
    assert len(leading) == sum(tip.endswith("leads") for tip in tips) == len(table[0]) - 1
    assert table[1][-1].startswith("★ ")


def test_a_race_that_goes_on_has_a_page_that_follows_it(tmp_path: Path) -> None:
    first = replace(GOES_ON, entrants=(Entrant(number=0, scores=(None,)),), leader=0, slots=(0,))
    folder = write_race(tmp_path / "pool", first)
    site = opened(folder)
    assert "interrupted" in page_at(site, "").text
    with Journal.open(folder):
        page, before = page_at(site, ""), site.state
        assert "The race goes on." in page.all("strong")[0].text
        assert "not yet." in page.text
        assert "under way" in page.text
        GOES_ON.write(folder)
        assert before != site.state != ""
        assert len(rows(page_at(site, ""), "Win, tie or loss")) == 3


def test_the_pool_names_what_its_races_spent(tmp_path: Path) -> None:
    write_race(tmp_path / "pool", RACE)
    pages = visited(tmp_path / "pool")
    assert facts(pages[""])["Cost of evolutions"] == "$0.2500"
    assert rows(pages[""], "Evolutions")[0][:4] == ["race", "race", "✓ done", "8"]
    assert pages["evolutions/race"].one("a", href="/x/team/solo").text == "solo"
    assert "How beliefs closed" in texts(file_of(tmp_path / "pool"), "h2")


def test_a_race_of_attacks_is_text(tmp_path: Path) -> None:
    endless = itertools.cycle(attacks())
    attack = endless.__next__
    entrants = [
        Entrant(
            number=number,
            parent=number - 1 if number else None,
            kind=attack(),
            reason=attack(),
            edits=(attack(), attack(), attack()),
            scores=(0.5,),
            state=attack(),
            member=attack(),
        )
        for number in range(60)
    ]
    tasks = tuple(attack() for _ in range(60))
    word = LastWord(tasks=tasks, original=(0,) * 60, winner=(1,) * 60, low=0, high=1)
    race = RaceResult(
        entrants=tuple(entrants), tasks=tasks, slots=(*range(60),), leader=7, last_word=word,
        ended=attack(),
    )  # fmt: skip
    page = page_at(opened(write_race(tmp_path / "pool", race)), "")
    assert {element.tag for element in page.all()} <= ELEMENTS
    assert not any(name.startswith("on") for element in page.all() for name in element.attributes)
    for entrant in race.entrants[1:]:
        edits = visible("\n".join(entrant.edits).replace("\r\n", "\n"))
        assert any(edits in text for text in (element.text for element in page.all("pre")))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("leader",), 9),
        (("slots",), [0, 3]),
        (("entrants", 1, "parent"), 1),
        (("entrants", 2, "number"), 1),
        (("entrants", 2, "scores"), [1e200]),
        (("entrants",), []),
        (("tasks",), []),
        (("last_word", "winner"), [1]),
    ],
)
def test_odd_numbers_are_told(tmp_path: Path, path: tuple[str | int, ...], value: Any) -> None:
    folder = write_race(tmp_path / "pool", RACE)
    race = place = json.loads((folder / "race.json").read_text())
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    (folder / "race.json").write_text(json.dumps(race))
    with pytest.raises(CoterieError, match=r"race\.json: not what a race wrote there"):
        page_at(opened(folder), "")
