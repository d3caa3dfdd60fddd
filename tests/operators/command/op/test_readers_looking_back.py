"""`mas dev op` of a team that looks back: on a team's file and the folder of its run."""

from pathlib import Path
from typing import Any

import pytest

from coterie.runtime.doubles import Reply
from coterie.schema import load_team

from ...evolving import asked
from ...methods.meta_team.looking import UNCHANGED, asked_of, calls_of, model
from ..acting import RUN, TASKED, mas, noted, run

TEAMWORK = ("trio.yaml", *RUN)


def test_an_agent_looks_back_from_where_its_conversation_ended(world: Path) -> None:
    asks = {"questions": [{"to": "writer", "question": "Did you check my sum?"}]}
    replies = model({"questions": asks, "notes": noted("counting")})
    done = mas("retrospect", "trio.yaml", "solver", *RUN, "-o", "child.yaml", replies=replies)
    assert (done.code, done.out) == (0, ""), done.err
    assert "solver asked writer: Did you check my sum? - I took it as it stood." in done.err
    child, parent = load_team(world / "child.yaml"), load_team(world / "trio.yaml")
    assert dict(child.agents["solver"].notes.patches) == {"counting": "Count on your fingers."}
    assert {**child.agents, "solver": None} == {**parent.agents, "solver": None}
    [call] = calls_of(done.asked, "notes")
    said = [message["content"] for message in (call.body or {})["messages"]]
    assert said[2] == "maybe 8"
    assert "the team's answer: 0" in said[3]
    assert all("sevenish" not in item.text for item in done.asked)


def test_two_settle_what_they_learnt(world: Path) -> None:
    known = {"reason": "x", "profile": "Guesses; ask how sure it is.", "together": ""}
    arguments = ("settle", "trio.yaml", "writer", "solver", *RUN, "-o", "child.yaml")
    done = mas(*arguments, replies=model({"profile": known})).ended(0)
    assert "solver told: You gave a number without its unit." in done.err
    child = load_team(world / "child.yaml")
    assert dict(child.agents["writer"].notes.teammates) == {"solver": known["profile"]}
    assert dict(child.agents["solver"].notes.teammates) == {"writer": known["profile"]}
    alone = mas(*arguments, "--alone", replies=model({"profile": known}))
    assert not calls_of(alone.asked, "account")


def test_a_team_looks_back_at_all_levels(world: Path) -> None:
    rules = {"reason": "Nobody checks.", "rules": ["Say how sure you are."], "retry": True}
    replies = model({"notes": noted("counting"), "rules": rules})
    done = mas("reorganise", *TEAMWORK, "-o", "child.yaml", replies=replies).ended(0)
    assert "the team wishes to try again." in done.err
    assert "solver: I guessed." in done.err
    child = load_team(world / "child.yaml")
    assert child.constitution == "Be honest.\n- Say how sure you are."
    assert all("counting" in agent.notes.patches for agent in child.agents.values())
    only = mas("reorganise", *TEAMWORK, "--level", "team", "--dry-run", replies=model())
    assert len(only.asked) == 3  # two say something, and the lead decides


@pytest.mark.usefixtures("shared_world")
def test_one_analyser_is_asked_once() -> None:
    arguments = ("reorganise", *TEAMWORK, "--scheme", "centralised", "--dry-run")
    done = mas(*arguments, replies=model())
    assert (done.code, len(done.asked)) == (0, 1), done.err


OPEN = """\
name: crew
agents:
  lead: {role: leads, prompt: "You are [lead]."}
  helper: {role: helps, prompt: "You are [helper]."}
  idler: {role: waits, prompt: "You are [idler]."}
execution: {roster: {lead: lead}}
"""
TURNS = {
    "lead": [
        {"acts": [{"act": "start_agent", "agent": "helper", "text": "Count them."}], "report": ""},
        {"acts": [{"act": "finalize", "answer": "8"}], "report": ""},
    ],
    "helper": [{"acts": [], "report": "There are 8."}],
}


def test_a_team_whose_roster_is_open_looks_back_with_those_who_worked(world: Path) -> None:
    turns = {name: iter(of) for name, of in TURNS.items()}
    newcomer = {"id": "checker", "role": "checks", "prompt": "Check it all.", "like": "helper"}
    rules = {"reason": "Nobody checks.", "come": [newcomer], "go": ["idler"]}
    looks = model({"notes": noted("counting"), "rules": {**UNCHANGED, **rules}})

    def works(body: Any) -> Reply:
        if "acts" in asked(body):
            return Reply.json(next(turns[asked_of(body)]))
        return looks(body)

    (world / "crew.yaml").write_text(OPEN)
    run("crew.yaml", *TASKED, folder="crew_run", replies=works)
    done = mas(
        "reorganise", "crew.yaml", "--run", "crew_run", "-o", "child.yaml", replies=works
    ).ended(0)
    child = load_team(world / "child.yaml")
    assert [*child.agents] == ["lead", "helper", "checker"]
    assert child.execution.roster is not None
    assert "counting" in child.agents["helper"].notes.patches
    assert {asked_of(call.body or {}) for call in calls_of(done.asked, "account")} == {
        "lead",
        "helper",
    }
    [deciding] = calls_of(done.asked, "rules")
    assert "not called: idler" in deciding.text
    [own] = calls_of(done.asked, "notes", "lead")
    said = [message["content"] for message in (own.body or {})["messages"]]
    assert any("Count them." in item for item in said[1:-1])
    assert any("There are 8." in item for item in said[1:-1])
