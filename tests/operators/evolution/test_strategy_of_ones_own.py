"""A strategy of one's own: one file in an installed package, and every command knows it."""

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from coterie.pool import Pool
from coterie.runtime.doubles import Reply, ScriptedModel, message_text
from coterie.runtime.doubles.script import Request
from coterie.schema.command import main
from coterie.schema.host.catalogue import installed

from ...support.commands import CommandResult, invoked_in
from ...support.pages import blocks
from .. import added_strategy, evolving
from ..evolving import TEAMS, asked

SOURCE = Path(str(added_strategy.__file__))
(BLOCK,) = blocks("extend.md", "python", "## Add a strategy")
POINTS = """\
[coterie.strategies]
mentoring = added:MENTORING
first = shown:FIRST
broken = added:SCHEMA
[coterie.operators]
advise = added:ADVISE
"""
RECIPE = """\
strategy: mentoring
settings: {pieces: 1}
seeds: [pair.yaml]
"""


def mentor(request: Request) -> Reply:
    """Advise agents by what they are to do next; they are right once they are advised."""
    if "advice" in asked(request):
        agent = re.findall(r"Give the agent (\w+)", message_text(request))[0]
        return Reply.json({"advice": f"{agent} should count."})
    return Reply(text="7" if "two should count." in message_text(request) else "8")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with an added package, a team, a recipe and tasks."""
    (tmp_path / "added.py").write_text(SOURCE.read_text())
    (tmp_path / "shown.py").write_text(BLOCK)
    metadata = tmp_path / "added-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: added\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(POINTS)
    (tmp_path / "pair.yaml").write_text(TEAMS["pair"] + "execution: {max_retries: 0}\n")
    (tmp_path / "recipe.yaml").write_text(RECIPE)
    tasks("tasks", "t", 4, tmp_path)
    tasks("test", "h", 2, tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for module in ("added", "shown"):  # those of another test's folder
        monkeypatch.delitem(sys.modules, module, raising=False)
    installed.cache_clear()
    yield tmp_path
    installed.cache_clear()


def tasks(name: str, start: str, count: int, folder: Path) -> None:
    lines = [
        {"id": f"{start}{n}", "query": f"{start}: what is {n} + {7 - n}?", "answer": "7"}
        for n in range(count)
    ]
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def mas(folder: Path, *words: str) -> CommandResult:
    return invoked_in(folder, main, words, "mas")


def evolve(folder: Path, *words: str) -> CommandResult:
    given = ("--embedder", "hashing", "--json", *words)
    return evolving.evolve(folder, "pool", *given, script=mentor)


def test_it_takes_eighty_lines_and_the_one_of_the_page_ten() -> None:
    assert len(SOURCE.read_text().splitlines()) <= 80
    assert len([line for line in BLOCK.splitlines() if line]) <= 10


def test_its_agents_keep_what_they_were_told_and_go_on_with_it(folder: Path) -> None:
    first = evolve(folder, "--limit", "2").ended(0)
    assert (first.calls, "2 of 4" in first.err) == (2 * (2 + 2), False)
    done = evolve(folder, "--test", "test.jsonl", "--repeats", "1").ended(0)
    report = done.json
    assert (report["tasks"], report["score"]) == (4, 0.75)  # nobody was advised before the first
    assert report["told"] == {"reminders": 1.5}
    assert report["spent"]["advise"]["calls"] == 8
    assert report["held_out"]["teams"][0]["score"] == 1
    assert done.calls == 2 * (2 + 2) + 2 * 2 + 2 * 2  # two tasks, and the test of team and strategy
    owners = [item.owner for item in Pool.open(folder / "pool").learnt.values()]
    assert owners == ["one", "two"] * 4
    again = evolve(folder, "--test", "test.jsonl", "--repeats", "1")
    assert (again.out, again.calls) == (done.out, 0)
    text = mas(folder, "view", "--text", "pool").out
    assert "each task's answer, scored by the reference answers" in text
    assert "reminders: 1.5 a task, 0 to 2, 6 in all" in text
    shown = mas(folder, "view", "--text", "pool/evolutions/recipe", "t1").out
    assert "run\n  answer: 7\n\nreminders: 2" in shown


def test_the_one_of_the_page_is_evolved_with(folder: Path) -> None:
    (folder / "recipe.yaml").write_text("strategy: first\nseeds: [pair.yaml]\n")
    done = evolve(folder).ended(0)
    assert (done.calls, done.json["score"]) == (4 * 2, 0)


def deaf(request: Request) -> Reply:
    """Advise as `mentor` does; no advice is of use."""
    said = mentor(request)
    return Reply(text="8") if said.text == "7" else said


@pytest.mark.parametrize(("world", "gain"), [(mentor, True), (deaf, False)])
def test_two_strategies_are_compared_by_one_command(
    folder: Path, world: Callable[[Request], Reply], gain: bool
) -> None:
    tasks("test", "h", 8, folder)
    (folder / "plain.yaml").write_text("strategy: first\nseeds: [pair.yaml]\n")
    test = ("--limit", "2", "--test", "test.jsonl", "--repeats", "1", "--embedder", "hashing")
    with ScriptedModel(world) as model:
        for recipe in ("plain", "recipe"):
            given = (*test, "--pool", recipe, "--model", f"m@{model.api_base}")
            assert mas(folder, "evolve", f"{recipe}.yaml", "tasks.jsonl", *given).code == 0
    both = ["plain/evolutions/plain", "recipe/evolutions/recipe"]
    done = mas(folder, "bench", "compare", *both, "--fail-if-worse").ended(0)
    difference = "difference +1.000 [" if gain else "difference +0.000 ["
    assert (difference in done.out, "8 better" in done.out) == (True, gain), done.out
    worse = mas(folder, "bench", "compare", *reversed(both), "--fail-if-worse", "--junit", "x.xml")
    assert (worse.code, 'failures="1"' in (folder / "x.xml").read_text()) == (
        (4, True) if gain else (0, False)
    )


def test_it_is_examined_on_a_benchmark_with_what_its_pool_has_learnt(folder: Path) -> None:
    evolve(folder, "--limit", "1").ended(0)
    ledger = (folder / "pool/ledger.jsonl").read_bytes()
    words = ("--recipe", "recipe.yaml", "--pool", "pool", "--count", "4", "--split", "test")

    def examine(*more: str) -> tuple[CommandResult, int]:
        with ScriptedModel(mentor) as model:
            row = ("--trials", "1", "--workers", "1", "--model", f"m@{model.api_base}")
            done = mas(folder, "bench", "run", "arithmetic", *words, *row, "--quiet", *more)
            return done, len(model.calls)

    stopped, first = examine("--budget", "calls=2", "--json")
    assert (stopped.code, first) == (3, 2), stopped.err
    assert "Repeat the command to resume." in stopped.err
    done, second = examine("--json")
    assert (done.code, first + second) == (0, 2 * 2), done.err
    report = done.json
    assert (report["team"], report["samples"], report["complete"]) == ("mentoring, learnt", 2, True)
    assert report["usage"]["calls"] == 4
    assert examine("--json")[1] == 0
    assert (folder / "pool/ledger.jsonl").read_bytes() == ledger
    (results,) = (folder / "results").iterdir()
    assert "mentoring, learnt" in mas(folder, "bench", "table", str(results)).out


def test_its_settings_are_checked_and_explained(folder: Path) -> None:
    (folder / "recipe.yaml").write_text(RECIPE.replace("pieces: 1", "pieces: 11"))
    done = mas(folder, "validate", "recipe.yaml").ended(2)
    assert "recipe.yaml:2:20: error: settings.pieces: 11 is out of range (pieces, 0 to 10)" in (
        done.err
    )
    assert "strategy  mentoring" in mas(folder, "dev", "explain", "settings.pieces").out
    assert "Of `mentoring`:" in mas(folder, "dev", "explain", "--markdown", "evolution").out


def test_its_operator_acts_at_the_prompt_too(folder: Path) -> None:
    assert "advise" in mas(folder, "dev", "op", "--help").out
    with ScriptedModel(mentor) as model:
        asked = ("-q", "What is 3 + 4?", "--model", f"m@{model.api_base}", "--dry-run")
        done = mas(folder, "dev", "op", "advise", "pair.yaml", "two", *asked).ended(0)
        assert "two should count." in done.out
        nobody = mas(folder, "dev", "op", "advise", "pair.yaml", "to", *asked)
    assert nobody.code == 2
    assert "no agent 'to' in pair." in nobody.err


def test_what_is_no_strategy_is_named(folder: Path) -> None:
    (folder / "recipe.yaml").write_text("strategy: broken\n")
    done = evolve(folder).ended(2)
    assert "'broken' of coterie.strategies is not a strategy, but a dict" in done.err
    assert "Traceback" not in done.err
