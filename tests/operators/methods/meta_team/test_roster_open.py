"""A team whose roster is open evolves: who worked looks back, and roles come and go."""

from pathlib import Path

import pytest

from coterie.pool import Pool
from coterie.runtime.doubles import Reply
from coterie.runtime.doubles.script import Request

from ...evolving import asked
from . import world

CREW = """\
name: crew
constitution: |
  - Be brief.
agents:
  lead: {prompt: "You lead."}
  adder: {prompt: "You add."}
  checker: {prompt: "You check."}
  idler: {prompt: "You are asked for nothing."}
execution:
  roster: {lead: lead, turns: 9}
"""
POOL = Path("pool")
pytestmark = pytest.mark.usefixtures("here")


def crew(request: Request) -> Reply:
    """Have the lead call upon the adder, and hand in what that one says."""
    form = asked(request)
    if "acts" not in form:
        if "come" in form:
            newcomer = {"id": "units", "role": "minds units", "prompt": "You mind the units."}
            fields = {"come": [{**newcomer, "like": "adder"}], "go": ["idler"], "rules": []}
            return Reply.json(
                {"reason": "units were lost", "outdated": [], **fields, "retry": False}
            )
        return world.answering(request)
    messages = request["messages"]
    if "You lead." not in str(messages[0]):
        act = {"act": "send", "to": "lead", "text": "It is 7."}
        return Reply.json({"acts": [act], "report": "done"})
    if len(messages) <= 2:
        act = {"act": "start_agent", "agent": "adder", "text": "Add them."}
        return Reply.json({"acts": [act], "report": "asked the adder"})
    return Reply.json({"acts": [{"act": "finalize", "answer": "7"}], "report": "done"})


def test_those_who_worked_look_back_and_roles_come_and_go(tmp_path: Path) -> None:
    world.write_world(tmp_path, tasks=1, evidence=1)
    (tmp_path / "crew.yaml").write_text(CREW)
    world.write_recipe(tmp_path, {"evidence": 1}, seeds=["crew.yaml"])
    paths = list[str]()

    def listening(request: Request) -> Reply:
        paths.append(" ".join(asked(request)))
        return crew(request)

    world.evolved("pool", script=listening).ended(0)
    [line] = world.told(POOL)
    assert line["score"] == 1
    [head] = Pool.open(POOL).members.values()
    assert {*head.team.agents} == {"lead", "adder", "checker", "units"}
    assert head.team.execution.roster is not None
    assert sum("summary" in path for path in paths) == 2, "only the lead and the adder worked"
    assert sum("profile" in path for path in paths) == 2, "one pair exchanged messages"


def test_killed_in_an_open_roster_it_has_the_same_pool(tmp_path: Path, nightly: bool) -> None:
    world.write_world(tmp_path, tasks=1)
    (tmp_path / "crew.yaml").write_text(CREW)
    world.write_recipe(tmp_path, {"evidence": 0}, seeds=["crew.yaml"])
    clean = world.evolved("clean", script=crew).ended(0)
    for most in range(1, clean.calls, 1 if nightly else 5):
        pool = f"stopped {most}"
        first = world.evolved(pool, "--budget", f"calls={most}", script=crew)
        assert (first.code, first.calls) == (3, most)
        again = world.evolved(pool, "--budget", "calls=99", script=crew)
        assert (again.code, first.calls + again.calls) == (0, clean.calls)
        assert world.left(Path(pool)) == world.left(Path("clean"))


def test_a_closed_roster_is_the_head_from_the_start(tmp_path: Path) -> None:
    world.write_world(tmp_path, tasks=1)
    (tmp_path / "crew.yaml").write_text(CREW)
    world.write_recipe(tmp_path, {"roster": "closed", "scheme": "none"}, seeds=["crew.yaml"])
    result = world.evolved("pool").ended(0)
    [head] = Pool.open(POOL).members.values()
    assert head.team.execution.roster is None
    assert head.team.reports_to == dict.fromkeys(("adder", "checker", "idler"), ("lead",))
    assert result.calls == 4
