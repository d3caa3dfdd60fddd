"""Inputs of operators that are read from a recorded run, or from what another operator wrote."""

import json
from pathlib import Path
from typing import Any

import pytest

from ...consulting import doctors
from ..acting import IDEA, TASKED, judgement, mas, run, structured

DISTIL = ("distil", "ward_run", "heart", "--judged", "judged.json")
CRYSTALLIZE = ("dream_crystallize", "--ideas", "ideas.json", *TASKED)
COACH = ("coach", "trio.yaml", "solver", "--run", "run", "--dry-run")
COACHING = structured(wrong="You guessed.", plan="Count on your fingers.")


@pytest.mark.usefixtures("shared_world")
def test_every_utterance_of_a_run_is_scored_and_no_agent_is_asked_again() -> None:
    done = mas("appraise", "ward_run", replies=doctors)
    turns = [(score["agent"], score["round"]) for score in done.json]
    assert turns == [("heart", 1), ("brain", 1), ("heart", 2), ("brain", 2)]
    assert all(0 <= score["score"] <= 1 for score in done.json)
    assert len(done.asked) == 2
    for call in done.asked:
        assert "<utterance" in call.text
        assert "What is 3 + 4?" in call.text


def test_a_rubric_of_one_s_own_is_what_counts(world: Path) -> None:
    (world / "rubric.md").write_text("Only rhymes count.")
    for words, replies in (
        (("appraise", "ward_run"), doctors),
        (("contributions", "trio.yaml", "--run", "run"), structured(**judgement())),
    ):
        done = mas(*words, "--rubric", "rubric.md", replies=replies).ended(0)
        assert all("Only rhymes count." in call.text for call in done.asked)


@pytest.mark.usefixtures("shared_world")
def test_scores_that_are_there_are_read_and_others_are_asked_for_first() -> None:
    words = ("distil", "ward_run", "heart")
    [call] = mas(*words, "--judged", "scores.json", replies=doctors).asked
    assert "score 0.5: heart so" in call.text
    assert len(mas(*words, "--round", "1", replies=doctors).asked) == 2
    [call] = mas(*COACH, "--judged", "judged.json", replies=COACHING).asked
    assert "contribution 0.2: solver so" in call.text
    assert "maybe 8" in call.text
    assert "first count" not in call.text
    done = mas(*COACH, "--room", "80", replies=[structured(**judgement()), COACHING])
    assert "contribution 0.2: solver so" in done.asked[1].text
    unjudged = mas(*COACH, replies="no idea").ended(1)
    assert "contributions: the model gave no valid answer" in unjudged.err


def test_what_is_read_of_a_dream_is_shown_to_the_next(world: Path) -> None:
    (world / "said.json").write_text(
        json.dumps({"agent": "a", "opinions": [{"keep": True, "reason": "too short"}]})
    )
    done = mas(*CRYSTALLIZE, "--opinions", "said.json", replies="no")
    assert "- too short" in done.asked[0].text
    words = ("dream_contrast", "trio.yaml", "solver", "writer", "--run", "run")
    done = mas(*words, "--scores", "0.25", "0.75", replies="no")
    assert "solver failed, and writer succeeded" in done.asked[0].text
    assert "the agent's own answer: 0.25" in done.asked[0].text
    done = mas("dream_reflect", *words[1:3], "--run", "run", "--score", "0.5", replies="no")
    assert "the agent's own answer: 0.5" in done.asked[0].text
    done = mas("dream_imagine", "difference.json", "-q", "?", "--niche", "art", replies="no")
    assert "art" in done.asked[0].text


def opinions(*keep: bool) -> dict[str, Any]:
    return {"agent": f"{keep}", "opinions": [{"keep": holds, "reason": "r"} for holds in keep]}


@pytest.mark.parametrize(
    ("words", "value", "message"),
    [
        (
            ("distil", "ward_run", "chief"),
            {},
            "'chief' said nothing in that round. Utterances: heart in",
        ),
        (DISTIL, [{"agent": "brain", "round": 1}], "not the output of mas dev op appraise"),
        (DISTIL, [], "no entry for heart in round 2"),
        (CRYSTALLIZE, [{"text": "Count."}], "not the output of mas dev op dream_imagine"),
        ((*CRYSTALLIZE, "ideas"), {"opinions": [1]}, "not the output of mas dev op dream_debate"),
        ((*CRYSTALLIZE, "ideas"), opinions(), "no opinions on the 1 strategies"),
        ((*CRYSTALLIZE, "ideas"), opinions(False), "no strategy is left"),
        (
            ("dream_imagine", "judged.json", *TASKED),
            {},
            "not the output of mas dev op dream_contrast",
        ),
        ((*COACH, "--judged", "judged.json"), {}, "not the output of mas dev op contributions"),
        ((*COACH, "--judged", "judged.json"), judgement({"writer": 1}), "only for writer"),
        ((*COACH, "--judged", "none.json"), {}, "none.json"),
    ],
)
def test_other_files_refused(world: Path, words: tuple[str, ...], value: Any, message: str) -> None:
    is_of_opinions = words[-1] == "ideas"
    names = {"judged.json": value, "ideas.json": [IDEA] if is_of_opinions else value}
    for name, content in names.items():
        (world / name).write_text(json.dumps(content))
    more = ("--opinions", "judged.json") if is_of_opinions else ()
    done = mas(*words[: -1 if is_of_opinions else None], *more)
    assert (done.code, done.asked) == (2, [])
    assert message in done.err


def test_a_run_that_did_not_end_or_was_adapted_is_refused(world: Path) -> None:
    result = world / "ward_run" / "result.json"
    done_text = result.read_text()
    result.write_text(json.dumps({**json.loads(done_text), "status": "failed"}))
    done = mas("appraise", "ward_run").ended(2)
    assert "this run is failed, so its utterances are incomplete." in done.err
    result.write_text(done_text)
    (world / "ward_run" / "adapt.yaml").write_text("strategy: tacomas\n")
    done = mas("appraise", "ward_run").ended(2)
    assert "the team of this run adapted" in done.err
    result.unlink()
    done = mas("appraise", "ward_run").ended(2)
    assert "this run is unfinished" in done.err


@pytest.mark.usefixtures("world")
def test_a_run_in_which_nobody_consults_has_no_utterances() -> None:
    run("solo.yaml", *TASKED, folder="solo_run", replies="7")
    done = mas("appraise", "solo_run")
    assert (done.code, done.asked) == (2, [])
    assert "no agent consults in a run of solo" in done.err
