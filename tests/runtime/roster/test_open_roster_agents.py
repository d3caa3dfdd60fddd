"""An open roster of real smolagents members: six candidates, real jails, a scripted model."""

from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from coterie.runtime import Run, run
from coterie.runtime.agents.seat import MOST_ACTS
from coterie.runtime.command.run import main
from coterie.runtime.doubles import Reply, ScriptedModel, load_script
from coterie.runtime.record.trace import Event
from coterie.schema import Roster, Team, load_team

from ...jails import needs_jail
from ...support.commands import invoked_in

pytestmark = needs_jail

ROOT = Path(__file__).parents[3]
CREW = ROOT / "examples" / "open_roster" / "crew.yaml"
SCRIPT = ROOT / "examples" / "open_roster" / "script.yaml"
TASK = ROOT / "examples" / "tasks" / "two_pipes.json"


def played(model: ScriptedModel, team: Team | Path = CREW, **how: Any) -> tuple[Run, list[Event]]:
    events: list[Event] = []
    models = [f"scripted@{model.api_base}"]
    return run(team, TASK, model=models, listener=events.append, **how), events


def of(model: ScriptedModel, agent: str) -> list[list[Any]]:
    """What an agent was shown, call by call."""
    shown = [call.body["messages"] for call in model.calls]
    return [item for item in shown if f"Your name in it is {agent}." in item[0]["content"]]


def with_limits(**limits: Any) -> Team:
    team = load_team(CREW)
    return replace(team, execution=replace(team.execution, roster=Roster(lead="lead", **limits)))


def test_agents_are_called_upon_write_leave_and_hand_in(tmp_path: Path) -> None:
    with ScriptedModel(load_script(SCRIPT)) as model:
        done, events = played(model, runs=tmp_path)
        last = of(model, "lead")[-1]
        asked = of(model, "analyst")[-1]
    assert (done.status, done.answer, done.error) == ("done", "2.57", None)
    assert [(item.kind, item.sender, item.to) for item in done.bus] == [
        ("task", "", "lead"),
        ("start", "lead", "analyst"),
        ("start", "analyst", "programmer"),
        ("answer", "programmer", "analyst"),
        ("message", "analyst", "lead"),
        ("stop", "analyst", "analyst"),
        ("stop", "lead", "programmer"),
        ("start", "lead", "tester"),
        ("answer", "tester", "lead"),
        ("finalize", "lead", ""),
    ]
    assert done.bus[3].text == "2.571 hours"
    worked = {item for item, outcome in done.agents.items() if outcome.status == "done"}
    assert worked == {"lead", "analyst", "programmer", "tester"}
    mistakes = [str(event.fields.get("error")) for event in events if event.type == "step_failed"]
    assert "Did you mean 'analyst'?" in mistakes[0]
    assert "there is no tool 'finalize'" in mistakes[1]
    assert "ended the team's work already" in mistakes[2]
    # The lead's conversation went on: its question once, then what it said, and only what was new.
    texts = [str(item["content"]) for item in last]
    assert sum("One pipe fills" in text for text in texts) == 1
    assert [text for text in texts if "<mail" in text and "2.571" in text]
    assert len([text for text in texts if "Yes, to a thousandth." in text]) == 1
    assert "2.571 hours" in str(asked)
    [folder] = tmp_path.iterdir()
    again = invoked_in(tmp_path, main, ["--replay", str(folder), "--verify"], "mas-run")
    assert (again.code, "no difference" in again.out) == (0, True), again.err


def test_a_flood_of_one_agent_is_bounded_and_told() -> None:
    flood = """
for number in range(10_000):
    try:
        send("lead", f"letter {number}")
    except Exception as error:
        final_answer(str(error))
        break
"""
    script = {
        "Your name in it is lead.": [
            Reply.tool("start_agent", agent="programmer", text="Write."),
            Reply.tool("final_answer", answer=""),
            Reply.tool("finalize", answer="2.57"),
            Reply.tool("final_answer", answer=""),
        ],
        "Your name in it is programmer.": Reply.code(flood),
    }
    with ScriptedModel(script) as model:
        done, _ = played(model, with_limits())
        letters = str(of(model, "lead")[-1][-3:])
    assert done.answer == "2.57"
    assert sum(item.kind == "message" for item in done.bus) == MOST_ACTS
    assert "letter 0" in letters
    assert done.agents["programmer"].status == "done"


def test_places_and_messages_are_limits_and_the_lead_hands_in_without_tools() -> None:
    names = ("analyst", "programmer", "tester")
    starts = [Reply.tool("start_agent", agent=name, text="Hm?") for name in names]
    script = {
        "this is your last turn": Reply.tool("final_answer", answer="2.57"),
        "Your name in it is lead.": chain(starts, repeat(Reply.tool("final_answer", answer=""))),
        "Your name in it is programmer.": Reply.code("final_answer('one')"),
        "Your name in it is analyst.": Reply.tool("final_answer", answer="two"),
    }
    with ScriptedModel(script) as model:
        done, _ = played(model, with_limits(alive=3, messages=3))
        shown = of(model, "lead")
        last = next(call.body for call in model.calls if "this is your last turn" in str(call.body))
    assert "3 agents are active, which is the most." in str(shown[3])
    assert [tool["function"]["name"] for tool in last["tools"]] == ["final_answer"]
    assert done.ending
    assert (done.answer, done.answered_by, done.ending.why) == ("2.57", "lead", "messages")
    assert done.ending.sent == 3
