"""Meta-Team in simulated worlds: a team with known defects looks back, with and without each level.

    python -m studies.retrospect --results results

**The rules and the expectations of this page were committed before its results.**

A team of a lead and four members works on orders of eight parts; the score is the share of parts
whose letter is right. `studies/world/crews.py` has the rules. In a *drawn* world three things are
wrong with the team, and each level of a retrospective can mend one of them:

* Two members leave out a detail that their parts need, unless it is a rule of theirs (L1).
* Two members count from another place than the lead, which takes their letters wrongly unless it
  has noted of them from where they count (L2).
* One craft is missing, whose parts the lead works on as a stranger (L3).

Of eight parts, in turn, two or one are of each craft: the missing one and the first two members
have two each. In a *sound* world nothing is wrong: agents forget to tell a detail now and then,
which a rule makes rarer. So looking back can help a little there and do a little harm: each rule
that is of no use, and each newcomer that nobody needs, takes something from the log odds of a
part (`dilution`). In a *level* world nothing has an effect.

That a level mends one defect is built in. What can be seen is that each goes through the real
machinery, what it costs where it is missing, and how much harm wrong notes do.

Whoever is asked gets it right as often as `skill`, which is drawn from 0.6 to 0.95: asking what a
wrong part lacked, answering that, saying which craft was missing, noting a place. Where a summary
names a missing craft, members say in the team's discussion which one they think it is, and the one
that most have named comes. Nobody changes edges. A single analyser of all that happened
(*centralised*) knows a cause as often as `skill`, and the less often the longer the trace is: by a
factor of e for each `span` of 20,000 tokens; answers have 1,000 tokens. *Partitioned* looks back
without asking anybody, so it guesses.

Each arm differs from *full* in one switch. A team learns from some orders and is tested on others
with what it learnt. The unit is the seed; intervals are of 95 % by Student's t.

To be expected: in drawn worlds *full* is above all others; *no L1*, *no L2* and *no L3* each lose
what their defect costs, and *no L1* also loses the missing craft, which summaries name;
*centralised* lies between *no evolution* and *full*, *partitioned* mends little. In sound worlds no
arm differs much from *no evolution*. In level worlds about 19 of 20 intervals cover 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coterie.operators.methods.meta_team.head import head_of
from coterie.schema.team.writing import dump

from .world.crews import PARTS, team_of, worked
from .world.looking import LOOKING, kinds_of_notes
from .world.tables import command, costs, measured
from .world.trials import DRAWN, LEVEL, Outcome, Row, Study
from .world.worlds import NICHES, Niche, chance, drawn, leveled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from .world.tables import Came
    from .world.trials import Trial
    from .world.worlds import World

SOUND = "sound"
ABLE, UNABLE = (0.85, 0.97), (0.05, 0.3)
ANSWER_TOKENS = 1_000
ROWS = (
    Row(name="full"),
    Row(name="no evolution", settings={"scheme": "none"}, paper="-0.131 (Table 2)"),
    Row(name="centralised", settings={"scheme": "centralised"}, paper="-0.041 (Table 2)"),
    Row(name="partitioned", settings={"scheme": "partitioned"}, paper="-0.094 (Table 2)"),
    Row(name="no L1", settings={"agent_level": False}, paper="-0.054 (Table 3)"),
    Row(name="no L2", settings={"pair_level": False}, paper="-0.032 (Table 3)"),
    Row(name="no L3", settings={"team_level": False}, paper="-0.020 (Table 3)"),
    Row(name="budget 1/3", settings={"budget_share": 1 / 3}),
)


def world_of(kind: str, seed: int, name: str) -> World:
    """Make a world; in a level one the luck is each arm's own."""
    source = chance("retrospect", seed, "numbers")
    able, unable = source.uniform(*ABLE), source.uniform(*UNABLE)
    world = drawn(
        "retrospect",
        seed,
        niches=dict.fromkeys(NICHES, Niche(able=able, unable=unable, finding=1.0)),
        parts=PARTS,
        sound=kind == SOUND,
        answer_tokens=ANSWER_TOKENS,
    )
    return leveled(world, name) if kind == LEVEL else world


def teams(world: World, folder: Path) -> list[Path]:
    """Write the crew of a world."""
    file = folder / "yard.yaml"
    file.write_text(dump(team_of(world)), encoding="utf-8")
    return [file]


def figures(trial: Trial) -> Mapping[str, Any]:
    """Count what the team has noted in the end."""
    pool = trial.context.pool
    return kinds_of_notes(trial.world, head_of(pool.members).team)


STUDY = Study(
    name="retrospect",
    strategy="meta_team",
    settings={"reference": True, "phase_steps": 6},
    rows=ROWS,
    worlds=world_of,
    kinds={
        DRAWN: "Drawn worlds",
        SOUND: "Sound worlds: nothing is wrong with the team",
        LEVEL: "Level worlds: nothing has an effect",
    },
    level=1,
    teams=teams,
    operators=LOOKING,
    agents=worked,
    figures=figures,
)
MEASURES: Mapping[str, Callable[[Outcome], float]] = {
    "test": lambda outcome: outcome.score,
    "while it learns": lambda outcome: sum(outcome.scores) / len(outcome.scores),
    "last quarter": lambda outcome: outcome.late,
}
NOTES = ("useful", "idle", "wrong")


def tables(_study: Study, result: Came) -> Sequence[Iterator[str]]:
    """Print the notes that stand at the end, and the costs."""
    counts = {name: (lambda item, name=name: item.figures[name]) for name in NOTES}
    lost = {"answers lost": lambda item: item.dropped / len(item.scores)}
    return (
        measured(result, {**counts, **lost}, "notes at the end"),
        costs(result, "no evolution"),
    )


main = command(STUDY, tables, MEASURES, seeds=10, tasks=12, test=12)

if __name__ == "__main__":
    main()
