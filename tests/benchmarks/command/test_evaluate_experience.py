"""`mas-bench run --recipe` of a pool that holds experience: used on unseen tasks, and frozen."""

import json
from pathlib import Path

from coterie.benchmarks.command import main as mas_bench
from coterie.operators.command.evolve import main as mas_evolve
from coterie.runtime.doubles import ScriptedModel

from ...operators.consulting import WARD, doctors
from ...support.commands import invoked

RECIPE = "strategy: mattrl\nseeds: [ward.yaml]\n"
TASKS = [{"id": f"t{n}", "query": f"What is {n} + {7 - n}?", "answer": "7"} for n in range(3)]


def test_agents_recall_what_they_learnt_and_nothing_is_added(here: Path) -> None:
    Path("ward.yaml").write_text(WARD)
    Path("recipe.yaml").write_text(RECIPE)
    Path("tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in TASKS))
    pool = ("--pool", "experience", "--quiet", "--embedder", "hashing")
    with ScriptedModel(doctors) as model:
        given = ("--model", f"m@{model.api_base}")
        words = ["recipe.yaml", "tasks.jsonl", *pool, *given]
        invoked(mas_evolve, words, "mas-evolve").ended(0)
        before, asked = Path("experience/ledger.jsonl").read_bytes(), len(model.calls)
        words = ["run", "arithmetic", "--recipe", "recipe.yaml", *pool, "--split", "test"]
        words += ["--limit", "2", "--trials", "1", "--json", *given]
        result = invoked(mas_bench, words, "mas-bench").ended(0)
        calls = list(model.calls)[asked:]
        parts = [invoked(mas_bench, [*words, "--shard", f"{n}/2"], "mas-bench") for n in (1, 2)]
        assert [part.code for part in parts] == [0, 0], parts[0].err
        folders = [str(path) for path in Path("results").iterdir() if "-of-2" in path.name]
        whole = invoked(mas_bench, ["merge", *folders, "--json"], "mas-bench").ended(0)
    for figure in ("headline", "niches", "usage", "agents", "data", "content_hash"):
        assert whole.json[figure] == result.json[figure]
    assert result.json["tasks"] == 2
    assert len(calls) == 2 * 5
    assert sum("When: Two numbers, " in call.text for call in calls) == 2 * 2
    assert before == Path("experience/ledger.jsonl").read_bytes()


def test_an_embedder_is_for_a_pool(tmp_path: Path) -> None:
    (tmp_path / "ward.yaml").write_text(WARD)
    words = ["run", "arithmetic", "--team", str(tmp_path / "ward.yaml"), "--embedder", "hashing"]
    assert "--embedder needs a pool" in invoked(mas_bench, words, "mas-bench").ended(2).err
