"""Credit by counterfactual runs: what they pay for, and what agents are worth."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime.doubles import Reply, message_text
from coterie.runtime.doubles.script import Request

from ...building import Built, Killed, dying, learnt, recipe
from ...consulting import doctors
from ...evolving import asked


def agents_asked(built: Built) -> int:
    return sum("You are [" in call.text for call in built.model.calls)


@pytest.mark.parametrize(
    ("settings", "runs"),
    [
        ({"credit": "difference"}, 2),
        ({"credit": "difference", "per": "turn"}, 4),
        ({"credit": "shapley"}, 3),
        ({"credit": "shapley", "per": "turn"}, 15),
    ],
)
def test_credit_pays_for_real_changes(tmp_path: Path, settings: dict[str, Any], runs: int) -> None:
    built = learnt(tmp_path, recipe(**settings), cases=2)
    assert built.entries
    asked_for = 0
    for line, event in zip(built.lines, built.utterance_events, strict=True):
        about = event["counterfactuals"]
        assert about["runs"] == runs
        assert about["calls"]["asked"] + about["calls"]["answered"] >= 5  # the run itself, again
        asked_for += about["calls"]["asked"]
        assert line["usage"]["calls"] == 5 + about["calls"]["asked"]
        for number in (1, 2):
            spoken = [
                utterance["ratio"]
                for utterance in event["utterances"]
                if utterance["round"] == number
            ]
            assert sum(spoken) == pytest.approx(1)
            assert min(spoken) >= 0
    assert agents_asked(built) == 5 * 2 + asked_for
    assert {fields["credit"] for fields in built.utterance_events} == {settings["credit"]}


def decided_by_heart(request: Request) -> Reply:
    """Whoever hears the heart is right, and nobody else is."""
    text = message_text(request)
    if asked(request):
        return doctors(request)
    if "You are [heart]" in text:
        return Reply(text="seven it is")
    return Reply(text="7" if "seven it is" in text else "8")


@pytest.mark.parametrize("credit", ["difference", "shapley"])
def test_who_alone_makes_the_answer_right_has_all_of_it(tmp_path: Path, credit: Any) -> None:
    built = learnt(tmp_path, recipe(credit=credit), script=decided_by_heart, cases=1)
    for event in built.utterance_events:
        assert event["outcome"] == 1
        ratios = {utterance["agent"]: utterance["ratio"] for utterance in event["utterances"]}
        assert ratios == {"heart": 1, "brain": 0}


def test_counterfactual_credit_survives_an_end_anywhere(tmp_path: Path, nightly: bool) -> None:
    of = recipe(credit="difference", workers=2)
    clean = learnt(tmp_path / "clean", of, cases=3)
    chance, is_done = random.Random(2), False
    while not is_done:
        try:
            with dying(chance.randrange(20 if nightly else 60)):
                learnt(tmp_path / "killed", of, cases=3)
            is_done = True
        except (Killed, BaseExceptionGroup):
            pass
    for file in ("pool/ledger.jsonl", "evolution/turns.jsonl"):
        assert (tmp_path / "killed" / file).read_bytes() == (clean.folder / file).read_bytes()


def judged_in_vain(request: Request) -> Reply:
    """A judge that scores the answer of the run itself only."""
    is_of_others = "8" in message_text(request).rpartition("<answer")[2]
    return Reply(text="no") if is_of_others else Reply.json({"reason": "r", "score": 0.8})


def test_where_a_worth_is_unknown_nothing_is_kept_and_that_is_counted(tmp_path: Path) -> None:
    def script(request: Request) -> Reply:
        if "score" in asked(request):
            return judged_in_vain(request)
        return decided_by_heart(request)

    of = replace(recipe(credit="difference"), score="judge")
    built = learnt(tmp_path, of, script=script, cases=2)
    assert built.entries == []
    assert [line["score"] for line in built.lines] == [0.8] * 2
    for line in built.lines:
        [lost] = [item for item in line["dropped"] if item["operator"] == "judge"]
        assert "no agent's contribution is known" in lost["reason"]
