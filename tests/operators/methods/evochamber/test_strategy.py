"""EvoChamber end to end: what it leaves, and what its parts ask for."""

import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from coterie.benchmarks.command import main as mas_bench
from coterie.pool import Pool
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.doubles.script import Request

from ....support.commands import invoked
from ...building import Killed, dying
from . import chamber

pytestmark = pytest.mark.usefixtures("here")
WITHOUT: Mapping[str, Any] = {
    "structure": "voting",
    "learning": False,
    "codream": False,
    "lifecycle": False,
}


def test_each_task_is_done_by_a_team_of_the_population(tmp_path: Path) -> None:
    chamber.write_world(tmp_path, tasks=3)
    [most] = re.findall(r"model calls: .* (\d+) in all", chamber.evolved("town", "--dry-run").out)
    result = chamber.evolved("town").ended(0)
    assert 0 < result.calls <= int(most)
    assert "anchor's competence: " in result.out
    assert result.out.endswith("its agents: mas-pool population town\n")
    events = [line["what"] for line in chamber.lines_of(Path("town")) if line["kind"] == "told"]
    count = events.count("dream")
    assert re.search(rf"^dreams: .*, {count} in all$", result.out, re.MULTILINE)
    trials = chamber.trials(Path("town"))
    assert [(trial["task"], trial["niche"]) for trial in trials] == [
        (f"t{n}", chamber.NICHES[n % 3]) for n in range(3)
    ]
    known = Pool.open("town").all_agents
    for fields in trials:
        members = [part["member"] for part in fields["agents"].values()]
        assert [*fields["agents"]] == ["anchor", "complement", "scout"]
        assert len({*members}) == 3
        assert {*members} <= {*known}
        assert re.fullmatch(r"worked/[0-9a-f]{12}\.yaml", fields["run"])
        assert (Path("town") / fields["run"]).is_file()
        assert fields["structure"] in {"voting", "debate", "generator_critic", "decompose"}


def test_stopped_while_its_agents_are_founded_it_founds_the_rest(tmp_path: Path) -> None:
    chamber.write_world(tmp_path, tasks=1)
    assert chamber.evolved("clean").code == 0
    lines = chamber.lines_of(Path("clean"))
    first = next(place for place, line in enumerate(lines, 1) if "agent" in line)
    founded = set[int]()
    for writes in range(first, first + 3):
        name = f"stopped {writes}"
        with suppress(Killed), dying(writes):
            chamber.evolved(name)
        founded.add(len(Pool.open(name).agents))
        chamber.evolved(name).ended(0)
        assert chamber.left(Path(name)) == chamber.left(Path("clean"))
    assert {1, 2} <= founded, "neither is a team of 3"


@pytest.mark.parametrize(
    ("settings", "calls"),
    [
        ({"pool_size": 1, "team_size": 1, "learning": False}, 1),
        ({"pool_size": 5, "team_size": 5, "structure": "voting", "learning": False}, 5),
        ({"pool_size": 1, "team_size": 1}, 2),
    ],
)
def test_baselines_ask_nobody_but_their_agents_and_the_one_who_remembers(
    tmp_path: Path, settings: dict[str, Any], calls: int
) -> None:
    """A single agent; self-consistency with five samples; memory only, which reflects once."""
    chamber.write_world(tmp_path, tasks=2, **{**WITHOUT, "learning": True, **settings})
    result = chamber.evolved("town").ended(0)
    assert result.calls == 2 * calls
    assert {trial["structure"] for trial in chamber.trials(Path("town"))} == {"voting"}


def test_each_part_can_be_left_out_by_one_switch(tmp_path: Path) -> None:
    def spent(**settings: Any) -> set[str]:
        chamber.write_world(tmp_path, tasks=2, **{"tau": 1, **settings})
        pool = f"town {len([*tmp_path.iterdir()])}"
        assert chamber.evolved(pool).code == 0
        lines = chamber.told(Path(pool))
        return {name for line in lines for name in (*line["spent"], *line["told"])}

    whole = spent()
    assert {"lead", "lead_review", "reflect", "dreams", "fork"} <= whole
    assert {"lead", "lead_review"}.isdisjoint(spent(structure="voting"))
    assert "dreams" not in spent(codream=False)
    assert "fork" not in spent(lifecycle=False)
    assert "reflect" not in spent(learning=False)


def test_a_random_team_does_not_follow_what_agents_can(tmp_path: Path) -> None:
    chamber.write_world(tmp_path, tasks=6, selector="random", **WITHOUT)
    assert chamber.evolved("town").code == 0
    able = [event for line in chamber.told(Path("town")) for event in line["story"]]
    led = [item["competence"]["anchor"] for item in able if item["event"] == "team"]
    most = [max(item["competence"].values()) for item in able if item["event"] == "team"]
    assert len(led) == 6
    assert led != most


def test_a_test_of_it_asks_and_keeps_nothing_to_learn_from(tmp_path: Path) -> None:
    chamber.write_world(tmp_path, tasks=2)
    assert chamber.evolved("town").code == 0
    before = chamber.left(Path("town"))
    with ScriptedModel(chamber.answering) as model:
        words = ["run", "arithmetic", "--recipe", "recipe.yaml", "--pool", "town", "--limit", "2"]
        words += ["--split", "test", "--trials", "1", "--embedder", "hashing", "--json", "--quiet"]
        words += ["--model", f"m@{model.api_base}"]
        result = invoked(mas_bench, words, "mas-bench").ended(0)
        asked = [name for call in model.calls for name in chamber.asked(call.body or {})]
    assert result.json["tasks"] == 2
    assert {*asked} <= {"reason", "structure"}
    assert chamber.left(Path("town")) == before


def test_a_team_that_came_to_nothing_is_worth_nothing_and_says_why(tmp_path: Path) -> None:
    def silent(request: Request) -> Reply:
        return chamber.answering(request) if chamber.asked(request) else Reply(text="")

    chamber.write_world(tmp_path, tasks=1, structure="voting", codream=False)
    assert chamber.evolved("town", script=silent).code == 0
    [trial] = chamber.trials(Path("town"))
    assert trial["score"] == 0
    assert trial["reason"]


def test_some_tasks_of_a_town_can_be_read_as_a_diff(tmp_path: Path) -> None:
    """Lines are added and none is moved; what an agent is, is written once and then revised."""
    chamber.write_world(tmp_path, tasks=4, tau=2)
    assert chamber.evolved("town", "--limit", "2").code == 0
    before = chamber.left(Path("town"))
    assert chamber.evolved("town").code == 0
    after = chamber.left(Path("town"))
    assert before.keys() <= after.keys()
    for name, text in before.items():
        if name.endswith(".jsonl"):
            assert after[name].startswith(text)
        elif name.startswith(("worked/", "teams/")):
            assert after[name] == text
    for text in after.values():
        assert "\r" not in text
        assert text == "" or text.endswith("\n")
    assert [name for name in after if name.startswith("agents/") and name.endswith("lessons.jsonl")]
    assert sum(map(len, after.values())) < 4 * 50_000
