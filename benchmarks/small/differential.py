"""The benchmark `differential`: records of invented conditions, which departments know in part."""

from __future__ import annotations

import random

from ...schema.team.task import ScorerChoice
from ..evaluation.benchmark import Headline, mean_score
from ..evaluation.measures import RANKED
from .conditions import CaseWorld
from .generated.generated import Item, Write, in_worlds

SHOWN = 10
FEW = 4
"""So many findings at most make a short record."""

ASK = "Which condition does this patient have? Findings: "
"""The record stands in the question, so that tasks are alike where records are."""
RULES = (
    "Rank the {count} likeliest conditions, the likeliest first, by name, one on a numbered line."
    " What the record does not list was not found. The conditions that are known here: {names}."
)
MRR = Headline(name="MRR", of=mean_score)


def _in_world(seed: int, level: int) -> Write:
    """Give what draws cases of the world of a seed and a level."""
    world = CaseWorld.of(seed, level)
    names = [condition.name for condition in world.conditions]
    rules = RULES.format(count=min(SHOWN, len(names)), names=", ".join(names))
    briefs = world.briefs()

    def write(chance: random.Random, _level: int) -> Item:
        truth = chance.choice(world.conditions)
        record = [
            finding for finding in world.findings if chance.random() < truth.chance_of(finding)
        ]
        chance.shuffle(record)
        return Item(
            kind="short" if len(record) <= FEW else "long",
            query=f"{ASK}{', '.join(record) or 'none'}.",
            context=rules,
            answer=truth.name,
            scorer=ScorerChoice(name="ranked"),
            briefs=briefs,
        )

    return write


DIFFERENTIAL = in_worlds(
    "differential",
    "Differential diagnosis of invented conditions",
    "A record of findings; the answer is a ranked list of conditions, and its figure the MRR. Every"
    " department, an agent's id, learns from a brief how often its own conditions come with which"
    " findings, so nobody alone knows all. Level 1: 2 departments with 3 conditions each; level 5:"
    " 8 with 12. All cases of a seed and a level are about the same conditions. The niches are"
    f" `short`, records of at most {FEW} findings, and `long`.",
    _in_world,
    headline=MRR,
    measures=RANKED,
)
