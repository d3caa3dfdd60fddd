"""EvoChamber in simulated worlds: a population with and without each of its parts.

    python -m studies.chamber --results results

**The rules and the expectations of this page were committed before its results.**

Tasks are of four niches, mixed; each shows one of its niche's five signs and has one letter of
eight, which is right or wrong. `worlds` says what is drawn for a world, `minds` who is right:

* For each sign one of the niche's eight methods is right. Whoever works by it is right more often
  than by another. Without lessons, an agent finds it with a chance that depends on the niche.
* Whoever holds lessons for the task's niche and sign goes by them with a chance (`trust`), by the
  method that held most often. Each lesson for other tasks takes a little away (`dilution`).
* Of six habits two are sound and two unsound. A persona helps in its niche and harms elsewhere.
* Each thing that an agent holds is overlooked now and then (`forgetting`), colleagues' letters are
  misheard (`mishearing`), and all agents share a defect: some answers lack the form that is scored,
  until their agent was told (`formless`).
* Who decides among answers sees a right one with a chance (`convincing`); a critic judges rightly
  with another (`checking`), and whose answer most critics reject attempts the task anew; a plan of
  parts adds or takes away. So structures differ by niche.
* A share of attempts has the same luck, and a share of wrong answers is the same letter.

Who looks back after a right attempt takes its method for a lesson, after a wrong one somebody's
right method, else it guesses; likewise with habits; who saw that its answer lacked the form notes
the form. Dreams compare a right attempt with a wrong one. Leaders go by the rounds that they are
shown, and by whim.

Where the paper can be read in two ways, `SETTINGS` names the reading, which is not the default's.

A *level* world has the same numbers, and nothing has an effect. The unit is the seed: a world, its
stream and its luck, the same for all rows. Intervals are of 95 % by Student's t. Each row differs
from *full* in one switch. Answers have 1,000 tokens.

To be expected: *full* is above *single agent*, in the middle niches most; *self-consistency* is
better in the easiest niche and worse in the hardest; *memory only* is near *single agent*, whose
lessons are guesses after failures; *no CoDream* and *symmetric transfer* differ little from *full*;
*random team* and *N = 3* lose little; *forced voting* loses in the hard niches; whether *no
lifecycle* loses is open. In level worlds about 19 of 20 intervals cover 0.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING, Any

from coterie.operators.methods.evochamber.seating import STRUCTURES
from coterie.pool.ledger.ledger import Ledger
from coterie.pool.population.population import Rates
from coterie.pool.population.signals import by_chance, signals, specialization
from coterie.pool.values.layout import LEDGER
from coterie.schema.loading.loading import load_team
from coterie.schema.team.writing import dump

from .simulated import head, row
from .world.gateway import catalogue
from .world.marks import mark, marks
from .world.minds import habit_worth, lessons_in, right_method
from .world.population import POPULATION
from .world.tables import command, costs, measured
from .world.trials import LEVEL, Outcome, Row, Study
from .world.worlds import NICHES, drawn, leveled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from .world.tables import Came
    from .world.trials import Trial
    from .world.worlds import World

ALONE: Mapping[str, Any] = {
    "pool_size": 1,
    "team_size": 1,
    "structure": "voting",
    "codream": False,
    "lifecycle": False,
}
"""One agent, whose answer is the team's."""
SINGLE: Mapping[str, Any] = {**ALONE, "learning": False}
SETTINGS: Mapping[str, Any] = {
    "own_attempts": "never",
    "shared_failure": "abstain",
    "deficit": "niche",
    "cross_domain": "deficit",
    "prune_by": "each_task",
}
"""The readings of the paper that the rules and tables are of."""
VOTES = 5
ANSWER_TOKENS = 1_000
ROWS = (
    Row(name="full"),
    Row(name="random team", settings={"selector": "random"}, paper="-0.024 (Table 5)"),
    Row(name="forced voting", settings={"structure": "voting"}, paper="-0.030 (Table 5)"),
    Row(name="no CoDream", settings={"codream": False}, paper="-0.108 (Table 5)"),
    Row(name="symmetric transfer", settings={"transfer": "symmetric"}),
    Row(name="no lifecycle", settings={"lifecycle": False}, paper="-0.005 (Table 12)"),
    Row(name="N = 3", settings={"pool_size": 3}, paper="-0.011 (Table 7)"),
    Row(name="single agent", settings=SINGLE, paper="-0.341 (Table 2)"),
    Row(
        name="self-consistency",
        settings={**SINGLE, "pool_size": VOTES, "team_size": VOTES},
        paper="-0.249 (Table 2)",
    ),
    Row(name="memory only", settings=ALONE),
)
DUTIES = {"split_task": "plan", "criticise_answer": "check"}
"""What a position does, by the name of its prompt in the structures of the package."""
LIFECYCLE = ("fork", "merge", "prune", "genesis", "specialize")
REASONS = ("reward", "disagreement")


def structures(_world: World, folder: Path) -> list[Path]:
    """Write the structures of the package, with marks in the place of their prompts."""
    files: list[Path] = []
    for name in STRUCTURES:
        team = load_team(name, catalogue())
        agents = {
            agent.id: replace(
                agent, prompt=agent.prompt and mark("duty", DUTIES.get(agent.prompt, "answer"))
            )
            for agent in team.agents.values()
        }
        files.append(folder / f"{team.name}.yaml")
        files[-1].write_text(dump(replace(team, agents=agents)), encoding="utf-8")
    return files


def world_of(kind: str, seed: int, name: str) -> World:
    """Make a world; in a level one the luck is each row's own, else all rows were one."""
    world = drawn("chamber", seed, answer_tokens=ANSWER_TOKENS)
    return leveled(world, name) if kind == LEVEL else world


def figures(trial: Trial) -> Mapping[str, Any]:
    """Measure how leading is concentrated, the roster, dreams, structures and what is true."""
    stage = trial.context
    seen = signals(Ledger(stage.pool.folder / LEDGER).read(), Rates.of(stage.recipe.settings))
    learnt, dreams = stage.pool.learnt.between(0), [dream.about for dream in seen.dreams]
    counts = Counter(str(dream["why"]) for dream in dreams)
    index = specialization(seen.worked)
    return {
        "index": fmean(index) if index else None,
        "by chance": by_chance(seen.worked),
        "anchors": len({item.anchor for item in seen.worked}),
        "agents": len(stage.pool.agents),
        **Counter(str(item.about["operator"]) for item in seen.lifecycle),
        "dreams": sum(counts[reason] for reason in REASONS),
        "abstained": sum(bool(dream.get("abstained")) for dream in dreams),
        "verified": sum(item["verified"] for of in dreams for item in of.get("insights", ())),
        "structures": [str(item.structure) for item in seen.worked],
        "true": _true(
            trial.world, (item.text for item in learnt if stage.pool.learnt.stands(item.id))
        ),
    }


def _true(world: World, texts: Iterable[str]) -> dict[str, list[int]]:
    """Count the entries that are true, and all, by niche; habits under a name of their own."""
    counted: dict[str, list[int]] = {}

    def count(of: str, *, is_true: bool) -> None:
        pair = counted.setdefault(of, [0, 0])
        pair[0] += is_true
        pair[1] += 1

    for text in texts:
        for lesson in lessons_in(text):
            right = right_method(world.name, lesson.niche, lesson.sign)
            count(lesson.niche, is_true=lesson.method == right)
        for habit, *_ in marks(text, "habit"):
            count("habits", is_true=habit_worth(world.name, habit) == 1)
    return counted


STUDY = Study(
    name="chamber",
    strategy="evochamber",
    settings=SETTINGS,
    rows=ROWS,
    worlds=world_of,
    teams=structures,
    operators=POPULATION,
    figures=figures,
)
MEASURES: Mapping[str, Callable[[Outcome], float]] = {
    "accuracy": lambda outcome: outcome.score,
    "last quarter": lambda outcome: outcome.late,
    **{niche: (lambda outcome, niche=niche: outcome.on(niche)) for niche in NICHES},
}


def _figure(name: str) -> Callable[[Outcome], float | None]:
    return lambda outcome: outcome.figures.get(name, 0)


def _share(of: str) -> Callable[[Outcome], float | None]:
    def share(outcome: Outcome) -> float | None:
        true, many = outcome.figures["true"].get(of, (0, 0))
        return true / many if many else None

    return share


def _chosen(result: Came) -> Iterator[str]:
    """Print which structures leaders chose in each niche, and how often that was right."""
    yield from head("chosen by full: share, right", *NICHES)
    known = [
        (niche, structure, score)
        for outcome in result["full"].values()
        for niche, structure, score in zip(
            outcome.niches, outcome.figures["structures"], outcome.scores, strict=True
        )
    ]
    for structure in dict.fromkeys(it for _, it, _ in sorted(known)):
        cells: list[str] = []
        for niche in NICHES:
            scores = [score for of, it, score in known if (of, it) == (niche, structure)]
            share = len(scores) / sum(of == niche for of, _, _ in known)
            cells.append(f"{share:.2f}, {fmean(scores):.2f}" if scores else "0.00, -")
        yield row(structure, *cells)


def tables(_study: Study, result: Came) -> Sequence[Iterator[str]]:
    """Print the result of a population beside its accuracy."""
    led = {
        name: of
        for name, of in result.items()
        if all(outcome.figures["index"] for outcome in of.values())
    }
    leading = ("index", "by chance", "anchors", "agents")
    acts = (*LIFECYCLE, "dreams", "abstained", "verified")
    return (
        measured(led, {name: _figure(name) for name in leading}, "specialists"),
        measured(led, {name: _figure(name) for name in acts}, "a stream"),
        measured(result, {name: _share(name) for name in (*NICHES, "habits")}, "true"),
        _chosen(result),
        costs(result, "single agent"),
    )


main = command(STUDY, tables, MEASURES, seeds=5, tasks=100)

if __name__ == "__main__":
    main()
