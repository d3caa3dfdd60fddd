"""The benchmark `differential`: records of invented conditions, each known to one department."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...schema.team.task import ScorerChoice
from ..evaluation.benchmark import Headline, mean_score
from ..evaluation.measures import RANKED
from .generated.generated import GeneratedQuestion, Write, in_worlds

DEPARTMENTS = (
    "cardiology", "neurology", "dermatology", "endocrinology", "nephrology", "rheumatology",
    "hematology", "ophthalmology",
)  # fmt: skip
"""The ids of the agents with a department's knowledge, in the order of the levels."""

FREQUENT, OCCASIONAL, STRAY = 0.9, 0.4, 0.02
"""The probability of a finding in a record: of a profile's frequent ones, of its occasional ones,
and of any other."""

KEY = (
    "What your department knows of its conditions, and no other department does. A record has a"
    f" frequent finding in {FREQUENT * 10:g} of 10 cases, an occasional one in"
    f" {OCCASIONAL * 10:g} of 10, any other finding in {STRAY * 100:g} of 100."
)

_SIGNS = (
    "blue", "brittle", "cold", "cracked", "heavy", "itching", "numb", "pale", "swollen",
    "trembling",
)  # fmt: skip
_PLACES = (
    "ankles", "ears", "elbows", "eyelids", "fingers", "gums", "heels", "knees", "lips", "nails",
    "shins", "wrists",
)  # fmt: skip
FINDINGS = tuple(f"{sign} {place}" for sign in _SIGNS for place in _PLACES)
_FIRST = (
    "Bel", "Cor", "Dra", "Fen", "Gal", "Hum", "Jor", "Kel", "Lum", "Mav", "Nor", "Pra", "Quil",
    "Ros", "Tam", "Vel",
)  # fmt: skip
_LAST = ("dane", "fort", "gast", "lin", "mar", "nest", "pold", "rick", "sen", "tova", "vin", "wick")
NAMES = tuple(f"{word}{last}" for word in _FIRST for last in _LAST)


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """The difficulty of a level.

    Attributes:
        conditions: The number of conditions that each department knows.
        frequent: The number of frequent findings of a profile.
    """

    departments: int
    conditions: int
    findings: int
    frequent: int
    occasional: int


LEVELS = (
    Shape(departments=2, conditions=3, findings=24, frequent=3, occasional=2),
    Shape(departments=3, conditions=4, findings=24, frequent=3, occasional=3),
    Shape(departments=4, conditions=6, findings=30, frequent=2, occasional=4),
    Shape(departments=6, conditions=8, findings=36, frequent=1, occasional=6),
    Shape(departments=8, conditions=12, findings=40, frequent=1, occasional=6),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseCondition:
    """An invented condition.

    Attributes:
        frequent: Findings in nine of ten records.
        occasional: Findings in four of ten records.
    """

    name: str
    frequent: tuple[str, ...]
    occasional: tuple[str, ...]

    def chance_of(self, finding: str) -> float:
        """Return the probability of a finding in a record of this condition."""
        return (
            FREQUENT
            if finding in self.frequent
            else OCCASIONAL
            if finding in self.occasional
            else STRAY
        )

    @property
    def line(self) -> str:
        """Its line in a brief."""
        frequent, occasional = ", ".join(self.frequent), ", ".join(self.occasional)
        return f"- {self.name}: frequent: {frequent}; occasional: {occasional}."


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseWorld:
    """An invented world of conditions.

    Attributes:
        by_department: The conditions that each department knows, by its id.
    """

    findings: tuple[str, ...]
    by_department: Mapping[str, tuple[CaseCondition, ...]]

    @classmethod
    def of(cls, seed: int, level: int) -> CaseWorld:
        """Draw the world of a seed and a level, from 1."""
        shape = LEVELS[level - 1]
        chance = random.Random(f"conditions/{seed}/{level}")  # noqa: S311 - the same world every time
        findings = tuple(chance.sample(FINDINGS, shape.findings))
        names = iter(chance.sample(NAMES, shape.departments * shape.conditions))
        conditions = {
            department: tuple(
                _draw(chance, next(names), findings, shape) for _ in range(shape.conditions)
            )
            for department in DEPARTMENTS[: shape.departments]
        }
        return cls(findings=findings, by_department=conditions)

    @property
    def conditions(self) -> tuple[CaseCondition, ...]:
        """All conditions, by name."""
        result = (
            condition for conditions in self.by_department.values() for condition in conditions
        )
        return tuple(sorted(result, key=lambda condition: condition.name))

    def briefs(self) -> dict[str, str]:
        """Return the private facts of each department, with the key to read them."""
        return {
            department: "\n".join([KEY, *(condition.line for condition in conditions)])
            for department, conditions in self.by_department.items()
        }


def _draw(chance: random.Random, name: str, findings: Sequence[str], shape: Shape) -> CaseCondition:
    drawn = chance.sample(findings, shape.frequent + shape.occasional)
    return CaseCondition(
        name=name,
        frequent=tuple(drawn[: shape.frequent]),
        occasional=tuple(drawn[shape.frequent :]),
    )


SHOWN = 10
FEW = 4
"""The maximum number of findings in a short record."""

ASK = "Which condition does this patient have? Findings: "
"""The record is part of the question, so that tasks with similar records are similar."""
RULES = (
    "Rank the {count} likeliest conditions, the likeliest first, by name, one on a numbered line."
    " What the record does not list was not found. The conditions that are known here: {names}."
)
MRR = Headline(name="MRR", of=mean_score)


def _in_world(seed: int, level: int) -> Write:
    """Return a generator of cases in the world of a seed and a level."""
    world = CaseWorld.of(seed, level)
    names = [condition.name for condition in world.conditions]
    rules = RULES.format(count=min(SHOWN, len(names)), names=", ".join(names))
    briefs = world.briefs()

    def write(chance: random.Random, _level: int) -> GeneratedQuestion:
        truth = chance.choice(world.conditions)
        record = [
            finding for finding in world.findings if chance.random() < truth.chance_of(finding)
        ]
        chance.shuffle(record)
        return GeneratedQuestion(
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
