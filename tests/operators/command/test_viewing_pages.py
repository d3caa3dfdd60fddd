"""`mas-view` on pools and evolutions: the pages say what the ledger and the turns say."""

import itertools
import json
import signal
import time
from pathlib import Path
from urllib.request import urlopen

import pytest

from coterie.operators.pages import PoolSite, open_pool
from coterie.pool import Pool, Trial
from coterie.pool.ledger.changes import ChildRejected, Evaluated, Learnt, Retired
from coterie.runtime.command.view import main as mas_view
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.doubles.script import Request
from coterie.runtime.record.journal import Journal
from coterie.runtime.view import NoPage, opened
from coterie.schema import Agent, Lineage, Team
from coterie.schema.values.terminal import visible

from ...attacks import attacks
from ...sites import ELEMENTS, file_of, page_at, texts, visited
from ...support.commands import invoked, started
from ...webpage import Element
from ..evolving import asked
from ..methods.evochamber.chamber import evolved, write_world
from .conftest import Lab, thinking

EVOLUTION = "evolutions/recipe"


def facts(page: Element) -> dict[str, str]:
    return dict(zip(texts(page, "dt"), texts(page, "dd"), strict=True))


def first_column(page: Element, caption: str) -> list[str]:
    """Return the first column of the table of a caption."""
    table = next(
        element for element in page.all("table") if element.one("caption").text.startswith(caption)
    )
    return texts(table.one("tbody"), "th")


def test_every_page_of_an_evolved_pool_holds_and_says_what_its_files_say(lab: Lab) -> None:
    lab.evolved(3)
    folder = lab.folder / "pool"
    pool, turns = Pool.open(folder), lab.turns()
    pages = visited(folder)
    assert facts(pages[""])["Teams"] == str(len(pool.members))
    trials = [item for item in lab.ledger() if item["kind"] in {"evaluated", "failed"}]
    assert facts(pages[""])["Trials"] == str(len(trials))
    assert sorted(first_column(pages["teams"], "")) == sorted(pool.teams)
    assert first_column(pages["lineage"], "Teams and agents in the order") == [*pool.teams]
    assert len(pages["lineage"].all("g", class_="row")) == len(pool.teams)
    for name, member in pool.teams.items():
        page = pages[f"team/{name}"]
        assert member.path.read_text().rstrip() in [text.rstrip() for text in texts(page, "pre")]
        own = [trial["task"] for trial in trials if trial["team"] == name]
        shown = [
            row.all("td")[0].text
            for table in page.all("table")
            if table.one("caption").text.startswith("Its trials")
            for row in table.one("tbody").all("tr")
        ]
        assert shown == own
    evolution = pages[EVOLUTION]
    assert first_column(evolution, f"{len(turns)} tasks") == [turn["task"] for turn in turns]
    for number, line in enumerate(turns):
        page = pages[f"{EVOLUTION}/task/{number}"]
        assert len(page.all("article", class_="card")) == len(line["candidates"])
        assert facts(page)["Score"] == f"{line['score']:g}"
        for candidate in line["candidates"]:
            run = pages[f"{EVOLUTION}/run/{number}/candidate {candidate['number']}"]
            assert TASK_0 in run.text or number


TASK_0 = "What is 0 + 7?"


def test_the_folder_of_an_evolution_shows_it_first(lab: Lab) -> None:
    lab.evolved(2)
    page = page_at(opened(lab.folder / "pool" / EVOLUTION), "")
    assert page.all("h1")[0].text == "Evolution recipe"
    assert facts(page)["Tasks"] == "2 of 2"
    assert "no score on unseen tasks" in page.text


def test_two_teams_are_compared_in_words(lab: Lab) -> None:
    lab.evolved(2)
    page = page_at(opened(lab.folder / "pool"), "compare/solo/solo_1")
    assert "one: prompt You are alone. -> Think." in page.all("pre")[0].text
    assert len(page.all("svg")) == 2
    other = page_at(opened(lab.folder / "pool"), "compare/solo")
    assert sorted(first_column(other, "With which team?")) == ["pair", "solo_1"]


def test_a_pool_is_one_file_whose_links_lead_to_itself(lab: Lab) -> None:
    lab.evolved(3)
    page = file_of(lab.folder / "pool")
    titles = texts(page, "h1")
    assert [*titles] == [
        "Pool pool", "Teams", "Lineage", "Memory", "Evolution recipe",
    ]  # fmt: skip


def test_a_population_shows_who_taught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write_world(tmp_path, 2))
    monkeypatch.setenv("MAS_HOME", str(tmp_path))
    assert evolved("pool").code == 0
    pool = Pool.open(tmp_path / "pool")
    pages = visited(tmp_path / "pool", most=60)
    names = [
        name.removesuffix(" (retired)") for name in first_column(pages["population"], "Agents")
    ]
    assert sorted(names) == sorted(pool.all_agents)
    assert {f"agent/{name}" for name in pool.all_agents} <= pages.keys()
    assert len(pages["memory"].all("article")) == min(100, len(pool.learnt))
    entry = next(iter(pool.learnt.values()))
    assert entry.text in texts(
        page_at(opened(tmp_path / "pool"), f"memory/kind {entry.kind}/1"), "pre"
    )


def test_an_empty_pool_says_what_to_do(tmp_path: Path) -> None:
    Pool.init(tmp_path / "pool")
    pages = visited(tmp_path / "pool")
    assert "It has no team. Add some with mas-pool import." in pages[""].text
    assert "Nothing was learnt yet." in pages["memory"].text


def spoil(path: Path) -> None:
    """Change a line that is not the last one."""
    first, *others = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([first.replace(b":", b";", 1), *others]))


@pytest.mark.damaged_pool
@pytest.mark.parametrize(
    ("name", "message"),
    [("ledger.jsonl", "checksum"), (f"{EVOLUTION}/turns.jsonl", "checksum"), ("teams", "missing")],
)
def test_damage_is_a_sentence(lab: Lab, name: str, message: str) -> None:
    lab.evolved(2)
    path = lab.folder / "pool" / name
    if path.is_dir():
        path.rename(path.with_name("gone"))
    else:
        spoil(path)
    result = invoked(mas_view, ["pool", "-o", "report.html"], "mas-view")
    assert (result.code, (lab.folder / "report.html").exists()) == (1, False)
    assert message in result.err
    assert result.err.startswith("error: "), result.err


def test_a_damaged_evolution_leaves_the_pool_to_be_seen(lab: Lab) -> None:
    lab.evolved(2)
    spoil(lab.folder / "pool" / EVOLUTION / "turns.jsonl")
    page = page_at(opened(lab.folder / "pool"), "")
    assert "recipe: " in page.one("p", class_="problem").text
    assert facts(page)["Teams"] == "3"


def test_an_address_of_nothing_is_no_page(lab: Lab) -> None:
    lab.evolved(1)
    site = opened(lab.folder / "pool")
    for address in (
        "x", "teams/x/1", "teams/all/x", "team/x", "compare/x", "compare/solo/x", "lineage/x/1",
        "pool/x", "memory/x/1", "agent/x", "evolutions/x", f"{EVOLUTION}/task/9",
        f"{EVOLUTION}/x/1", f"{EVOLUTION}/run/9/x", f"teams/all/{'9' * 5_000}",
    ):  # fmt: skip
        with pytest.raises(NoPage):
            page_at(site, address)


def test_it_is_live_while_a_process_evolves_it(lab: Lab) -> None:
    lab.evolved(1)
    site = open_pool(lab.folder / "pool")
    assert isinstance(site, PoolSite)
    assert site.state == ""
    with Journal.open(lab.folder / "pool" / EVOLUTION):
        before = site.state
        assert "under way" in page_at(site, EVOLUTION).text
        Pool.open(lab.folder / "pool").commit(Retired(member="pair", reason="old"), op="x")
        assert before != site.state != ""
        assert "old" in page_at(site, "lineage").text  # it is read on


def hostile_pool(folder: Path, lines: list[str]) -> None:
    """Make a pool whose every text is an attack."""
    item = itertools.cycle(lines).__next__
    pool = Pool.init(folder)
    first = pool.add(
        Team(name="solo", agents={"a": Agent(id="a", prompt="Hi.")}),
        Lineage(operator="seed"),
        op="0",
    )
    for number, text in enumerate(lines):
        lineage = Lineage(
            parents=(first.name,),
            operator="mutate",
            reason=text,
            edits=(item(), item()),
            task=item(),
        )
        agent = Agent(id="a", prompt=f"{number} {text}", role=lines[number % 8])
        team = Team(name="solo", agents={"a": agent})
        name = pool.add(team, lineage, op=f"born/{number}").name if number < 40 else first.name
        trial = Trial(
            task=text, niche=item()[:60] or "x", score=number % 2, run=item(), reason=item()
        )
        pool.commit(Evaluated(member=name, trial=trial), op=f"tried/{number}")
        entry = Learnt(
            kind="lesson", task=item(), text=text, niche=item()[:60] or None, case=item()[:60]
        )
        pool.commit(entry, op=f"learnt/{number}")
        dropped = ChildRejected(operator="mutate", reason=text, problems=[item()], task=item())
        pool.commit(dropped, op=f"dropped/{number}")
    pool.commit(Retired(member=first.name, reason=item()), op="retired")


def is_harmless(page: Element) -> bool:
    """Return whether a page has only elements that we write, and no code in their attributes."""
    return all(
        element.tag in ELEMENTS and not any(name.startswith("on") for name in element.attributes)
        for element in page.all()
    )


def test_a_pool_of_attacks_is_text(tmp_path: Path) -> None:
    lines = attacks()
    hostile_pool(tmp_path / "pool", lines)
    memory = file_of(tmp_path / "pool")
    written = {element.text for element in memory.all("pre")}
    kept = Pool.open(tmp_path / "pool").learnt.values()
    assert len({learnt.text for learnt in kept}) >= 200
    assert {visible(learnt.text.replace("\r\n", "\n")) for learnt in kept} <= written
    for page in (memory, *visited(tmp_path / "pool", most=30).values()):
        assert is_harmless(page)


def test_an_evolution_of_attacks_is_text(lab: Lab) -> None:
    lines = attacks()
    endless = itertools.cycle(lines)

    def attacking(request: Request) -> Reply:
        wanted = asked(request)
        if "edits" not in wanted:
            return Reply(text=next(endless))
        agent = "two" if '"two"' in json.dumps(wanted) else "one"
        edit = {"set_prompt": {"agent": agent, "prompt": next(endless)}}
        return Reply.json({"reason": next(endless), "edits": [edit]})

    lab.tasks(
        "tasks.jsonl",
        [{"id": f"t{n}", "query": name, "answer": name} for n, name in enumerate(lines[:4])],
    )
    assert lab.evolve(script=attacking).code == 0
    for page in visited(lab.folder / "pool").values():
        assert is_harmless(page)
        assert "window.hacked" not in page.one("script").text


def test_evolving_says_how_to_look_and_shows_itself(lab: Lab) -> None:
    result = lab.evolve("--limit", "1")
    assert result.err.splitlines()[-1] == f"Look at it with: mas-view pool/{EVOLUTION}"
    assert "mas-view" not in lab.evolve("--limit", "1", "--quiet").err
    for other in (["--dry-run"], ["--seeds", "2"]):
        refused = lab.evolve("--view", *other, pool="other")
        assert (refused.code, "--view shows" in refused.err) == (2, True)


def test_an_evolution_is_shown_while_it_is_made(lab: Lab) -> None:
    def slow(request: Request) -> Reply:
        time.sleep(0.01)
        return thinking(request)

    with ScriptedModel(slow) as model:
        words = ["recipe.yaml", "tasks.jsonl", "--pool", "pool", "--limit", "3", "--view"]
        words += ["--model", f"m@{model.api_base}"]
        process = started(lab.folder, *words, command="evolve")
        assert process.stderr is not None
        try:
            report = next(line for line in process.stderr if line.startswith("look: "))
            with urlopen(report.removeprefix("look: ").strip()) as response:  # noqa: S310 - ours
                assert b"Evolution recipe" in response.read()
            assert any(
                "The page stays open until you press Ctrl-C." in line for line in process.stderr
            )
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=300)
            assert process.returncode == 0
            assert "online 1.000" in out
        finally:
            process.kill()
