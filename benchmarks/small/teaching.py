"""The benchmark `teaching`: phrases of an invented language, which a student cannot know."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from ...schema.team.task import ScorerChoice
from ..evaluation.benchmark import Headline, mean_score
from ..evaluation.measures import LEARNING
from .generated.generated import GeneratedQuestion, Write, in_worlds

TEACHERS = ("teacher", "expert", "strategist", "diagnostician")
"""The ids of the agents with the key and the explanation."""
STUDENT_BEFORE = "student_before"
"""The id of the agent whose answer is the student's before the lesson."""

LETTERS = "ABCD"
ASK = 'In {language}, what does "{phrase}" mean?\n{choices}\nAnswer with the letter alone.'
KEY = "The right choice is ({letter}): {meaning}. In {language} {words}. {order}"
ORDER = "A phrase says, in this order: {parts}."

PARTS: Mapping[str, Sequence[str]] = {
    "number": ("one", "two", "three", "four", "five", "six"),
    "size": ("tiny", "small", "broad", "tall", "huge", "thin"),
    "colour": ("red", "blue", "green", "white", "black", "yellow"),
    "thing": (
        "boat", "river", "lamp", "stone", "bird", "tree",
        "house", "spoon", "coat", "horse", "bridge", "drum",
    ),
    "place": ("in snow", "at sea", "by night", "on sand", "in town", "up high"),
}  # fmt: skip
"""The parts of a phrase in English order, with their possible values."""

BY_LEVEL = ("thing", "colour", "size", "number", "place")
"""The number of parts of a phrase, by level: the first ones of `PARTS`."""

_STARTS = ("b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "t", "v", "z", "sh", "kr", "pl")
_MIDDLES = ("a", "e", "i", "o", "u", "ai", "ou")
_ENDS = ("k", "l", "m", "n", "p", "r", "sh", "t", "zo", "mi")
FORMS = tuple(map("".join, product(_STARTS, _MIDDLES, _ENDS)))
NAMES = ("Orvish", "Tellan", "Mirrish", "Kovan", "Subric", "Quarran", "Ulmish", "Dostan")


@dataclass(frozen=True, kw_only=True, slots=True)
class Language:
    """An invented language.

    Attributes:
        order: The order of the parts of a phrase.
    """

    name: str
    words: Mapping[str, str]
    order: tuple[str, ...]

    @classmethod
    def of(cls, seed: int, level: int) -> Language:
        """Draw the language of a seed and a level, from 1."""
        chance = random.Random(f"language/{seed}/{level}")  # noqa: S311 - the same one every time
        english = [word for words in PARTS.values() for word in words]
        forms = chance.sample(FORMS, len(english))
        parts = BY_LEVEL[:level]
        return cls(
            name=chance.choice(NAMES),
            words=dict(zip(english, forms, strict=True)),
            order=tuple(chance.sample(parts, len(parts))),
        )

    def sentence(self, meaning: Mapping[str, str]) -> str:
        """Return a meaning as a phrase in this language."""
        return " ".join(self.words[meaning[part]] for part in self.order)

    def explained(self, meaning: Mapping[str, str], letter: str) -> str:
        """Return a teacher's material: the key, the words, and the rules of phrases."""
        words = (f'"{self.words[meaning[part]]}" is "{meaning[part]}"' for part in self.order)
        several = len(self.order) > 1
        return KEY.format(
            letter=letter,
            meaning=in_english(meaning),
            language=self.name,
            words=", ".join(words),
            order=ORDER.format(parts=", ".join(self.order)) if several else "",
        ).strip()


def in_english(meaning: Mapping[str, str]) -> str:
    """Return a meaning as a phrase in English."""
    return " ".join(meaning[part] for part in PARTS if part in meaning)


def _in_world(seed: int, level: int) -> Write:
    """Return a generator of questions about the language of a seed and a level."""
    language = Language.of(seed, level)

    def write(chance: random.Random, _level: int) -> GeneratedQuestion:
        meanings = _alike(chance, language.order)
        right = chance.randrange(len(meanings))
        truth, letter = meanings[right], LETTERS[right]
        shown = [in_english(meaning) for meaning in meanings]
        lines = (f"({name}) {text}" for name, text in zip(LETTERS, shown, strict=True))
        return GeneratedQuestion(
            kind="translation",
            query=ASK.format(
                language=language.name, phrase=language.sentence(truth), choices="\n".join(lines)
            ),
            answer=letter,
            scorer=ScorerChoice(
                name="lesson", options={"choices": shown, "before": STUDENT_BEFORE}
            ),
            briefs=dict.fromkeys(TEACHERS, language.explained(truth, letter)),
        )

    return write


def _alike(chance: random.Random, parts: Sequence[str]) -> list[dict[str, str]]:
    """Draw four meanings, none of which looks more like the right one than another."""
    several = 2 if len(parts) > 1 else len(LETTERS)
    drawn = [chance.sample(PARTS[part], several) for part in parts]
    return [
        dict(zip(parts, words, strict=True))
        for words in chance.sample(list(product(*drawn)), len(LETTERS))
    ]


TEACHING = in_worlds(
    "teaching",
    "Teaching an invented language",
    "What a phrase of an invented language means: one of four choices, so guessing gives 0.25."
    f" Agents called {', '.join(TEACHERS)} know the key and the reason; a student does not. The"
    " score is whether the team's answer is right; where it has an agent"
    f" `{STUDENT_BEFORE}`, whose answer counts as what the student knew before, the learning gain"
    " is the difference. Level 1: one word; each level adds"
    " one. All questions of a seed and a level are about the same language.",
    _in_world,
    headline=Headline(name="after", of=mean_score),
    measures=LEARNING,
)
