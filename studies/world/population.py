"""Who answers EvoChamber's operators in a world."""

from __future__ import annotations

from collections import Counter
from statistics import fmean
from typing import TYPE_CHECKING, Any

from .gateway import attempt_in
from .marks import mark, marks
from .minds import HABITS, METHODS, Lesson, lessons_in, without

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from coterie.operators.methods.evochamber.work import MemberWork

    from .gateway import Asked
    from .minds import Attempt

HALF = 0.5
FORM = mark("form", "end with the letters that you choose")
MANNERS = ("patient", "brisk", "stubborn", "gentle", "blunt", "merry", "solemn", "curious")
"""What personas differ in, which changes nothing."""


def _reflected(asked: Asked) -> Mapping[str, Any]:
    """Return a lesson from one's right attempt, from somebody's right answer, or a guess."""
    work: MemberWork = asked["work"]
    team, own = attempt_in(work.account.run.answer), _own(work)
    is_good = asked["reward"] >= HALF
    same = team is not None and own is not None and team.letters == own.letters
    is_right = (same and is_good) if work.score is None else work.score >= HALF
    attempt = own or team
    if own is None:
        is_right = is_good
    elif not is_right and team is not None and is_good:
        is_right, attempt = True, team
    if attempt is None:
        return {"lesson": "", "insight": ""}
    problem, source = asked.problem, asked.source
    others = without(METHODS[problem.niche], attempt.method)
    method = attempt.method if is_right else source.choice(others)
    habit = attempt.habit if is_right else source.choice(without(HABITS, attempt.habit))
    lesson = Lesson(problem.niche, problem.sign, method, int(is_right))
    insight = mark("habit", habit, int(is_right)) if attempt.formed else FORM
    return {"lesson": mark("lesson", *lesson.fields), "insight": insight}


def _own(work: MemberWork) -> Attempt | None:
    """Return the last attempt that a member made itself."""
    outcomes = (work.account.run.agents[position] for position in work.positions)
    texts = (outcome.result.content for outcome in outcomes if outcome.result is not None)
    return next(filter(None, map(attempt_in, reversed([*texts]))), None)


def _fused(asked: Asked) -> Mapping[str, Any]:
    """Return the lesson that held most, as often as all that say the same."""
    text, held = f"{asked['earlier']}\n{asked['new']}", Counter[tuple[str, ...]]()
    for lesson in lessons_in(text):
        held["lesson", lesson.niche, lesson.sign, lesson.method] += lesson.held
    for habit, times in marks(text, "habit"):
        held["habit", habit] += int(times)
    if not held:
        return {"text": asked["earlier"]}
    kind, *fields = max(held, key=lambda texts: held[texts])
    return {"text": mark(kind, *fields, held[kind, *fields])}


def _diagnosed(asked: Asked) -> Mapping[str, Any]:
    """Return by which method and habit one worked, and whether that was right."""
    work: MemberWork = asked["work"]
    if (own := _own(work)) is None:
        return {"diagnosis": "I attempted nothing myself."}
    kind = "right" if (work.score or 0) >= HALF else "mistaken"
    return {"diagnosis": mark(kind, own.method, own.habit)}


def _contrasted(asked: Asked) -> Mapping[str, Any]:
    """Return what a right attempt did: its method, its habit if another, its form if missed."""
    problem, failed, good = asked.problem, _own(asked["failed"]), _own(asked["succeeded"])
    if good is None:
        return {"difference": "Luck."}
    lesson = Lesson(problem.niche, problem.sign, good.method, 1)
    difference = [mark("lesson", *lesson.fields)]
    if failed is None or failed.habit != good.habit:
        difference.append(mark("habit", good.habit, 1))
    if failed is not None and not failed.formed:
        difference.append(FORM)
    return {"difference": " ".join(difference)}


def _learnt(text: str) -> list[str]:
    """Return what a text says that can be learnt, each as a text of its own."""
    return [
        *(mark("lesson", *lesson.fields) for lesson in lessons_in(text)),
        *(mark("habit", *texts) for texts in marks(text, "habit")),
        *([FORM] if marks(text, "form") else []),
    ]


def _imagined(asked: Asked) -> Mapping[str, Any]:
    """Return a strategy for each difference: methods for their niche, all else for all."""
    ideas = {
        text: number
        for number, difference in enumerate(asked["differences"], 1)
        for text in _learnt(difference.text)
    }
    ordered = sorted(ideas, key=lambda text: not lessons_in(text))
    listed = [
        {
            "difference": ideas[text],
            "strategy": text,
            "niches": [lesson.niche for lesson in lessons_in(text)] or [*asked["niches"]],
        }
        for text in ordered
    ]
    return {"ideas": listed[: asked.most("ideas")]}


def _debated(asked: Asked) -> Mapping[str, Any]:
    """Drop what one did oneself, and was wrong."""
    wrong = {it for texts in marks(asked["work"].diagnosis, "mistaken") for it in texts}
    return {
        f"strategy_{number}": {
            "reason": "",
            "keep": not any(it in idea.text for it in wrong),
        }
        for number, idea in enumerate(asked["ideas"], 1)
    }


def _crystallized(asked: Asked) -> Mapping[str, Any]:
    """Return what is left: methods for their niche first, then all else for all."""
    insights = [
        {
            "strategy": number,
            "text": text,
            "niche": asked.problem.niche,
            "level": "subdomain" if lessons_in(text) else "cross_domain",
        }
        for number, idea in enumerate(asked["ideas"], 1)
        for text in _learnt(idea.text)
    ]
    insights.sort(key=lambda fields: fields["level"] != "subdomain")
    return {"insights": insights[: asked.most("insights")]}


def _described(asked: Asked) -> Mapping[str, Any]:
    """Return a persona for the niche that is asked for, or for those of the agents shown."""
    event, manner = asked["event"], asked.source.choice(MANNERS)
    shown = "\n".join(agent.prompt for agent in asked["agents"])
    niches = [event.niche] if event.niche else [niche for (niche,) in marks(shown, "persona")]
    known = " ".join(mark("persona", fromkey) for fromkey in dict.fromkeys(niches))
    return {"reason": "So be it.", "title": manner, "persona": f"{known} You are {manner}.".strip()}


def _led(asked: Asked) -> Mapping[str, Any]:
    """Return the structure that did best in the rounds shown, if it did well; else another one."""
    structures: Sequence[str] = [*asked["structures"]]
    rounds: list[Mapping[str, Any]] = [item for item, _ in asked["known"]]
    own = [fields for fields in rounds if fields["niche"] == asked.problem.niche] or rounds
    rewards: dict[str, list[float]] = {}
    for record in own:
        rewards.setdefault(record["structure"], []).append(record["reward"])
    best = max(rewards, key=lambda name: fmean(rewards[name]), default="")
    if asked.source.random() < asked.world.whim:
        chosen = asked.source.choice(structures)
    elif best in structures and fmean(rewards[best]) >= HALF:
        chosen = best
    else:
        others = [structure for structure in structures if structure not in rewards]
        chosen = asked.source.choice(others or structures)
    return {"reason": "It did well.", "structure": chosen}


def _noted(asked: Asked) -> Mapping[str, Any]:
    """Note what a structure was worth, and nothing more."""
    return {"note": f"It was worth {asked['reward']:.3g}."}


POPULATION: Mapping[str, Callable[[Asked], Mapping[str, Any]]] = {
    "reflect": _reflected,
    "fuse": _fused,
    "dream_reflect": _diagnosed,
    "dream_contrast": _contrasted,
    "dream_imagine": _imagined,
    "dream_debate": _debated,
    "dream_crystallize": _crystallized,
    "lead": _led,
    "lead_review": _noted,
    **dict.fromkeys(("fork", "merge", "genesis", "specialize"), _described),
}
