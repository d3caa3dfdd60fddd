"""What agents, tools and tasks wrote is text on a page, whatever it is."""

from pathlib import Path

import pytest

from coterie.runtime.command.view import main
from coterie.runtime.view import pages
from coterie.schema.values.terminal import visible

from ...attacks import hostile_run
from ...support.commands import invoked
from ...webpage import Element, parsed
from .test_run_page import TEAM, page_of, run_of

PAGES = Path(pages.__file__).with_name("pages")
HOSTILE = TEAM.replace("role: worker,", "role: '<script>window.hacked=1</script>',")

KNOWN = """
a article body caption dd del details div dl dt form g h1 h2 h3 h4 head header html i input ins
label li line link main marker meta meter noscript output p path pre rect script section span
strong style summary svg table tbody td text tfoot th thead title tr ul
"""
ATTRIBUTES = """
aria-current aria-hidden aria-label aria-labelledby autocomplete charset class content d data-tab
data-tabs for fill height hidden href http-equiv id lang markerheight markerwidth max min name open
orient placeholder pointer-events refx refy rel role rx scope stroke tabindex transform type value
viewbox width x x1 x2 y y1 y2 marker-end
"""
"""Elements and attributes that pages of runs have."""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> tuple[Element, str, list[str]]:
    """The page of a run made of attacks, its source, and the attacks."""
    run = tmp_path_factory.mktemp("hostile")
    attacks = hostile_run(run, HOSTILE)
    invoked(main, [str(run), "-o", str(run / "report.html")], "mas-view").ended(0)
    text = (run / "report.html").read_text(encoding="utf-8")
    return parsed(text), text, attacks


def test_a_hostile_run_adds_nothing_to_the_page(report: tuple[Element, str, list[str]]) -> None:
    page, _, _ = report
    assert len(page.all("article")) > 400
    assert {element.tag for element in page.all()} <= {*KNOWN.split()}
    assert {name for element in page.all() for name in element.attributes} <= {*ATTRIBUTES.split()}
    for name in ("script.js", "style.css"):
        text = (PAGES / name).read_text(encoding="utf-8")
        assert page.one(Path(name).stem).text == text


def test_addresses_of_a_hostile_run_stay_in_it(report: tuple[Element, str, list[str]]) -> None:
    page, _, _ = report
    ids = [element.attributes["id"] for element in page.all() if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    addresses = [element.attributes["href"] for element in page.all("a")]
    assert len(addresses) > 400
    assert {address[1:] for address in addresses} <= set(ids)
    assert all(address.startswith("#") for address in addresses)


def test_every_attack_is_there_to_be_read(report: tuple[Element, str, list[str]]) -> None:
    page, text, attacks = report
    assert len(attacks) >= 200
    written = {element.text for element in page.all("pre")}
    for attack in attacks:
        # Half a character, which a file cannot have, stands there by its number.
        seen = visible(attack.replace("\r\n", "\n"))
        assert seen in written, attack
        if "<" in attack:
            assert attack not in text, attack


def test_text_of_any_size_is_shown_in_part(tmp_path: Path) -> None:
    run = run_of(tmp_path, "7")
    events = (run / "events.jsonl").read_text()
    (run / "events.jsonl").write_text(
        events.replace('"text":"7"', f'"text":"{"<script>" * 100_000}"')
    )
    page = page_of(run)
    text = page.one(id="agent-worker").all("pre")[-2].text
    assert "characters left out; mas-view --text --full has them" in text
    assert text.startswith("<script><script>")
    assert len(text) < 60_000
