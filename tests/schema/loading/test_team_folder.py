"""A team as a folder: written, loaded, written anew; nothing of a person's is lost."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from coterie.schema import Agent, InputError, Notes, Skill, Team, load_team
from coterie.schema.edits import SetNote, apply, edits_from_json, edits_to_json, taught
from coterie.schema.loading.agent_file import load_agent, write_agent
from coterie.schema.loading.loading import read_team, team_path
from coterie.schema.loading.team_folder import team_texts, write_team
from coterie.schema.values.errors import StorageError

from ...support.failpoints import armed
from ...support.problems import problems_of
from ..strategies import CATALOGUE, teams

LEARNT = Notes(
    patches={"units": "Write units.", "signs": "Mind signs."},
    pairs={"solver": "Ask for units."},
    skills={"nines": Skill(description="Casts out nines.", body="Add.", license="MIT")},
    taught={"patches/units": "sums_1", "pairs/solver": "sums_2", "skills/nines": "sums_3"},
)
PAIR = Team(
    name="pair",
    constitution="Be brief.",
    agents={
        "solver": Agent(id="solver", prompt="Solve it."),
        "critic": Agent(id="critic", role="critic", prompt="Check it.", notes=LEARNT),
    },
    reports_to={"solver": ("critic",)},
)


def there(folder: Path) -> Mapping[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


def with_notes(team: Team, agent: str, notes: Notes) -> Team:
    item = replace(team.agents[agent], notes=notes)
    return replace(team, agents={**team.agents, agent: item})


def told(team: Team) -> Mapping[str, Any]:
    """All that is told of where a team comes from."""
    of_agents = {
        agent.id: (
            agent.member,
            dict(agent.notes.taught),
            [
                (name, skill.license, skill.compatibility, dict(skill.metadata))
                for name, skill in sorted(agent.notes.skills.items())
            ],
        )
        for agent in team.agents.values()
    }
    return {"lineage": team.lineage, **of_agents}


@given(first=teams(), second=teams())
@settings(max_examples=4)
def test_what_is_written_is_loaded_and_writing_again_changes_nothing(
    first: Team, second: Team, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("team") / "team"
    for team in (first, second):
        assert write_team(folder, team) == ()
        read = load_team(folder, CATALOGUE)
        assert read == team
        assert told(read) == told(team)
        assert list(read.agents) == list(team.agents)
        assert {name: text.decode() for name, text in there(folder).items()} == team_texts(team)
        before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
        write_team(folder, read)
        assert before == {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


def test_a_folder_has_what_all_share_in_one_file_and_each_agent_apart(tmp_path: Path) -> None:
    write_team(tmp_path / "pair", PAIR)
    assert {*there(tmp_path / "pair")} == {
        "team.yaml",
        "agents/solver/agent.yaml",
        "agents/solver/prompt.md",
        "agents/critic/agent.yaml",
        "agents/critic/prompt.md",
        "agents/critic/notes/patches/units.md",
        "agents/critic/notes/patches/signs.md",
        "agents/critic/notes/pairs/solver.md",
        "agents/critic/skills/nines/SKILL.md",
    }
    assert (tmp_path / "pair/team.yaml").read_text().partition("\n")[2] == (
        "name: pair\nconstitution: Be brief.\nagents:\n"
        "  solver:\n    use: agents/solver\n  critic:\n    use: agents/critic\n"
        "topology:\n  reports_to:\n    solver: [critic]\n"
    )
    assert (tmp_path / "pair/agents/critic/skills/nines/SKILL.md").read_text() == (
        "---\nname: nines\ndescription: Casts out nines.\nlicense: MIT\nmetadata:\n  task: sums_3\n"
        "---\n\nAdd.\n"
    )
    assert load_agent(tmp_path / "pair/agents/critic").agent == PAIR.agents["critic"]


def test_what_a_team_no_longer_has_goes_and_what_is_no_part_of_it_stays(tmp_path: Path) -> None:
    write_team(tmp_path, PAIR)
    added = {
        "README.md": "Mine.",
        "agents/solver/todo.txt": "Mine.",
        "agents/other/agent.yaml": "role: other\n",
        "agents/critic/skills/nines/LICENSE.txt": "MIT.",
        "agents/critic/lessons.jsonl": "",
        ".git/HEAD": "x",
    }
    for name, text in added.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    left = ("README.md", "agents/critic/skills/nines/LICENSE.txt", "agents/other/agent.yaml")
    assert write_team(tmp_path, PAIR) == (*left, "agents/solver/todo.txt")
    bare = with_notes(
        PAIR, "critic", replace(LEARNT, patches={"units": "Write SI units."}, skills={})
    )
    alone = replace(bare, agents={"critic": bare.agents["critic"]}, reports_to={})
    write_team(tmp_path, alone)
    now = there(tmp_path)
    assert {name: text.decode() for name, text in now.items() if name in added} == added
    assert {*now} == {*added, *team_texts(alone)}
    assert "agents/critic/notes/patches/signs.md" not in now
    assert load_team(tmp_path, CATALOGUE) == alone


@pytest.mark.parametrize("stop", [1, 4, 9, 16, 25])
def test_stopped_anywhere_files_are_whole_and_it_can_be_ended(tmp_path: Path, stop: int) -> None:
    notes = replace(LEARNT, patches={"units": "Write SI units."}, skills={}, taught={})
    after = replace(with_notes(PAIR, "critic", notes), constitution="Be kind.")
    old, new = team_texts(PAIR), team_texts(after)
    write_team(tmp_path, PAIR)
    with armed(f"files.sync.before:{stop}:raise-enospc"), suppress(StorageError):
        write_team(tmp_path, after)
    now = there(tmp_path)
    assert {*now} <= {*old, *new}
    assert all(text.decode() in {old.get(name), new.get(name)} for name, text in now.items())
    write_team(tmp_path, after)
    assert load_team(tmp_path, CATALOGUE) == after
    assert {*there(tmp_path)} == {*new}


def test_a_folder_is_no_team_and_a_fault_is_told_in_the_right_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a team's folder"):
        load_team(tmp_path)
    write_team(tmp_path / "pair", PAIR)
    assert team_path(tmp_path / "pair") == tmp_path / "pair/team.yaml"
    (tmp_path / "pair/agents/solver/agent.yaml").write_text("role: solver\nmaxtokens: 3\n")
    (tmp_path / "pair/agents/critic/notes/pairs/solver.md").write_text("---\ntask: a b\n---\nx\n")
    texts = problems_of(read_team, tmp_path / "pair")
    assert [text.split(" error: ")[0] for text in texts] == [
        f"{tmp_path}/pair/agents/critic/notes/pairs/solver.md:2:7:",
        f"{tmp_path}/pair/agents/solver/agent.yaml:2:1:",
    ]


SKILL = """\
---
name: pdf-forms
description: Fills forms in.
license: Apache-2.0
compatibility: Needs a printer.
metadata:
  author: ann
  version: "1.0"
---

Print it.
"""


def test_a_skill_of_others_is_taken_as_it_is_and_written_back(tmp_path: Path) -> None:
    path = tmp_path / "clerk/skills/pdf-forms/SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(SKILL)
    (tmp_path / "clerk/agent.yaml").write_text("prompt: Fill in forms.\n")
    (path.parent / "LICENSE.txt").write_text("Apache.\n")
    item = load_agent(tmp_path / "clerk")
    assert item.agent.notes.skills["pdf-forms"].metadata == {"author": "ann", "version": "1.0"}
    write_agent(tmp_path / "other", item)
    assert (tmp_path / "other/skills/pdf-forms/SKILL.md").read_text() == SKILL
    edit = SetNote(agent="clerk", note="skill", name="pdf-forms", text="Type it.", description="F.")
    child = apply(item.team, taught_edits := [edit], CATALOGUE)
    assert isinstance(child, Team)
    skill = taught(child, taught_edits, "forms_1").agents["clerk"].notes.skills["pdf-forms"]
    assert (skill.body, skill.license) == ("Type it.", "Apache-2.0")
    assert edits_from_json(edits_to_json([edit])) == (edit,)


def test_what_a_skill_asks_for_and_cannot_have_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "clerk/skills/pdf--forms/SKILL.md"
    (path.parent / "scripts").mkdir(parents=True)
    path.write_text(SKILL.replace("pdf-", "pdf--").replace("license: ", "allowed-tools: "))
    (tmp_path / "clerk/agent.yaml").write_text("prompt: Fill in forms.\n")
    text = "\n".join(problems_of(load_agent, tmp_path / "clerk"))
    assert "SKILL.md:4:1: error: allowed-tools: not a field here. A skill grants no tools." in text
    assert "scripts:1:1: error: an agent reads only SKILL.md" in text
    assert "'pdf--forms' is not a skill's name" in text
