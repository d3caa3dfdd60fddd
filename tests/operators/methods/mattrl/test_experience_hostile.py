"""Hostile answers of who judges utterances, and of who distils them: counted, none kept."""

import json
from typing import Any

import pytest

from coterie.operators import (
    Appraisal,
    Contribution,
    Distilled,
    MetaModel,
    appraise,
    distil,
)
from coterie.operators.methods.mattrl.appraise import appraised
from coterie.operators.methods.mattrl.experience import ExperienceSettings, credited
from coterie.pool.ledger.learnt import Learnt
from coterie.runtime.doubles import Reply

from ....support.hostile_answers import examples, hostile
from ...asking import TASK, asking
from ...consulting import utterance

AGENTS = ("worker", "critic")
SAID = [utterance(agent) for agent in AGENTS]
GOOD = Contribution(value=0.9, reason="it helped")


def test_scores_of_utterances(part: int) -> None:
    async def work(meta_model: MetaModel, _: Any) -> Any:
        return await appraise(meta_model, "a", TASK, SAID)

    def are_of_every_agent(appraisal: Appraisal) -> None:
        assert tuple(appraisal.of) == AGENTS
        for item in appraisal.of.values():
            assert 0 <= item.value <= 1
            assert len(item.reason) <= 600

    count = hostile(examples(3_000, part), work, are_of_every_agent)
    count.enough(3_000 // part // 2, "Appraisal", usable=part == 1)


def of_all(item: Any) -> str:
    """The same said of every agent."""
    return json.dumps({"reason": "r", "agents": dict.fromkeys(AGENTS, item)})


@pytest.mark.parametrize(
    "answer",
    [
        *("", "I score all of them 1.0!", '{"reason": "r", "agents": {}}', "[1, 1]", "null", "{"),
        json.dumps({"reason": "r", "agents": {"worker": {"reason": "r", "score": 1}}}),
        *map(of_all, ({"reason": "r", "score": 9}, {"reason": 1, "score": 1}, {"score": 1}, 1)),
    ],
)
def test_a_judge_of_no_use_leaves_nothing_to_keep(answer: str) -> None:
    """Whatever the outcome: no reward, so no utterance can be selected."""
    asked = asking([Reply(text=answer)] * 2, lambda it: appraised(it, "", TASK, SAID))
    settings = ExperienceSettings(share=1, threshold=0)
    of = credited(SAID, asked.result.scores, outcome=1, settings=settings)
    assert [item.reward for item in of] == [None] * len(SAID)
    assert len(asked.calls) == 2
    assert len(asked.result.rejected) == 1


def test_entries(part: int) -> None:
    async def work(meta_model: MetaModel, _: Any) -> Any:
        return await distil(meta_model, "d", TASK, SAID[0], score=GOOD)

    def is_short_and_of_its_agent(distilled: Distilled) -> None:
        entry = distilled.entry(TASK, SAID[0], credit=0.5, by_case=False, run="here")
        again = Learnt.of(entry.value())
        assert (again.owner, again.case, again.turn, again.credit) == ("worker", TASK.id, 1, 0.5)
        assert again.replaces == ()
        assert 0 < len(distilled.text) <= 1_300
        assert distilled.text.count("\n") == 2

    count = hostile(examples(3_000, part), work, is_short_and_of_its_agent)
    count.enough(3_000 // part // 2, "Distilled", usable=part == 1)


def test_what_looks_like_a_key_is_not_kept() -> None:
    key = "sk-" + "a1B2" * 12
    entry = Distilled(context=key, action="a", rationale="b").entry(
        TASK, SAID[0], credit=1, by_case=False, run="here"
    )
    assert key not in json.dumps(entry.value())
