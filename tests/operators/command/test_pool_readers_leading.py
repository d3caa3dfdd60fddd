"""`mas-op lead` and `lead_review`: a leader's choice from the command line, and what it notes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from coterie.operators.command.op import main as mas_op
from coterie.operators.population.seating import STRUCTURES, kept, seated
from coterie.operators.population.settings import PopulationSettings
from coterie.pool import Pool
from coterie.pool.changes import Born, Told
from coterie.runtime.command.run import main as mas_run
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.doubles.script import Request
from coterie.schema import Agent, Catalogue, Lineage, load_team
from coterie.schema.loading import team_path

from ...came import Came, invoked

PEOPLE = {
    seat: Agent(id=name, prompt=f"You are {name}.")
    for seat, name in (("anchor", "ada"), ("complement", "ben"), ("scout", "cyn"))
}
ROUND = {
    "niche": "sums", "structure": "debate", "profile": [0.5, 0.5, 0.5], "reward": 1.0,
    "reflection": "They found the slip.", "task": "t", "anchor": "ada",
}  # fmt: skip


def script(request: Request) -> Reply:
    form = request.get("response_format", {}).get("json_schema", {}).get("schema", {})
    if "structure" in form.get("properties", {}):
        return Reply.json({"reason": "it helped", "structure": "debate"})
    if "note" in form.get("properties", {}):
        return Reply.json({"note": "All said the same."})
    return Reply(text="7")


@pytest.fixture
def town(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pool:
    monkeypatch.chdir(tmp_path)
    pool = Pool.init("town", [], catalogue=Catalogue.of_host())
    for agent in PEOPLE.values():
        born = Born(member=agent, lineage=Lineage(operator="genesis"))
        pool.commit(born, op=f"born {agent.id}")
    pool.commit(Told(what="leadership", about=ROUND), op="round")
    task = {"id": "sum-1", "query": "What is 3 + 4?", "niche": "sums", "answer": "7"}
    Path("task.json").write_text(json.dumps(task))
    return pool


def asked(*words: str, replies: Any = script) -> tuple[Came, Mapping[str, Any]]:
    with ScriptedModel(replies) as model:
        came = invoked(mas_op, [*words, "--model", f"m@{model.api_base}"], "mas-op")
        return came, {"texts": [call.text for call in model.calls]}


@pytest.mark.usefixtures("town")
def test_a_leader_chooses_a_structure_for_a_task() -> None:
    came, told = asked("lead", "town", "cyn", "ada", "--task", "task.json")
    assert came.code == 0, came.err
    assert came.out == "debate\n"
    assert came.err == "team: cyn (anchor), ada (complement)\nwhy: it helped\n"
    [text] = told["texts"]
    assert "You are cyn." in text
    assert "They found the slip." in text
    came, told = asked("lead", "town", "-t", "task.json", "--bank", "0", "--seed", "1")
    assert (came.code, came.out) == (0, "debate\n")
    assert "They found the slip." not in told["texts"][0]


@pytest.mark.usefixtures("town")
def test_of_one_structure_that_works_nobody_is_asked() -> None:
    came, told = asked("lead", "town", "ben", "-t", "task.json")
    assert (came.code, came.out, told["texts"]) == (0, "voting\n", [])
    assert came.err == "team: ben (anchor)\nwhy: there is no other\n"


@pytest.mark.usefixtures("town")
@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("dan",), 2, "no agent 'dan' is in this pool. Agents: ada, ben, cyn."),
        (("--team-size", "4"), 2, "a team of 4 cannot be made of 3 agents"),
        (("ada", "--structure", STRUCTURES[1]), 2, "no structure works with anchor only."),
        (("--structure", "seed:croto"), 2, "croto is no structure of a population"),
    ],
)
def test_what_cannot_be_led_is_refused(words: tuple[str, ...], code: int, message: str) -> None:
    came, told = asked("lead", "town", *words, "-t", "task.json")
    assert (came.code, told["texts"]) == (code, [])
    assert message in came.err


@pytest.mark.usefixtures("town")
def test_an_answer_of_no_use_is_said_to_be_one() -> None:
    came, told = asked("lead", "town", "-t", "task.json", replies=Reply(text="no"))
    assert (came.code, len(told["texts"])) == (1, 2)
    assert "lead: the model gave no valid answer" in came.err


def ran(town: Pool, *words: str) -> tuple[str, str]:
    """Run a vote of all three; give the team's file, and the folder of the run."""
    known = Catalogue.of_host()
    template = load_team(team_path(STRUCTURES[0]), known)
    team = seated(template, PEOPLE, PopulationSettings(lessons=0), known)
    path = f"town/{kept(town.folder, team.team)}"
    with ScriptedModel(script) as model:
        given = [path, *words, "--quiet", "--model", f"m@{model.api_base}"]
        came = invoked(mas_run, given, "mas-run")
    assert came.code == 0, came.err
    [folder] = Path("runs").iterdir()
    return path, str(folder)


def test_a_leader_says_why_a_structure_did_or_did_not_work(town: Pool) -> None:
    path, folder = ran(town, "task.json")
    came, told = asked("lead_review", "town", path, "--run", folder)
    assert (came.code, came.out) == (0, "All said the same.\n"), came.err
    assert "the team's answer: 1" in told["texts"][0]
    assert "ada (anchor): 0.50 on sums" in told["texts"][0]
    came, told = asked("lead_review", "town", path, "--run", folder, replies=Reply(text="no"))
    assert (came.code, len(told["texts"])) == (1, 2)
    came, told = asked("lead_review", "town", STRUCTURES[0], "--run", folder)
    assert (came.code, told["texts"]) == (2, [])
    assert "voting: nobody of a pool sits in the seat of the anchor." in came.err


def test_without_a_score_the_reward_has_to_be_said(town: Pool) -> None:
    path, folder = ran(town, "-q", "Why?")
    came, told = asked("lead_review", "town", path, "--run", folder)
    assert (came.code, told["texts"]) == (2, [])
    assert "Say what it was worth: --reward 0.5." in came.err
    came, told = asked("lead_review", "town", path, "--run", folder, "--reward", "0.25")
    assert came.code == 0
    assert "the team's answer: 0.25" in told["texts"][0]
