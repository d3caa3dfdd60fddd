"""`mas-bench arena`: what cells cost and find, how the command resumes, and what it refuses."""

import json
import random
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from coterie.benchmarks.arena.cells import Journal
from coterie.runtime.doubles import Reply, ScriptedModel, message_text
from coterie.runtime.doubles.script import Request
from coterie.runtime.local import server

from ...inbox import answering
from ...operators.command.conftest import thinking
from ...sites import texts, visited
from ...support.processes import killed_at
from .conftest import ARENA, USAGE, Hall, metered


def by_method(value: Any, stream: str = "mine") -> dict[str, Any]:
    return {row["method"]: row for row in value["rows"] if row["stream"] == stream}


def test_a_method_that_learns_beats_the_baseline_and_its_own_control(done: Hall) -> None:
    rows = by_method(done.value())
    assert [row["score"] for row in rows.values()] == [0.0, 1.0, 0.0]
    learnt = rows["evomas"]
    assert (learnt["gain"], learnt["done"], learnt["versus"]["claim"]) == (1.0, 2, "better")
    assert learnt["versus"]["interval"][0] > 0
    assert rows["best of n"]["versus"]["claim"] == ""
    assert 0.0 < learnt["area"] < 1.0
    table = done.files()["table.md"].decode()
    assert [line.split("|")[1].strip() for line in table.splitlines()[2:]] == [*rows]


def test_a_race_hands_over_its_winner_and_is_tested_beside_its_original(hall: Hall) -> None:
    arena = ARENA.replace("calls=9", "calls=60").replace("evolve: 4", "evolve: 10")
    methods = "methods:\n  race: {settings: {kinds: [hypothesis]}}\n"
    hall.write(arena.partition("methods:")[0].replace("seeds: 2", "seeds: 1") + methods)
    hall.run().ended(0)
    row = by_method(hall.value())["race"]
    assert (row["score"], row["gain"]) == (1.0, 1.0)


def test_spending_adds_up_to_what_was_asked_and_no_cell_passes_its_cap(done: Hall) -> None:
    value = done.value()
    spent = [row[part] for row in value["rows"] for part in ("learning", "testing")]
    assert sum(part["calls"] for part in spent) == len(done.calls)
    assert sum(part["tokens"] for part in spent) == len(done.calls) * USAGE["total_tokens"]
    assert max(cell["learning"]["calls"] for cell in value["cells"]) == 9
    assert max(cell["testing"]["calls"] for cell in value["cells"]) == 8


def test_killed_and_resumed_by_shards_it_has_the_same_bytes(done: Hall, hall: Hall) -> None:
    with ScriptedModel(metered) as model:
        words = ("--results", "out", "--model", f"m@{model.api_base}", "--quiet")
        for stop in ("files.append.after:20", "files.write.replaced:12"):
            assert killed_at(stop, lambda: hall.command(*words))
        assert hall.command(*words, "--shard", "2/2").code == 0
        assert hall.command(*words, "--shard", "1/2", "--jobs", "2").code == 0
        assert hall.command(*words).code == 0
        assert len(model.calls) == len(done.calls)
    assert hall.files() == done.files()


def test_cells_at_once_share_an_embedded_model(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []

    async def stop() -> None:
        events.append("stopped")

    async def start() -> None:
        if events != ["started"]:
            events.append("started")

    def embedded(_: object) -> Any:
        return SimpleNamespace(api_base=model.api_base, key="", start=start, stop=stop)

    monkeypatch.setattr(server, "LocalServer", embedded)
    monkeypatch.setattr("coterie.runtime.local.weights.pull", lambda: None)
    monkeypatch.setattr("coterie.runtime.command.models.pull_with_progress", lambda: None)
    with ScriptedModel(metered) as model:
        hall.command("--results", "out", "--model", "local", "--jobs", "2").ended(0)
    assert len(hall.value()["cells"]) == 6
    assert events == ["started", "stopped"]


def test_journals_of_done_cells_are_read_once(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    reading: list[Path] = []
    opened = Journal.open

    def counted(folder: Path, *, replaying: bool = False, **options: Any) -> Journal:
        reading.extend([folder] * replaying)
        return opened(folder, replaying=replaying, **options)

    monkeypatch.setattr(Journal, "open", counted)
    hall.run().ended(0)
    assert [reading.count(folder) for folder in {*reading}] == [1] * 6


def test_the_journals_alone_lead_to_the_same_bytes_without_a_call(done: Hall, hall: Hall) -> None:
    for journal in (done.folder / "out").rglob("journal.log"):
        target = hall.folder / journal.relative_to(done.folder)
        target.parent.mkdir(parents=True)
        shutil.copy(journal, target)
    result = hall.run(script=lambda _: Reply.error(500))
    assert (result.code, hall.calls) == (0, []), result.err
    assert hall.files() == done.files()


def test_its_page_has_the_table_and_leads_to_the_cells(done: Hall) -> None:
    pages = visited(done.folder / "out", most=40)
    first = pages.pop("")
    assert {"evomas", "better"} <= {*texts(first), *texts(first, "th")}
    cells = {cell["folder"] for cell in done.value()["cells"]}
    assert cells <= {address.rstrip("/") for address in pages}
    assert any(address.endswith("/lineage") for address in pages)


def test_where_nothing_helps_nothing_is_claimed(hall: Hall) -> None:
    """Whatever a prompt says, an answer is right by the toss of a coin."""

    def tossed(request: Request) -> Reply:
        reply = thinking(request)
        if "edits" in str(request.get("response_format")):
            return reply
        is_right = random.Random(message_text(request)).random() < 0.5
        return Reply(text="7" if is_right else "8")

    hall.run(script=tossed).ended(0)
    rows = [row for row in hall.value()["rows"] if "versus" in row]
    assert [row["versus"]["claim"] for row in rows] == ["", ""]
    assert all(row["versus"]["least_effect"] > 0.2 for row in rows)


def test_a_pilot_of_one_cell_foretells_the_others(hall: Hall, done: Hall) -> None:
    assert "no cell is done yet" in hall.run("--plan").out
    assert hall.run("--limit", "3").code == 0
    assert [len(hall.value()[key]) for key in ("cells", "open")] == [3, 3]
    plan = hall.run("--plan").out
    assert not hall.calls
    spent = sum(cell[part]["calls"] for cell in hall.value()["cells"]
                for part in ("learning", "testing"))  # fmt: skip
    assert "6 cells, 3 done" in plan
    assert f"as 3 done cells took: {spent} calls, {11 * spent:,} tokens" in plan
    assert abs(len(done.calls) / (2 * spent) - 1) < 0.3


def test_a_method_that_asks_operators_has_a_row_for_each_and_an_inbox_is_one(hall: Hall) -> None:
    arena = ARENA.replace("seeds: 2", "seeds: 1\noperators: [default, writer]")
    hall.write(arena.partition("  best of n:")[0])
    edit = {"set_prompt": {"agent": "one", "prompt": "Think."}}
    reply = json.dumps({"reason": "it did not think", "edits": [edit]})
    with answering(hall.folder / "box", lambda _: reply) as answers:
        hall.run("--model", f"writer=inbox:{hall.folder / 'box'}").ended(0)
    rows = by_method(hall.value())
    assert [*rows] == ["team as it is", "evomas (default)", "evomas (writer)"]
    assert answers
    assert [row["score"] for row in rows.values()] == [0.0, 1.0, 1.0]
    calls = sum(row[part]["calls"] for row in rows.values() for part in ("learning", "testing"))
    assert calls == len(hall.calls) + len(answers)


def test_a_cell_that_a_provider_stops_leaves_the_others_and_is_resumed(hall: Hall) -> None:
    """Operators cannot be asked; agents can."""

    def failing(request: Request) -> Reply:
        return Reply.error(401) if "response_format" in request else metered(request)

    hall.write(ARENA.replace("seeds: 2", "seeds: 1"))
    assert "stopped: evomas, mine, seed 0: " in hall.run(script=failing).ended(1).err
    assert [row["done"] for row in hall.value()["rows"]] == [1, 0, 1]
    assert hall.run().code == 0
    assert [row["score"] for row in hall.value()["rows"]] == [0.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("calls=9", "calls=99", "the cap {'calls': 9}, but the arena now has {'calls': 99}"),
        ("choice: chance", "choice: schedule", "another recipe (settings.choice: 'chance', now"),
    ],
)
def test_another_arena_needs_another_folder(done: Hall, old: str, new: str, message: str) -> None:
    before, calls = done.files(), done.calls
    done.write(ARENA.replace(old, new))
    result = done.run()
    done.write(ARENA)
    assert (result.code, done.calls, done.files()) == (2, [], before)
    assert message in result.err
    done.calls = calls


def test_a_model_that_nobody_asks_is_refused(hall: Hall) -> None:
    result = hall.run("--model", "writr=m@http://127.0.0.1:9/v1")
    assert (result.code, hall.calls) == (2, [])
    assert "writr" in result.err


def test_a_test_that_does_not_fit_its_cap_is_open_and_a_larger_one_ends_it(hall: Hall) -> None:
    hall.write(ARENA.partition("  evomas:")[0].replace("test_cap: calls=8", "test_cap: calls=3"))
    hall.run().ended(3)
    assert by_method(hall.value())["team as it is"]["testing"]["calls"] == 6
    hall.write(ARENA.partition("  evomas:")[0])
    assert hall.run().code == 0
    assert len(hall.calls) == 2
    assert by_method(hall.value())["team as it is"]["done"] == 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("cap: calls=9", "cap: calls=no", "2:6: error: cap: budget 'calls=no'"),
        ("cap: calls=9", "cap: seconds=5", "2:6: error: cap: seconds depend"),
        ("test_cap: calls", "test_cap: tokens", "3:11: error: test_cap: its units differ"),
        ("solo.yaml", "none.yaml", "1:7: error: team: no file 'none.yaml'"),
        ("all.jsonl", "plums", "6:9: error: streams.mine: no benchmark 'plums'"),
        ("all.jsonl", "benchmark:rarebench", "Name a folder with the field data that has"),
        ("test: 4", "test: x.jsonl", "6:9: error: streams.mine: evolve and test must be two"),
        ("  evomas:", "  evomos:", "methods.evomos: no such method. Did you mean 'evomas'?"),
        ("parents: 1", "parants: 1", "9:23: error: methods.evomas.settings.parants"),
        ("choice: chance", "margin: 2", "methods.evomas.settings.margin"),
        ("seeds: [team]", "strategy: rac", "10:25: error: methods.'best of n'.strategy: no"),
        ("seeds: [team]", "like: evomos", "10:21: error: methods.'best of n'.like: no method"),
        ("seeds: [team]", "seeds: [x.yaml]", "methods.'best of n': no file 'x.yaml'"),
        ("seeds: [team]", "recipe: solo.yaml", "methods.'best of n'.settings: a recipe's file"),
        ("seeds: [team]", "votes: 1", "10:22: error: methods.'best of n'.votes"),
        (
            "  best of n",
            "  two: {votes: 2}\n  other: {like: x}\n  best of n",
            "methods.other.like: no",
        ),
        ("seeds: 2", "operators: []", "methods.evomas: it needs a model to write or judge"),
        ("seeds: 2", "operators: [m]", "4:12: error: operators: no model 'm' on this host"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(hall: Hall, old: str, new: str, message: str) -> None:
    hall.write(ARENA.replace(old, new, 1))
    result = hall.command("--results", "out").ended(2)
    assert "arena.yaml:" in result.err
    assert message in result.err
    assert not (hall.folder / "out").exists()
