"""The page of a run says what its files say."""

import json
from pathlib import Path

import pytest

from coterie.runtime.command.run import main as mas_run
from coterie.runtime.command.view import main
from coterie.runtime.doubles import Reply, ScriptedModel

from ...support.commands import invoked, invoked_in
from ...webpage import Element, parsed

TEAM = """\
name: trio
agents:
  worker: {role: worker, prompt: "You are [worker]. Solve it.", max_tokens: 50}
  critic: {role: critic, prompt: "You are [critic]. Criticize."}
  judge: {role: judge, prompt: "You are [judge]. Decide it."}
topology:
  reports_to: {worker: [judge], critic: [judge]}
"""
ROUNDS = TEAM + "execution: {rounds: {most: 2, until: never}}\n"
TASK = {"id": "sum", "query": "What is 3 + 4?", "answer": "7", "scorer": "number"}


def run_of(folder: Path, answers: object, team: str = TEAM, *words: str) -> Path:
    """Make a run and give its folder."""
    (folder / "team.yaml").write_text(team)
    (folder / "task.json").write_text(json.dumps(TASK))
    with ScriptedModel(answers) as model:  # pyright: ignore[reportArgumentType]
        command = ["team.yaml", "task.json", "--model", f"m@{model.api_base}", *words]
        invoked_in(folder, mas_run, command, "mas-run")
    (run,) = (folder / "runs").iterdir()
    return run


def page_of(run: Path) -> Element:
    """Write a run's page into a file, and parse it."""
    file = run.parent.parent / "report.html"
    invoked(main, [str(run), "-o", str(file)], "mas-view").ended(0)
    return parsed(file)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Element]:
    answers = {"[judge]": "7 it is", "[critic]": "so " * 900, "": "maybe 7"}
    run = run_of(tmp_path_factory.mktemp("done"), answers, TEAM, "--budget", "calls=5")
    return run, page_of(run)


def test_the_head_has_status_score_answer_and_what_was_expected(done: tuple[Path, Element]) -> None:
    _, page = done
    assert page.one("h1").text == "trio: sum"
    assert [element.text for element in page.all("span", class_="badge")][:2] == [
        "✓ done",
        "✓ right",
    ]
    facts = {
        element.one("dt").text: element.one("dd").text for element in page.one("dl").all("div")
    }
    assert facts["Model calls"] == "3"
    assert facts["Score"] == "1"
    texts = [element.text for element in page.all("pre")]
    assert texts[:3] == ["What is 3 + 4?", "7 it is", "7"]
    assert page.one("meter").text == "3 of 5 calls"


def test_every_call_has_an_address_with_all_that_it_showed(done: tuple[Path, Element]) -> None:
    run, page = done
    lines = (run / "events.jsonl").read_text().splitlines()
    calls = [item for item in map(json.loads, lines) if item["type"] == "model_call"]
    turns = page.all("article", class_="says")
    assert len(calls) == len(turns) == 3
    by_answer = {turn.all("pre")[-1].text: turn for turn in turns}
    for call in calls:
        texts = [element.text for element in by_answer[call["text"]].all("pre")]
        assert texts == [*(message["content"] for message in call["messages"]), call["text"]]
    ids = [element.attributes["id"] for element in page.all() if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    addresses = {element.attributes["href"] for element in page.all("a")}
    assert {address[1:] for address in addresses} <= set(ids)
    assert {f"#{turn.attributes['id']}" for turn in turns} <= addresses


def test_a_long_text_is_folded_and_whole(done: tuple[Path, Element]) -> None:
    _, page = done
    (long, *_) = page.one(id="agent-critic").all("details", class_="long")
    assert "answer: 2,700 characters" in long.one("summary").text
    assert long.one("pre").text == "so " * 900


def test_graph_and_timeline_say_who_waited_for_whom(done: tuple[Path, Element]) -> None:
    _, page = done
    graph, timeline = page.all("svg")
    assert [element.text for element in graph.all("text", class_="state")] != []
    assert all(element.text.startswith("✓ done, ") for element in graph.all("text", class_="state"))
    assert len(graph.all("path", class_="carried")) == 2
    assert len(timeline.all("rect", class_="model")) == 3
    assert len(timeline.all("rect", class_="crit")) == 2
    rows = {
        row.one("th").text: [cell.text for cell in row.all("td")]
        for row in page.all("tbody")[0].all("tr")
    }
    assert rows["judge"][0] == "✓ done"
    assert rows["judge"][6] in {"worker", "critic"}
    assert rows["judge"][7] == "yes"


def test_a_failure_is_told_at_the_head_and_leads_to_its_place(tmp_path: Path) -> None:
    answers = {"[critic]": Reply.error(400), "": "7"}
    page = page_of(run_of(tmp_path, answers))
    assert page.all("span", class_="badge")[0].text == "✗ failed"
    elements = page.one("ul", class_="trouble").all("li")
    assert "critic: failed" in elements[-1].text
    assert elements[-1].one("a").attributes["href"] == "#agent-critic"
    assert "open" in page.one(id="agent-critic").attributes
    assert "✗ failed" in page.one(id="agent-critic").one("summary").text
    states = [element.text for element in page.all("text", class_="state")]
    assert any(state.startswith("✗ failed") for state in states)


def test_rounds_are_tabs_that_say_what_changed(tmp_path: Path) -> None:
    answers = {"[judge]": ["7", "7"], "[critic]": ["no", "yes"], "[worker]": ["5", "7"]}
    page = page_of(run_of(tmp_path, answers, ROUNDS))
    (tabs,) = [element for element in page.all("div") if "data-tabs" in element.attributes]
    first, second = tabs.all("section")
    assert (first.attributes["data-tab"], second.attributes["data-tab"]) == ("Round 1", "Round 2")
    assert "2 of 3 answers changed" in second.one("h3").text
    assert [element.text for element in second.all("ins")] == ["+ yes", "+ 7"]
    assert [element.text for element in second.all("del")] == ["- no", "- 5"]


def test_a_killed_run_shows_what_there_is(done: tuple[Path, Element], tmp_path: Path) -> None:
    run = tmp_path / "runs" / "killed"
    run.mkdir(parents=True)
    for name in ("team.yaml", "task.json", "run.json"):
        (run / name).write_bytes((done[0] / name).read_bytes())
    events = (done[0] / "events.jsonl").read_text().splitlines()
    (run / "events.jsonl").write_text("\n".join(events[:3]) + '\n{"half')
    page = page_of(run)
    assert page.all("span", class_="badge")[0].text == "✗ killed"
    assert "it was killed" in page.one("p", class_="problem").text
    states = sorted(element.text.split(",")[0] for element in page.all("text", class_="state"))
    assert states == ["· not begun", "✗ cut short", "✗ cut short"]


def test_the_verdict_of_blame_is_shown_there(done: tuple[Path, Element], tmp_path: Path) -> None:
    run = tmp_path / "runs" / "blamed"
    run.mkdir(parents=True)
    for path in done[0].glob("*.json*"):
        (run / path.name).write_bytes(path.read_bytes())
    (run / "team.yaml").write_bytes((done[0] / "team.yaml").read_bytes())
    (run / "blame").mkdir()
    lines = (run / "events.jsonl").read_text().splitlines()
    number = next(
        i for i, line in enumerate(lines, 1) if '"model_call"' in line and "critic" in line
    )
    verdict = {
        "scheme": "global", "agent": "critic", "step": 2, "kind": "model call", "text": "so",
        "why": "It <b>repeats</b>.", "confidence": 0.8, "line": f"events.jsonl:{number}",
        "votes": [{"agent": "critic", "step": 2, "weight": 0.8, "by": ["judge"]}],
    }  # fmt: skip
    (run / "blame" / "global.json").write_text(json.dumps(verdict))
    page = page_of(run)
    card = page.one("section", class_="card")
    assert "critic, step 2 (model call), by the scheme global, sure 0.8 of 1" in card.text
    assert "It <b>repeats</b>." in card.text
    assert card.all("a")[0].attributes["href"].startswith("#call-critic")
    assert "⚑ blamed" in page.one(id="agent-critic").all("summary")[0].text
    assert page.all("svg")[1].text.count("⚑") == 1
