"""Agents of an open roster act by what their backends have: real agents, real jails."""

import asyncio
from functools import partial
from typing import Any

import pytest

from coterie.runtime import AgentOutcome, compile, execute
from coterie.runtime.agents.acts import Act, Finalize, Send, Start, TurnAnswer, acts
from coterie.runtime.agents.outcomes import Posted
from coterie.runtime.agents.posted import Mail
from coterie.runtime.agents.round_state import RoundState
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.jail import Jails
from coterie.schema import Agent, Catalogue, Execution, Model, Notes, Roster, Skill, Team

from ...jails import needs_jail
from ...support.performing import performed
from .conftest import TASK, observed

pytestmark = [needs_jail, pytest.mark.usefixtures("nothing_left")]

ASKED = Posted(number=2, sender="planner", to="hand", kind="start", text="Count them.")
ADDING = {"adding": Skill(description="How to add.", body="Carry the one.")}


def turn(model: ScriptedModel, hand: Agent, *, leads: bool = False, **known: Any) -> AgentOutcome:
    """Have an agent take a turn in a team of three."""
    others = [Agent(id=word, prompt="x") for word in ("planner", "critic")]
    team = Team(
        name="crew",
        agents={item.id: item for item in (*others, hand)},
        reports_to={},
        execution=Execution(roster=Roster(lead=hand.id if leads else "planner"), max_retries=0),
    )
    mail = Mail(
        turn=1,
        messages=() if leads else (ASKED,),
        active=("planner", "hand"),
        candidates=("critic",),
        messages_left=9,
        turns_left=9,
        places_left=9,
        **known,
    )
    given = {other.id: AgentOutcome(status="skipped") for other in others}
    models = {"default": Model(alias="default", model="scripted", api_base=model.api_base)}
    plan = compile(team, Catalogue.of_host(models=models))
    once = partial(execute, state=RoundState(mail={"hand": mail}), preset=given)
    run = asyncio.run(performed(plan, TASK, models, how=once, jails=Jails()))
    return run.agents["hand"]


def coder(**fields: Any) -> Agent:
    return Agent(id="hand", agent_type="CodeAgent", **fields)


def worker() -> Agent:
    return Agent(id="hand", agent_type="DefaultAgent")


def test_code_acts_by_functions_in_its_jail() -> None:
    code = """
for one in list_pool()["agents"]:
    if not one["active"]:
        print(start_agent(one["agent"], "Check: " + str(6 * 7)))
final_answer(read_skill("adding") + " 42")
"""
    with ScriptedModel(Reply.code(code)) as model:
        done = turn(model, coder(notes=Notes(skills=ADDING)))
        assert "def start_agent(agent: string, text: string)" in model.calls[0].text
        assert "Carry the one." not in model.calls[0].text
    expected: tuple[Act, ...] = (
        Start(agent="critic", text="Check: 42"),
        TurnAnswer(to="planner", text="Carry the one. 42"),
    )
    assert acts(done, [ASKED]) == expected


def test_code_is_told_what_cannot_be() -> None:
    code = 'send("nobody", "hi")'
    with ScriptedModel([Reply.code(code), Reply.code("final_answer('42')")]) as model:
        done = turn(model, coder())
        assert "nobody here is called 'nobody'." in observed(model, 1)
    assert acts(done) == ()


def test_who_hands_in_has_no_tools_at_all() -> None:
    code = "print('finalize' in globals(), 'read_skill' in globals())\nfinal_answer('42')"
    with ScriptedModel(Reply.code(code)) as model:
        done = turn(model, coder(notes=Notes(skills=ADDING)), leads=True, hands_in=True)
        assert "def finalize" not in model.calls[0].text
    assert done.result
    assert (done.result.content, done.tool_calls) == ("42", ())


def test_a_shell_agent_acts_beside_its_commands() -> None:
    both = Reply(
        tool_calls=(
            *Reply.bash("expr 6 '*' 7").tool_calls,
            *Reply.tool("send", to="planner", text="It is 42.").tool_calls,
            *Reply.tool("send", to="planer", text="Hm.").tool_calls,
        )
    )
    end = Reply.bash("printf '%s\\n' COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT told")
    with ScriptedModel([both, end]) as model:
        done = turn(model, worker())
        assert "Did you mean 'planner'?" in model.calls[1].text
        assert "planner reads it when your turn has ended." in model.calls[1].text
    assert acts(done, [ASKED]) == (Send(to="planner", text="It is 42."),)
    assert done.result
    commands = [step["command"] for step in done.result.steps]
    assert commands[0] == "expr 6 '*' 7"
    assert commands[1].startswith("send {")


def test_a_shell_agent_that_leads_hands_in() -> None:
    end = Reply.bash("printf '%s\\n' COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT done")
    with ScriptedModel([Reply.tool("finalize", answer="42"), end]) as model:
        done = turn(model, worker(), leads=True)
    assert acts(done) == (Finalize(answer="42"),)
