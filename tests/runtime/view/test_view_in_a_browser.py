"""The pages in a real browser: what works with a script, and that nothing else of them runs."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from coterie.runtime.command.view import main
from coterie.runtime.record.journal import Journal
from coterie.runtime.view import opened
from coterie.runtime.view.server import PageServer

from ...attacks import hostile_run
from ...browser import CHROMIUM, Tab, browser
from ...support.commands import invoked
from .test_pages_hostile import HOSTILE
from .test_run_page import ROUNDS, run_of

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(
        CHROMIUM is None, reason="Chromium is not installed: apt-get install chromium"
    ),
]


EVERYTHING = """(async () => {
  for (const one of document.querySelectorAll("details")) one.open = true;
  for (const one of document.querySelectorAll("button")) one.click();
  for (const one of document.querySelectorAll("*")) {
    for (const kind of ["mouseover", "focus", "toggle", "error", "load", "animationstart", "begin"])
      one.dispatchEvent(new Event(kind));
  }
  for (const one of [...document.querySelectorAll("a[href^='#']")].slice(0, 100))
    one.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
  const search = document.getElementById("search");
  search.value = "<script>";
  search.dispatchEvent(new Event("input", { bubbles: true }));
  await new Promise((done) => setTimeout(done, 1500));
  return [window.hacked === undefined, document.scripts.length, document.images.length];
})()"""
"""Opens, presses, hovers over and follows all there is."""


def drive(
    folder: Path, run: Path, act: Callable[[Tab, PageServer], Awaitable[None]], pause: float = 0.05
) -> None:
    async def main() -> None:
        async with (
            PageServer(site=opened(run), source=run, pause=pause) as server,
            browser(folder / "profile") as tab,
        ):
            await act(tab, server)
            ours = (f"http://127.0.0.1:{server.port}/", "file:", "data:image/svg+xml,", "about:")
            assert [request for request in tab.requests if not request.startswith(ours)] == []

    asyncio.run(asyncio.wait_for(main(), 300))


def test_nothing_of_a_hostile_run_runs_or_asks_for_anything(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    assert len(hostile_run(run, HOSTILE)) >= 200
    file = tmp_path / "report.html"
    assert invoked(main, [str(run), "-o", str(file)], "mas-view").code == 0

    async def act(tab: Tab, server: PageServer) -> None:
        for address in (server.address, file.as_uri()):
            await tab.open(address)
            assert await tab.run("document.querySelectorAll('article').length") > 400
            assert await tab.run(EVERYTHING) == [True, 1, 0]
            assert tab.troubles == []
            assert "found" in await tab.run("document.getElementById('found').textContent")

    drive(tmp_path, run, act)


def test_search_tabs_links_and_copying_work_and_it_fits_a_phone(tmp_path: Path) -> None:
    answers = {
        "[judge]": ["7", "seven"],
        "[critic]": ["no", "needle " * 900],
        "[worker]": ["5", "7"],
    }
    run = run_of(tmp_path, answers, ROUNDS)

    async def act(tab: Tab, server: PageServer) -> None:
        await tab.look(width=390, height=800)
        await tab.open(server.address)
        assert await tab.run("document.documentElement.scrollWidth") <= 390
        hidden = "[...document.querySelectorAll('[data-tab]')].map((one) => one.hidden)"
        assert await tab.run(hidden) == [True, False]
        await tab.run("document.querySelector('[role=tab]').click()")
        assert await tab.run(hidden) == [False, True]
        critic = "document.getElementById('agent-critic').open"
        assert await tab.run(critic) is False
        await tab.run("location.hash = '#agent-critic'")
        await tab.until(critic)
        await tab.run(
            """{const one = document.getElementById("search"); one.value = "needle";
            one.dispatchEvent(new Event("input"))}"""
        )
        await tab.until("document.getElementById('found').textContent.endsWith(' found')")
        judge = "document.getElementById('agent-judge').classList.contains('unmatched')"
        assert await tab.run(judge) is False  # it was shown what the critic said
        await tab.run(
            """document.getElementById("search").dispatchEvent(
            new KeyboardEvent("keydown", { key: "Enter", bubbles: true }))"""
        )
        assert (await tab.run("document.getElementById('found').textContent")).startswith("1 of ")
        assert await tab.run("getSelection().toString()") == "needle"
        buttons = await tab.run("document.querySelectorAll('.copy').length")
        assert buttons == await tab.run("document.querySelectorAll('pre.text').length") > 10
        assert tab.troubles == []

    drive(tmp_path, run, act)


def test_a_live_page_follows_the_run_and_keeps_what_was_opened(tmp_path: Path) -> None:
    done = run_of(tmp_path, "7")
    lines = (done / "events.jsonl").read_text().splitlines(keepends=True)
    run = tmp_path / "live"
    run.mkdir()
    for name in ("team.yaml", "task.json", "run.json"):
        (run / name).write_bytes((done / name).read_bytes())
    (run / "events.jsonl").write_text("".join(lines[:3]))
    journal = Journal.open(run, replaying=False)  # a process is at work

    def happens(more: list[str]) -> None:
        with (run / "events.jsonl").open("a") as events:
            events.write("".join(more))

    async def act(tab: Tab, server: PageServer) -> None:
        await tab.open(server.address)
        badge = "document.querySelector('.badge').textContent"
        assert await tab.run(badge) == "▶ under way"
        await tab.run("document.getElementById('agent-critic').open = false")
        happens(lines[3:-1])
        await tab.until("document.querySelectorAll('article.says').length === 3")
        assert await tab.run("document.getElementById('agent-critic').open") is False
        assert await tab.run("document.getElementById('live').textContent") == "live"
        journal.close()  # killed: nobody writes down how it ended
        await tab.until(f"{badge} === '✗ killed'")
        assert await tab.run("document.getElementById('live').textContent") == "ended"
        assert tab.troubles == []

    drive(tmp_path, run, act)
