"""TacoMAS in simulated worlds: is a team that is coached and rebuilt between rounds better?

    python -m studies.adaptation --results results

**The rules and the expectations of this page were committed before its results.**

A task has five parts, each of another of eight crafts; the score is the share of letters that are
right. `studies/world/rounds.py` has the rules: crafts, handing on, workings that are needed, and
coaching, of which a share is lost where an agent hears others than when it was given. How large
that share is, `loss`, is drawn from nothing to everything, so the rules do not decide what the best
pace is. Agents begin with a chance of 0.3 to 0.6 on parts of their craft.

A team begins with roles of the catalogue that the meta-model picks (`enlist`). It, the coach and
who rebuilds the team know what is best as often as `skill`, from 0.6 to 0.95, else they draw. Who
rebuilds makes the best single change of agents and the best of edges, seeing what the team is worth
uncoached. The judge's estimates are off by up to 0 to 0.3; it sees chances and no luck.

Rows differ from *joint*, the default (coaching each round, a change of the team each second one),
in one switch. What costs fewer calls gets more rounds, so that a task takes about 80 calls in each
row but *one round*. Rounds end at that number only. The unit is the seed: a world and its four
tasks; intervals are of 95 % by Student's t. In a *level* world nothing has an effect.

To be expected: *joint* is above *neither* and *one round*; *capability only* and *topology only*
each lose something; *skill 0* is near *neither*; the *K* differ little, as `loss` differs by
world; *last* loses a little where the judge is good, since it takes no best round.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from coterie.schema.team.team import Agent, Team
from coterie.schema.team.writing import dump

from .world.gateway import MODEL
from .world.marks import mark
from .world.rounds import CRAFTS, PARTS, ROUNDS, solved_by_parts
from .world.tables import command, costs, measured
from .world.trials import LEVEL, Outcome, Row, Study
from .world.worlds import NICHES, Niche, chance, drawn, leveled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from .world.tables import Came
    from .world.trials import Trial
    from .world.worlds import World

ROLES = Path(__file__).parent / "world" / "roles"
STRENGTH = (0.3, 0.6)
ROUNDS_OF_JOINT, ROUNDS_OF_TEAMS, ROUNDS_ALONE = 7, 12, 13
ROWS = (
    Row(name="joint"),
    *(Row(name=f"K = {every}", settings={"every": every}) for every in (1, 3, 5)),
    Row(name="capability only", settings={"topology": False}),
    Row(name="topology only", settings={"capability": False, "most": ROUNDS_OF_TEAMS}),
    Row(
        name="neither",
        settings={"capability": False, "topology": False, "most": ROUNDS_ALONE},
    ),
    Row(name="no replicator", settings={"replicator": False}),
    Row(name="skill 0", changes={"skill": 0.0}),
    Row(name="joint, last", settings={"answer": "last"}),
    Row(name="one round", settings={"most": 1}),
)


def world_of(kind: str, seed: int, name: str) -> World:
    """Make a world; in a level one the luck is each row's own."""
    able = chance("adaptation", seed, "strength").uniform(*STRENGTH)
    niches = dict.fromkeys(NICHES, Niche(able=able, unable=able, finding=1.0))
    world = drawn("adaptation", seed, niches=niches, parts=PARTS)
    return replace(leveled(world, name), alike=world.alike) if kind == LEVEL else world


def teams(_world: World, folder: Path) -> list[Path]:
    """Write the team that says how all are run; its agent gives way to roles."""
    agent = Agent(id=CRAFTS[0], role=CRAFTS[0], model_id=MODEL, prompt=mark("craft", CRAFTS[0]))
    file = folder / "frame.yaml"
    file.write_text(dump(Team(name="frame", agents={agent.id: agent})), encoding="utf-8")
    return [file]


def figures(trial: Trial) -> Mapping[str, Any]:
    """Count the rounds of a task."""
    ended = [
        event
        for line in trial.lines
        for event in line.get("story", ())
        if event["event"] == "rounds_ended"
    ]
    return {"rounds": fmean([item["rounds"] for item in ended] or [0])}


STUDY = Study(
    name="adaptation",
    strategy="tacomas",
    settings={
        "begin": "roles",
        "roles": str(ROLES),
        "most": ROUNDS_OF_JOINT,
        "most_agents": PARTS,
        "converge": False,
        "threshold": 1,
    },
    rows=ROWS,
    worlds=world_of,
    level=1,
    teams=teams,
    operators=ROUNDS,
    agents=solved_by_parts,
    figures=figures,
)
MEASURES: Mapping[str, Callable[[Outcome], float]] = {
    "answer": lambda outcome: fmean(outcome.scores)
}


def tables(_study: Study, result: Came) -> Sequence[Iterator[str]]:
    """Print rounds, what was lost, and costs."""
    beside: Mapping[str, Callable[[Outcome], float | None]] = {
        "rounds": lambda outcome: outcome.figures["rounds"],
        "calls": lambda outcome: sum(outcome.calls.values()) / len(outcome.scores),
        "answers lost": lambda outcome: outcome.dropped / len(outcome.scores),
    }
    return (measured(result, beside, "a task"), costs(result, "one round"))


main = command(STUDY, tables, MEASURES, seeds=8, tasks=4)

if __name__ == "__main__":
    main()
