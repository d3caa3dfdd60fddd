"""An agent that looks back looks at the files that it worked on, as it left them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coterie.operators.core.answers import InvalidAnswer
from coterie.operators.methods.meta_team import RetrospectiveSettings, look_back
from coterie.operators.methods.meta_team.evidence.files import AT_ONCE, looks_in, tools_of
from coterie.runtime.repository.git import git
from coterie.schema import Task, Team

from ....asking import asking
from ....rounds import TRIO
from ..looking import NOTED, TOLD, calls_of, ground, model, ran, spoke

FILES = Task(id="t", query="Mend it.", answer="8", files={"a.py": "one = 1\n", "b/c.py": "two\n"})
READERS = replace(
    TRIO, agents={**TRIO.agents, "solver": replace(TRIO.agents["solver"], tools=("read_file",))}
)
CODERS = replace(
    TRIO,
    agents={
        **TRIO.agents,
        "solver": replace(TRIO.agents["solver"], agent_type="DefaultAgent", max_steps=3),
    },
)


def look(tool: str, path: str = "", text: str = "", line: int = 1) -> dict[str, Any]:
    return {"tool": tool, "path": path, "text": text, "line": line}


def looked(team: Team, task: Task, *wanted: list[Any], run: Any = None, looks: int = 3) -> Any:
    steps = iter(wanted)
    on = replace(ground(team, run), feedback=replace(TOLD, task=task))
    how = RetrospectiveSettings(pair_level=False, team_level=False, evidence=0, looks=looks)
    answers = {"looks": lambda _agent: {"looks": next(steps, [])}}
    return asking(model(answers), lambda meta: look_back(meta, "t/", on, how))


def test_an_agent_reads_with_the_tools_that_it_had_until_it_has_seen_enough() -> None:
    done = looked(READERS, FILES, [look("read_file", "a.py")], [look("read_file", "none.py")])
    asked = calls_of(done.calls, "looks")
    assert [("one = 1" in item.text, "none.py" in item.text) for item in asked] == [
        (False, False),
        (True, False),
        (True, True),
    ]
    [writing] = calls_of(done.calls, "notes", "solver")
    assert "one = 1" in writing.text
    assert all("one = 1" not in call.text for call in calls_of(done.calls, "notes", "writer"))
    assert [item.agent for item in done.result.reflected if item.looks] == ["solver"]


def test_it_looks_no_more_often_than_it_may() -> None:
    endless = [[look("read_file", "a.py", line=number)] for number in range(1, 9)]
    assert len(calls_of(looked(READERS, FILES, *endless, looks=2).calls, "looks")) == 2
    assert calls_of(looked(READERS, FILES, *endless, looks=0).calls, "looks") == []


def test_who_edited_a_repository_sees_it_as_it_left_it(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    repo.mkdir()
    (repo / "a.py").write_text("one = 1\n")
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        git(repo, "-c", "user.name=n", "-c", "user.email=e@example.org", *words)
    patch = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-one = 1\n+one = 2\n"
    spoken = spoke("solver")
    assert spoken.result is not None
    solver = replace(spoken, result=replace(spoken.result, patch=patch))
    task = replace(FILES, files={}, repo=repo)
    wanted = [look("list_files"), look("search_text", text="one")]
    done = looked(CODERS, task, wanted, run=ran(CODERS, solver=solver))
    [result] = [of.looks for of in done.result.reflected if of.looks]
    assert [item.result for item in result] == ["a.py", "a.py:1: one = 2"]
    assert (repo / "a.py").read_text() == "one = 1\n"


@pytest.mark.parametrize(
    ("team", "task", "agent", "tools"),
    [
        (READERS, FILES, "solver", ["read_file"]),
        (READERS, FILES, "writer", []),
        (READERS, replace(FILES, files={}), "solver", []),
        (CODERS, FILES, "solver", []),  # what it worked on was no repository
    ],
)
def test_nobody_has_a_tool_that_it_had_not(team: Team, task: Task, agent: str, tools: Any) -> None:
    on = replace(ground(team), feedback=replace(TOLD, task=task))
    assert [*tools_of(on, agent)] == tools


@pytest.mark.parametrize(
    "bad",
    [
        look("shell", "rm -rf ."),
        look("read_file", line=0),
        {**look("read_file"), "run": "x"},
        {**look("read_file"), "path": 7},
        "a.py",
    ],
)
def test_what_is_no_look_is_handed_back_and_then_passed_over(bad: Any) -> None:
    import json

    text = json.dumps({"looks": [bad, look("read_file", "a.py")]})
    with pytest.raises(InvalidAnswer, match="read_file"):
        looks_in(text, ["read_file"], strict=True)
    assert [item.path for item in looks_in(text, ["read_file"], strict=False)] == ["a.py"]
    many = json.dumps({"looks": [look("read_file", "a.py", line=n + 1) for n in range(9)]})
    assert len(looks_in(many, ["read_file"], strict=False)) == AT_ONCE


def test_a_link_out_of_the_copy_is_not_followed() -> None:
    done = looked(READERS, FILES, [look("read_file", "../../etc/passwd")])
    [result] = [item for of in done.result.reflected for item in of.looks]
    assert "root:" not in result.result
    assert NOTED["summary"] in {of.summary for of in done.result.reflected}
