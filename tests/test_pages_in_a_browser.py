"""All kinds of pages in a real browser: for everybody, on any screen, and asking nobody."""

import asyncio
import json
import os
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from urllib.parse import quote

import axe_core_python
import pytest

from coterie.benchmarks.command import main as mas_bench
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.view import opened
from coterie.runtime.view.server import PageServer

from .browser import CHROMIUM, browser
from .operators.methods.evochamber.chamber import evolved, write_world
from .operators.methods.race.pages.races import RACE, write_race
from .runtime.view.test_run_page import ROUNDS, run_of
from .sites import visited
from .support.commands import invoked

AXE = (Path(axe_core_python.__file__).with_name("axe.min.js")).read_text(encoding="utf-8")
FINDINGS = """axe.run(document).then((found) => found.violations.map((one) =>
  [one.id, one.impact, one.nodes[0].html.slice(0, 200)]))"""

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="Chromium is not installed: apt-get install chromium"
)


def a_run(folder: Path) -> Path:
    answers = {"[judge]": ["7", "seven"], "[critic]": ["no", "yes"], "[worker]": ["5", "7"]}
    return run_of(folder, answers, ROUNDS)


def a_pool(folder: Path) -> Path:
    with chdir(write_world(folder, 8)):
        assert evolved("pool").code == 0
    write_race(folder / "pool", RACE, name="a-race")
    return folder / "pool"


def some_results(folder: Path) -> Path:
    tasks = [{"id": f"t{n}", "query": f"What is {n}?", "answer": f"{n % 3}"} for n in range(6)]
    (folder / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in tasks))
    for name in ("one", "two"):
        text = f'name: {name}\nagents:\n  a: {{prompt: "Be {name}."}}\n'
        (folder / f"{name}.yaml").write_text(text)
        with chdir(folder), ScriptedModel(lambda _: Reply(text="1")) as model:
            words = ["run", "tasks.jsonl", "--team", f"{name}.yaml", "--scorer", "number"]
            result = invoked(mas_bench, [*words, "--model", f"m@{model.api_base}"], "mas-bench")
        assert result.code == 0, result.err
    return folder / "results"


@pytest.mark.parametrize("make", [a_run, a_pool, some_results])
def test_every_page_is_for_everybody_fits_a_phone_and_asks_nobody(
    make: Callable[[Path], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nightly: bool
) -> None:
    monkeypatch.setenv("MAS_HOME", os.fspath(tmp_path))
    folder = make(tmp_path)
    addresses = [*visited(folder, 40 if nightly else 7)]
    assert len(addresses) >= (1 if make is a_run else 6)

    async def driven() -> None:
        async with (
            PageServer(site=opened(folder), source=folder) as server,
            browser(tmp_path / "profile") as tab,
        ):
            for address in addresses:
                for dark in (False, True) if nightly else (False,):
                    await tab.look(width=1100, height=900, dark=dark)
                    await tab.open(server.address + quote(address))
                    await tab.run(f"{AXE}; 0")
                    assert await tab.run(FINDINGS) == [], (address, dark)
                await tab.look(width=390, height=800)
                assert await tab.run("document.documentElement.scrollWidth") <= 390, address
            ours = (f"http://127.0.0.1:{server.port}/", "data:image/svg+xml,", "about:")
            assert [request for request in tab.requests if not request.startswith(ours)] == []
            assert tab.troubles == []

    asyncio.run(asyncio.wait_for(driven(), 300))
