"""Own attempts: in every structure members who differ teach each other."""

from pathlib import Path
from typing import Any

import pytest

from coterie.operators.evolution.episode import Episode
from coterie.operators.methods.evochamber.alone import in_a_vote, own_attempts
from coterie.operators.methods.evochamber.attempts import attempts, graded
from coterie.operators.methods.evochamber.dream.dreaming import dream
from coterie.operators.methods.evochamber.seating import seated
from coterie.runtime.doubles import Reply, message_text
from coterie.runtime.doubles.script import Request
from coterie.schema.team.task import Task

from ....pool.populations import folded, town, worked
from ...evolving import asked
from .dream.test_dreaming import dreamers
from .test_seating import TEMPLATES
from .test_seating import structure as read
from .town import MEMBERS, OTHERS, SEATS, TASK, Lived, lived

ALL_ANSWER, ONE_ANSWERS = ("voting", "debate"), ("generator_critic", "decompose")


def differing(request: Request) -> Reply:
    """Only ben can add by itself, and whoever was told how."""
    text = message_text(request)
    if asked(request) or "may not hold here" in text:
        return dreamers()(request)
    is_able = "You are called ben." in text
    if any(part in text for part in ("Find what is wrong", "work on the part that is yours")):
        return Reply(text="I see nothing wrong in my part.")
    return Reply(text="7" if is_able else "8")


def taught(folder: Path, structure: str, replies: Any = differing, **how: Any) -> Lived:
    """Have ada, who leads, ben and cyn work in a structure, and dream."""

    async def work(episode: Episode) -> None:
        members = {
            seat: episode.view.agents[name].agent for seat, name in zip(SEATS, MEMBERS, strict=True)
        }
        known = episode.context.catalogue
        team = seated(TEMPLATES[structure], members, episode.settings, known)
        run = await episode.run(team.team, "work")
        reward = (await episode.score(run, "work")).value  # type: ignore[union-attr]
        answers = await graded(episode, attempts(team, run))
        answers = await own_attempts(episode, team, answers, reward)
        population = folded([*town(*MEMBERS, *OTHERS), worked(MEMBERS, TASK.niche, reward)])
        await dream(episode, population, team, run, answers, reward=reward)

    return lived(folder, replies, work, **how)


@pytest.mark.parametrize("structure", [*ALL_ANSWER, *ONE_ANSWERS])
def test_in_every_structure_who_can_teaches_who_cannot(tmp_path: Path, structure: str) -> None:
    result = taught(tmp_path, structure)
    report = result.event("dream")
    assert report["scores"] == {"ada": 0.0, "ben": 1.0, "cyn": 0.0}
    assert (report["verified"], report["givers"]) == (1, ["ben"])
    [entry] = result.pool.learnt.values()
    assert (entry.giver, entry.to) == ("ben", ("ada", "cyn"))
    assert result.line["told"].get("own attempts", 0) == (2 if structure in ONE_ANSWERS else 0)


def test_what_a_critic_answered_alone_is_compared(tmp_path: Path) -> None:
    result = taught(tmp_path, "generator_critic")
    first, _ = [call.text for call in result.model.calls if "Two agents worked" in call.text]
    assert "<attempt_alone" in first
    assert "I see nothing wrong in my part." in first


@pytest.mark.parametrize("structure", ONE_ANSWERS)
def test_without_attempts_such_a_structure_teaches_nothing(tmp_path: Path, structure: str) -> None:
    result = taught(tmp_path, structure, own_attempts="never", shared_failure="abstain")
    report = result.event("dream")
    assert (report["abstained"], report["because"]) == (True, "nobody succeeded")
    assert not result.pool.learnt


def test_a_right_team_attempts_alone_only_where_the_recipe_says_always(tmp_path: Path) -> None:
    def able_leader(request: Request) -> Reply:
        return Reply(text="7") if "You lead" in message_text(request) else differing(request)

    usual = taught(tmp_path / "usual", "decompose", able_leader)
    assert usual.line["told"] | {"dreams": 0} == usual.line["told"]
    assert usual.line["runs"] == ["run", "work"]
    result = taught(tmp_path / "always", "decompose", able_leader, own_attempts="always")
    report = result.event("dream")
    assert (report["why"], report["scores"]) == ("disagreement", {"ada": 1, "ben": 1, "cyn": 0})
    [entry] = result.pool.learnt.values()
    assert entry.to == ("cyn",)


def test_who_is_alone_works_as_in_the_vote_of_the_pool() -> None:
    mine = read("name: mine\nagents: {anchor: {prompt: Be brief.}}\n")
    relays = [TEMPLATES[name] for name in ("debate", *ONE_ANSWERS)]
    assert in_a_vote([*relays, mine]).prompt == "Be brief."
    assert in_a_vote(relays).prompt == in_a_vote(TEMPLATES.values()).prompt == "answer_for_team"


def test_where_nobody_may_dream_nobody_attempts_it_alone(tmp_path: Path) -> None:
    result = taught(tmp_path, "decompose", codream=False)
    assert result.line["runs"] == ["run", "work"]


def test_who_comes_to_nothing_alone_has_no_attempt(tmp_path: Path) -> None:
    def silent(request: Request) -> Reply:
        is_alone = "Solve the task on your own" in message_text(request)
        return Reply(text="") if is_alone else differing(request)

    report = taught(tmp_path, "decompose", silent, shared_failure="abstain").event("dream")
    assert report["scores"] == {"ada": 0.0}


def test_an_attempt_that_the_judge_cannot_score_is_counted(tmp_path: Path) -> None:
    def judging(request: Request) -> Reply:
        if "score" not in asked(request):
            return differing(request)
        is_alone = "\n7\n" in message_text(request)
        return Reply.json(1 if is_alone else {"reason": "r", "score": 0.1})

    task = Task(id="open", query="What is 3 + 4?", niche="sums")
    result = taught(tmp_path, "decompose", judging, tasks=(task,))
    assert result.event("dream")["scores"] == {"ada": 0.1, "cyn": 0.1}
    assert "judge" in [item["operator"] for item in result.line["dropped"]]
