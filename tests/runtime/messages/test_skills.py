"""Skills: agents with tools read them on demand, and a run that goes on knows what they read."""

from dataclasses import replace

from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.schema import Agent, Notes, Skill

from ..conftest import Bench, team

SKILLS = {"nines": Skill(description="Casts out nines.", body="Add the digits until one is left.")}
READER = Agent(id="a", agent_type="ToolCallingAgent", notes=Notes(skills=SKILLS))


def test_an_agent_that_uses_tools_reads_a_skill_with_one(bench: Bench) -> None:
    script = [
        Reply.tool("read_skill", name="threes"),
        Reply.tool("read_skill", name="nines"),
        Reply.tool("final_answer", answer="9"),
    ]
    with ScriptedModel(script) as model:
        run = bench.run(team(READER), model)
        shown = [call.text for call in model.calls]
    assert run.answer == "9"
    assert "Casts out nines." in shown[0]
    assert "one of ['nines']" in shown[1]
    assert "Add the digits" not in shown[1]
    assert "Add the digits until one is left." in shown[2]
    assert len(bench.of("repair", "a")) == 1
    (right,) = bench.of("tool_call", "a")
    assert right.fields["result"] == SKILLS["nines"].body


def test_an_agent_without_skills_has_no_such_tool(bench: Bench) -> None:
    with ScriptedModel(Reply.tool("final_answer", answer="9")) as model:
        bench.run(team(replace(READER, notes=Notes(), prompt="Add.")), model)
        assert "read_skill" not in model.calls[0].text
