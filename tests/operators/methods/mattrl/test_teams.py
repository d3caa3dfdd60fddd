"""What a recipe says of the team that consults: its catalogue, its recall, and a test ahead."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coterie.operators.methods.mattrl.experience import ExperienceSettings
from coterie.operators.methods.mattrl.teams import as_set, suits
from coterie.runtime.doubles import Reply, ScriptedModel, message_text
from coterie.runtime.doubles.script import Request
from coterie.runtime.messages.recall import MemoryEntry, fitting
from coterie.schema import Catalogue, Recall, Task, Team, dump, load_team, parse_team
from coterie.schema.loading.seeds import SEEDS

from ...building import evolution, recipe
from ...evolution.test_episode import done

KNOWN = Catalogue.of_host()
LESSON = """\
name: lesson
agents:
  before: {role: pupil, prompt: "You are [before]."}
  teacher: {role: teacher, prompt: "You are [teacher]."}
  after: {role: pupil, prompt: "You are [after]."}
topology: {reports_to: {before: [teacher], teacher: [after]}}
execution: {rounds: {most: 2, until: never, opening: [before], closing: [after]}}
"""
TASKS = [Task(id=f"t{n}", query=f"What is {n}?", answer=str(n)) for n in range(4)]


def test_a_catalogue_of_25_roles_takes_the_place_of_24_departments() -> None:
    team = load_team(SEEDS / "consultation.yaml", KNOWN)
    roles = tuple(f"Field {number}" for number in range(25))
    result = as_set(team, ExperienceSettings(catalogue=roles), recalls=False)
    recruit = result.execution.recruit
    assert recruit is not None
    assert [result.agents[item].role for item in recruit.among] == [*roles]
    assert len(result.agents) == len(team.agents) + 1
    again = parse_team(
        dump(result).encode(), "made.yaml", KNOWN
    )  # it is a team as good as any file
    assert again.execution.recruit == recruit


def test_entries_are_everybodys_unless_an_agent_or_the_recipe_says_own() -> None:
    team = load_team(SEEDS / "consultation.yaml", KNOWN)
    name = next(iter(team.agents))

    def read(recall: Recall, **settings: Any) -> Recall | None:
        agents = {**team.agents, name: replace(team.agents[name], recall=recall)}
        of = ExperienceSettings(**settings)
        return as_set(replace(team, agents=agents), of, recalls=True).agents[name].recall

    assert read(Recall()) == Recall(first="successful")
    assert read(Recall(of="own"), first="similar") == Recall(of="own")
    assert read(Recall(), experience="own") == Recall(of="own", first="successful")
    assert read(Recall(of="own"), experience="shared") == Recall(first="successful")


def test_what_succeeded_comes_first_and_what_is_closest_is_what_is_shown() -> None:
    rewards = {"closest": 0.0, "unknown": None, "solved": 1.0, "far": 1.0}
    result = [
        MemoryEntry(source="s", task="t", text=name.ljust(98), id=name, reward=reward)
        for name, reward in rewards.items()
    ]
    first = fitting(result, Recall(room=300, first="successful"))
    assert [item.id for item in first] == ["solved", "closest", "unknown"]
    assert [item.id for item in fitting(result, Recall(room=300))] == [
        "closest",
        "unknown",
        "solved",
    ]


def lesson(request: Request) -> Reply:
    """The pupil knows half of the answers by itself, and all of them after a lesson."""
    text = message_text(request)
    number = next(n for n in range(4) if f"What is {n}?" in text)
    if "[before]" in text:
        return Reply(text=str(number) if number < 2 else "?")
    wanted = str(request.get("response_format", ""))
    if "rationale" in wanted:
        return Reply.json({"context": "c", "action": "a", "rationale": "r"})
    if "score" in wanted:
        return Reply.json({"reason": "r", "agents": {"teacher": {"reason": "r", "score": 1}}})
    return Reply(text=str(number) if "[after]" in text else "Count.")


def taught(folder: Path, **settings: Any) -> tuple[list[Any], dict[str, int]]:
    async def work(stage: Any) -> list[Any]:
        result = evolution(stage, TASKS)
        await result.to_the_end()
        return result.lines()

    with ScriptedModel(lesson) as model:
        lines = done(folder, model.api_base, work, recipe(**settings), pair=LESSON)
        names = ("before", "teacher", "after")
        texts = [call.text for call in model.calls if '"score"' not in call.text]
        asked = {name: sum(f"You are [{name}]" in text for text in texts) for name in names}
    return lines, asked


def test_who_is_right_in_the_pre_test_is_not_taught_and_teaches_nothing(tmp_path: Path) -> None:
    lines, asked = taught(tmp_path, pre_test="skip_right", share=1)
    assert [line["score"] for line in lines] == [1, 1, 1, 1]
    assert [line["told"]["pre-test right"] for line in lines] == [1, 1, 0, 0]
    assert asked == {"before": 4, "teacher": 4, "after": 2}
    assert [utterance["case"] for utterance in lines[-1]["story"][-1]["utterances"]] == [
        "t2",
        "t2",
        "t3",
        "t3",
    ]


def test_without_the_switch_everybody_is_taught(tmp_path: Path) -> None:
    assert taught(tmp_path)[1] == {"before": 4, "teacher": 8, "after": 4}


@pytest.mark.parametrize(
    ("settings", "field", "why"),
    [
        ({"catalogue": ("Physics",)}, "catalogue", "lesson recruits nobody"),
        ({"pre_test": "skip_right"}, "pre_test", "lesson has 0 agents that open"),
    ],
)
def test_what_a_team_has_no_use_for_is_refused(settings: Any, field: str, why: str) -> None:
    text = LESSON.replace("opening: [before], ", "")
    team: Team = parse_team(text.encode(), "lesson.yaml", KNOWN)
    assert suits(ExperienceSettings(**settings), [team], ())[field].startswith(why)
