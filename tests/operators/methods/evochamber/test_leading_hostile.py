"""Hostile answers of leaders: no structure but those offered, no empty note, all counted."""

import re
import unicodedata
from typing import Any

from coterie.operators import MetaModel, RejectedProposal
from coterie.operators.methods.evochamber.lead_review import lead_review
from coterie.operators.methods.evochamber.leading import StructureChoice, closest, fallback, lead

from ....support.hostile_answers import hostile
from ...asking import TASK
from ...hostile import TEXTS
from ...rounds import worked
from .test_leading import LEADER, NAMES, TEMPLATES, a_round

SHARES = {"lead": 5_000, "lead_review": 5_500}
"""How many answers each has to live through, at night."""
ROUNDS = [a_round(name, 0.5, reflection=text[:300]) for name in NAMES for text in TEXTS]


def test_choices_of_a_structure(part: int) -> None:
    known = closest(ROUNDS, LEADER.profile, "sums", 6)
    chosen: set[str] = set()

    async def work(meta_model: MetaModel, _: Any) -> Any:
        result = await lead(meta_model, "l", TASK, LEADER, TEMPLATES, rounds=known)
        dropped = isinstance(result, RejectedProposal)
        chosen.add(fallback(ROUNDS, "sums", NAMES) if dropped else result.structure)
        return result

    def is_one_that_was_offered(choice: StructureChoice) -> None:
        assert (choice.by, choice.leader) == ("leader", LEADER)
        assert len(choice.reason) <= 600

    count = hostile(SHARES["lead"] * 8 // 10 // part, work, is_one_that_was_offered)
    count.enough(SHARES["lead"] // part, "StructureChoice", usable=part == 1, refused=0.001)
    assert chosen <= {*NAMES}


def test_notes_on_a_structure(part: int) -> None:
    async def work(meta_model: MetaModel, _: Any) -> Any:
        return await lead_review(
            meta_model, "r", TASK, LEADER, worked(), structure="voting", reward=0.5
        )

    def is_a_line_that_says_something(text: str) -> None:
        assert 0 < len(text) <= 300
        assert "\n" not in text
        assert re.search(r"\w", text)
        assert all(unicodedata.category(name) != "Cc" for name in text)

    count = hostile(SHARES["lead_review"] * 8 // 10 // part, work, is_a_line_that_says_something)
    count.enough(SHARES["lead_review"] // part, "str", usable=part == 1, refused=0.001)
