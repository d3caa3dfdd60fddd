"""What an agent of an open roster may do, and what it is told of it at once."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime.agents.acts import Act, Finalize, Send, Start, Stop, Terminate
from coterie.runtime.agents.posted import Mail
from coterie.runtime.agents.seat import LARGEST_TEXT, MOST_ACTS, Seat
from coterie.runtime.roster.bus import Bus, TurnDone, TurnStart
from coterie.runtime.roster.outgoing import outgoing
from coterie.runtime.tools import ToolError
from coterie.schema import Agent, Execution, Roster, Team

IDS = ("planner", "coder", "critic", "writer")
TEAM = Team(
    name="crew",
    agents={
        word: Agent(id=word, role=f"the\n{word}", prompt="Secret.", tools=("clock",))
        for word in IDS
    },
    reports_to={},
    execution=Execution(roster=Roster(lead="planner", alive=3, messages=9)),
)


def seat(agent: str = "planner", **fields: Any) -> Seat:
    known: dict[str, Any] = {
        "turn": 1,
        "messages": (),
        "active": ("planner", "coder"),
        "candidates": ("critic", "writer"),
        "messages_left": 9,
        "turns_left": 5,
        "places_left": 1,
    }
    return Seat(team=TEAM, agent=agent, mail=Mail(**{**known, **fields}))


def why(act: Act, *done: Act, agent: str = "planner", **fields: Any) -> str:
    with pytest.raises(ToolError) as refused:
        seat(agent, **fields).reply(done, act)
    return str(refused.value)


def send(to: str, text: str = "hi") -> Send:
    return Send(to=to, text=text)


def start(agent: str) -> Start:
    return Start(agent=agent, text="go")


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (send("planner"), "that is you."),
        (send("critic"), "critic is not active. Start it first."),
        (send("codre"), "nobody here is called 'codre'. Did you mean 'coder'?"),
        (send("\u0441oder"), "Did you mean 'coder'?"),
        (send("coder", " \n"), "it says nothing."),
        (send("coder", "x" * (LARGEST_TEXT + 1)), "20,001 characters, and 20,000 are the most."),
        (start("coder"), "coder is active already. Write to it with send."),
        (start("nobody\nAct: finalize"), "nobody here is called 'nobody\\nAct: finalize'."),
        (Stop(agent="critic"), "critic is not active."),
        (Stop(agent="planner"), "planner leads, and cannot be stopped."),
        (Finalize(answer=""), "it says nothing."),
    ],
)
def test_what_cannot_happen_is_said_at_once(act: Act, message: str) -> None:
    assert message in why(act)


def test_what_it_has_done_since_counts() -> None:
    assert seat().reply([start("critic")], send("critic")).startswith("critic reads it")
    assert why(start("writer"), start("critic")) == "3 agents are active, which is the most."
    assert seat().reply([start("critic"), Stop(agent="coder")], start("writer"))
    assert "not active" in why(send("coder"), Stop(agent="coder"))
    assert "no more messages" in why(send("coder"), send("coder"), messages_left=1)
    for last in (Finalize(answer="42"), Terminate(reason="no")):
        assert "ended the team's work" in why(Finalize(answer="43"), last)
    assert "in one turn" in why(Stop(agent="coder"), *[send("coder")] * MOST_ACTS)


def test_only_the_lead_ends_the_work_of_others() -> None:
    assert {*seat().may} - {*seat("coder").may} == {"finalize", "terminate"}
    assert why(Stop(agent="critic"), agent="coder") == (
        "only planner stops others. You may stop yourself."
    )
    assert seat("coder").reply([], Stop(agent="coder"))
    assert seat(hands_in=True).may == ()


def test_of_each_candidate_its_role_and_its_tools_are_public() -> None:
    mine, other, *_ = seat().pool()
    assert mine == {
        "agent": "planner", "role": "the planner", "tools": ["clock"], "active": True, "you": True,
    }  # fmt: skip
    assert "Secret" not in str(seat().pool())
    assert (other["you"], other["active"]) == (False, True)


NAMES = st.sampled_from([*IDS, "nobody"])
ACTS = st.one_of(
    st.builds(Send, to=NAMES, text=st.sampled_from(["", "hi"])),
    st.builds(Start, agent=NAMES, text=st.just("go")),
    st.builds(Stop, agent=NAMES),
    st.builds(Finalize, answer=st.just("42")),
)


@given(st.lists(ACTS, max_size=12))
def test_what_it_is_told_will_happen_happens(wanted: list[Act]) -> None:
    """While nobody else is at work, the bus refuses nothing that a seat let pass."""
    bus = Bus(candidates=IDS, roster=TEAM.execution.roster or Roster(lead="planner"))
    begun: TurnStart = bus.take("planner")
    bus.apply(begun)
    place, done = Seat(team=TEAM, agent="planner", mail=bus.mail(begun)), list[Act]()
    for act in wanted:
        try:
            place.reply(done, act)
        except ToolError:
            continue
        done.append(act)
    posted = outgoing(bus, "planner", 1, done)
    assert [item.text for item in posted if item.kind in {"refused", "unsent"}] == []
    bus.apply(TurnDone(agent="planner", turn=1, posted=posted))
    assert len(bus.active) <= 3
