"""What a `Person` of a run is asked can be answered on the run's page."""

import asyncio
from pathlib import Path

import pytest
from aiohttp import ClientSession

from coterie.runtime.command.view import main
from coterie.runtime.view.run import RunSite
from coterie.runtime.view.server import PageServer

from ...support.commands import invoked
from ...webpage import Element, parsed
from .test_run_page import run_of

TEXT = "# Question\n\nShip it? </textarea><script>1</script>"


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with one open question and one that is answered."""
    run = run_of(tmp_path_factory.mktemp("waiting"), "yes")
    (run / "inbox").mkdir()
    for name in ("open", "closed"):
        (run / f"inbox/{name}.question.md").write_text(TEXT)
    (run / "inbox/closed.answer.txt").write_text("No.")
    return run


async def visited(run: Path, *forms: dict[str, str]) -> tuple[Element, list[tuple[int, str]]]:
    """Open the page of a run and send forms; give the page, and what came of each form."""
    sent: list[tuple[int, str]] = []
    async with (
        PageServer(site=RunSite(folder=run), source=run) as server,
        ClientSession() as client,
    ):
        async with client.get(server.address) as response:
            page = parsed(await response.text())
        (action,) = {form.attributes["action"] for form in page.all("form", method="post")}
        for form in forms:
            headers = {"Sec-Fetch-Site": form.pop("site", "same-origin")}
            address = f"http://127.0.0.1:{server.port}{action}"
            async with client.post(address, data=form, headers=headers) as response:
                sent.append((response.status, await response.text()))
    return page, sent


def test_the_page_asks_and_the_form_answers(waiting: Path) -> None:
    answers = [
        {"question": "open", "answer": "Yes.", "site": "cross-site"},
        {"question": "open", "answer": " \n"},
        {"question": "closed", "answer": "Yes."},
        {"question": "../team", "answer": "Yes."},
        {"question": "open", "answer": " Yes.\n"},
        {"question": "open", "answer": "No."},
    ]
    page, sent = asyncio.run(visited(waiting, *answers))
    (section,) = page.all("section", **{"aria-label": "A question to you"})
    assert section.one("pre").text == TEXT
    # What is answered leads back to the page.
    assert [status for status, _ in sent] == [
        403,
        409,
        409,
        409,
        200,
        409,
    ]  # 200: the page, without the question
    assert {path.name: path.read_text() for path in (waiting / "inbox").glob("*.txt")} == {
        "closed.answer.txt": "No.",
        "open.answer.txt": "Yes.",
    }


def test_an_inbox_that_leads_elsewhere_is_neither_read_nor_written(tmp_path: Path) -> None:
    run = run_of(tmp_path, "yes")
    (away := tmp_path / "away").mkdir()
    (away / "x.question.md").write_text("secret")
    (run / "inbox").symlink_to(away)
    shown = invoked(main, [str(run), "-o", str(tmp_path / "report.html")], "mas-view")
    assert (shown.code, "a link that leads out of its folder" in shown.err) == (2, True)
    assert [path.name for path in away.iterdir()] == ["x.question.md"]
