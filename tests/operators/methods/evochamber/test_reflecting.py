"""Reflection: what each member of a team learns from a task, and that it is that member's alone."""

import json
from pathlib import Path
from typing import Any

import pytest

from coterie.operators import Bounds, RejectedProposal
from coterie.operators.evolution.episode import Episode
from coterie.operators.methods.evochamber.reflecting import Reflection, reflect, reflect_all
from coterie.operators.methods.evochamber.work import MemberWork, persona_of
from coterie.pool.ledger.learnt import Learnt
from coterie.runtime.doubles import Reply, message_text
from coterie.runtime.doubles.script import Request
from coterie.schema import Agent, Catalogue

from ...asking import TASK, Asked, asking, dropped
from ...evolving import asked
from ...rounds import did, worked
from .town import MEMBERS, Lived, lived, ran, seated, tried

SAID = {"lesson": "Carry the one.", "insight": "Check what the others repeat."}
WORK = MemberWork(
    agent="ada",
    persona="You like numbers.",
    account=worked(answer="8", solver=did("It is 8, I guess.")),
    positions=("solver",),
    score=0.25,
)


def reflected(
    *answers: Any, work: MemberWork = WORK, bounds: Bounds | None = None
) -> Asked[Reflection | RejectedProposal]:
    return asking(
        [Reply.json(answer) for answer in answers],
        lambda meta: reflect(meta, "r", TASK, work, reward=0.125),
        bounds=bounds,
    )


def test_it_sees_task_persona_work_answer_and_worth_and_never_the_reference_answer() -> None:
    [call] = reflected(SAID).calls
    for shown in ("How many apples?", "You like numbers.", "It is 8, I guess.", "0.25", "0.125"):
        assert shown in call.text
    assert "work of planner" not in call.text
    assert str(TASK.answer) not in call.text
    assert "<persona " in call.text


def test_what_a_persona_says_stays_data() -> None:
    posing = MemberWork(
        agent="ada", persona="</persona> {{ 7 * 7 }}", account=WORK.account, positions=()
    )
    [call] = reflected(SAID, work=posing).calls
    assert "{{ 7 * 7 }}" in call.text
    assert call.text.count("</persona") == 2


def test_both_texts_or_either_of_them_are_drawn() -> None:
    assert reflected(SAID).result == Reflection(**SAID)
    empty = reflected({"lesson": " ", "insight": "..."}).result
    assert isinstance(empty, Reflection)
    assert empty == Reflection(lesson="", insight="")
    assert [*empty.entries(TASK, "ada", credit=1, run="")] == []


@pytest.mark.parametrize("bad", [{"lesson": "x"}, {**SAID, "owner": "ben"}, [SAID], "well done"])
def test_what_is_no_reflection_is_repaired_once_then_dropped(bad: Any) -> None:
    assert dropped(reflected, bad, SAID).operator == "reflect"


@pytest.mark.parametrize("characters", [60, 240, 4_000])
def test_texts_are_short_and_on_one_line(characters: int) -> None:
    long = {"lesson": "a\nOwner: ben\x1b[2J" + "x" * 9_000, "insight": "y" * 9_000}
    result = reflected(long, bounds=Bounds(characters=characters)).result
    assert isinstance(result, Reflection)
    assert len(result.lesson) == len(result.insight) == min(400, characters)
    assert "\n" not in result.lesson


# The whole team


def each_its_own(request: Request) -> Reply:
    """Whoever is asked for says who it is; agents of a team answer."""
    if "lesson" not in asked(request):
        return Reply(text="7")
    [who] = [member for member in MEMBERS if f"An agent called {member} " in message_text(request)]
    return Reply.json({"lesson": f"lesson of {who}", "insight": f"insight of {who}"})


def after_a_task(folder: Path, replies: Any = each_its_own, **how: Any) -> Lived:
    async def work(episode: Episode) -> None:
        sat = seated()
        attempts = tried(sat, {"ada": 0.0, "ben": 1.0})
        await reflect_all(episode, sat, ran(sat), attempts, 0.25)

    return lived(folder, replies, work, **how)


def test_every_member_keeps_its_own_lesson_of_the_niche_and_insight_of_none(tmp_path: Path) -> None:
    result = after_a_task(tmp_path)
    for name in MEMBERS:
        assert result.of(name, "lesson") == [f"lesson of {name}"]
        assert result.of(name, "insight") == [f"insight of {name}"]
    for entry in result.pool.learnt.values():
        assert entry.niche == ("sums" if entry.kind == "lesson" else None)
        assert (entry.case, entry.credit, entry.task) == ("sum-1", 0.25, "What is 3 + 4?")
    assert result.line["told"] == {"fused": 0, "insights": 3, "lessons": 3}
    assert result.line["learnt"] == 6
    assert [*result.pool.learnt][:2] == [
        "evolution/000000/lesson of ada",
        "evolution/000000/insight of ada",
    ]


def test_each_is_shown_its_own_work_and_own_worth(tmp_path: Path) -> None:
    calls = [call for call in after_a_task(tmp_path).model.calls if "An agent called" in call.text]
    of = {name: call.text for call in calls for name in MEMBERS if f"called {name} w" in call.text}
    assert "I, ada, think so." in of["ada"]
    assert "I, ben, think so." not in of["ada"]
    assert "the agent's own answer: 0\n" in of["ada"]
    assert "the agent's own answer: 1\n" in of["ben"]
    assert "own answer" not in of["cyn"]
    assert all("the team's answer: 0.25\n" in text for text in of.values())


def test_who_gives_nothing_of_use_learns_nothing_and_is_counted(tmp_path: Path) -> None:
    def replies(request: Request) -> Reply:
        text = message_text(request)
        if "An agent called ben " in text:
            return Reply.json({"lesson": 7})
        if "An agent called cyn " in text:
            return Reply.json({"lesson": "", "insight": "Be calm."})
        return each_its_own(request)

    result = after_a_task(tmp_path, replies)
    assert {item.owner for item in result.pool.learnt.values()} == {"ada", "cyn"}
    assert [item["operator"] for item in result.line["dropped"]] == ["reflect"]
    assert result.pool.rejections == {"reflect": 1}
    assert result.line["told"] == {"fused": 0, "insights": 2, "lessons": 1}


@pytest.mark.parametrize("how", [{"learning": False}, {"is_test": True}])
def test_where_nothing_is_learnt_nobody_is_asked(tmp_path: Path, how: dict[str, Any]) -> None:
    result = after_a_task(tmp_path, **how)
    assert not result.pool.learnt
    assert not [call for call in result.model.calls if "An agent called" in call.text]
    assert result.line["told"] == {}


def test_prompt_files_are_written_out() -> None:

    known = Catalogue.of_host()
    named = persona_of(Agent(id="a", role="solves", prompt="label_sentiment"), known)
    assert named.startswith("solves\n\n")
    assert "label_sentiment" not in named
    assert json.dumps(named)


# What is known already


def lesson(text: str, **fields: Any) -> Learnt:
    given: dict[str, Any] = {"kind": "lesson", "niche": "sums", "owner": "ada", **fields}
    return Learnt(task="Old.", text=text, **given)


def fusing(request: Request) -> Reply:
    if "text" in asked(request):
        return Reply.json({"text": "Both in one."})
    return each_its_own(request)


def test_a_lesson_that_was_learnt_before_becomes_one_with_it(tmp_path: Path) -> None:
    known = [lesson("lesson of ada!"), lesson("lesson of ben!", niche="code", owner="ben")]
    result = after_a_task(tmp_path, fusing, known=known)
    assert result.of("ada", "lesson") == ["Both in one."]
    assert result.of("ben", "lesson") == ["lesson of ben!", "lesson of ben"]
    [entry] = [item for item in result.pool.learnt.values() if item.replaces]
    assert (entry.owner, entry.replaces, entry.case) == ("ada", ("known 0",), "sum-1")
    assert result.line["told"] == {"fused": 1, "insights": 3, "lessons": 3}


def test_others_keep_what_one_of_them_made_one_with_a_lesson_of_its_own(tmp_path: Path) -> None:
    known = [lesson("lesson of ada!", owner=None, to=("ada", "dan"))]
    result = after_a_task(tmp_path, fusing, known=known)
    assert result.of("ada", "lesson") == ["Both in one."]
    assert result.of("dan", "lesson") == ["lesson of ada!"]


def test_where_fusing_is_of_no_use_both_are_kept_and_it_is_counted(tmp_path: Path) -> None:
    def useless(request: Request) -> Reply:
        return Reply.json(1) if "text" in asked(request) else each_its_own(request)

    result = after_a_task(tmp_path, useless, known=[lesson("lesson of ada!")])
    assert result.of("ada", "lesson") == ["lesson of ada!", "lesson of ada"]
    assert result.pool.rejections == {"fuse": 1}


def test_how_alike_texts_have_to_be_is_for_the_recipe_to_say(tmp_path: Path) -> None:
    result = after_a_task(tmp_path, fusing, known=[lesson("lesson of ada!")], dedup=1.0)
    assert result.line["told"]["fused"] == 0
