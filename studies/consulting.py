"""MATTRL in simulated worlds: which scheme of credit sees who was worth what, and does it matter?

    python -m studies.consulting --results results

**The rules and the expectations of this page were committed before its results.**

Five specialists consult in up to three rounds about a case of four findings; a reporter has each
reading once, and a chief decides by the majority of slides. `studies/world/ward.py` has the rules:
two specialists share a slide and say the same (*copied*, *redundant*), one is *helpful*, one *idle*
and one *misleading*. So what any group is worth can be computed, and with it each specialist's
**true Shapley value** and **true marginal worth**.

When all cases are done, the quarter of utterances that a scheme selects becomes experience: the
method by which an utterance was read, for cases of its niche and sign. An agent that is reminded of
the right method reads better (0.4 to 1 on log odds), of a wrong one worse.

The judge scores an utterance by what is right in it less what is wrong (`skill`, from 0.6 to 0.95),
with an error of up to 0 to 0.3. A *vain* judge adds 0.6 times how sure of itself a specialist
sounds, which has nothing to do with being right. Eq. 12 mixes its score, by 0.4, with a share of
the outcome, by 0.6: that share is divided among rounds and specialists, so it is small beside the
score. Whether schemes differ in what is kept is therefore open.

Rows are the three schemes with a fair and a vain judge, *difference per turn*, *everything kept*
and *no experience* (the team that is never reminded). Each learns from 8 cases and is tested on 16.
The unit is the seed; intervals are of 95 % by Student's t. In a *level* world all specialists read
slides of their own and are equally reliable, experience has no effect, and 2 cases are learnt from.

To be expected: *difference* follows the marginal worth best and *Shapley* the Shapley value;
*naive* sees right from wrong with a fair judge, and less with a vain one; on tested cases all
schemes are alike, and above *no experience*, since an entry is as good as its utterance was right,
whoever else said so. In level worlds about 19 of 20 intervals cover 0.
"""

from __future__ import annotations

from collections import Counter
from statistics import fmean
from typing import TYPE_CHECKING, Any

from coterie.operators.methods.mattrl.experience import EVENT
from coterie.schema.team.writing import dump

from .world.marks import marks
from .world.minds import right_method
from .world.tables import command, costs, measured
from .world.trials import LEVEL, Outcome, Row, Study
from .world.ward import AGENTS, KINDS, PARTS, WARD, consulted, kinds, shapley, ward, worth
from .world.worlds import chance, drawn, leveled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from .world.tables import Came
    from .world.trials import Trial
    from .world.worlds import World

BOOST = (0.4, 1.0)
VAIN: Mapping[str, Any] = {"vanity": 0.6}
SCHEMES = {"naive": "naive", "difference": "difference", "Shapley": "shapley"}
ROWS = (
    Row(name="no experience", settings={"scheme": "none"}, strategy="meta_team"),
    *(Row(name=f"{name}, fair", settings={"credit": it}) for name, it in SCHEMES.items()),
    *(
        Row(name=f"{name}, vain", settings={"credit": it}, changes=VAIN)
        for name, it in SCHEMES.items()
    ),
    Row(name="difference per turn, fair", settings={"credit": "difference", "per": "turn"}),
    Row(name="everything kept, fair", settings={"share": 1.0}),
)


def world_of(kind: str, seed: int, _name: str) -> World:
    """Make a world; in a level one nobody differs from anybody, and experience has no effect."""
    boost = chance("consulting", seed, "boost").uniform(*BOOST)
    world = drawn("consulting", seed, parts=PARTS, habit=boost)
    return leveled(world, "") if kind == LEVEL else world


def teams(_world: World, folder: Path) -> list[Path]:
    """Write the ward."""
    file = folder / "ward.yaml"
    file.write_text(dump(ward()), encoding="utf-8")
    return [file]


def figures(trial: Trial) -> Mapping[str, Any]:
    """Compare what a scheme said of each specialist with what is true, and count what is kept."""
    said = [
        utterance
        for line in trial.lines
        for event in line.get("story", ())
        if event["event"] == EVENT
        for utterance in event["utterances"]
    ]
    if not said:
        return {}
    world, entries = trial.world, trial.context.pool.learnt.between(0)
    truths = {
        "Shapley value": [shapley(world, word) for word in AGENTS],
        "marginal worth": [
            worth(world, AGENTS) - worth(world, {*AGENTS} - {word}) for word in AGENTS
        ],
    }
    record: dict[str, Any] = {}
    for name, fields in {"credit": ("worth", "score"), "reward": ("reward",)}.items():
        means = [_mean(said, agent, fields) for agent in AGENTS]
        for truth, values in truths.items():
            record[f"{name}: {truth}"] = _rank_correlation(means, values)
        for agent, mean in zip(AGENTS, means, strict=True):
            record[f"{name} of {kinds(world.name)[agent]}"] = mean
    right = [
        method == right_method(world.name, niche, sign)
        for entry in entries
        for niche, sign, method, _ in marks(entry.text, "lesson")
    ]
    owners = Counter(kinds(world.name)[str(entry.owner)] for entry in entries)
    shares = {f"kept of {kind}": owners[kind] / max(1, len(entries)) for kind in KINDS}
    top = fmean(item["ratio"] for item in said) if said else 0.0
    return {**record, **shares, "kept": len(entries), "sound": fmean(right or [0]), "ratio": top}


def _rank_correlation(item: Sequence[float], other: Sequence[float]) -> float:
    """Return Spearman's rank correlation; 0 where either tells nothing apart."""
    import scipy.stats

    stats: Any = scipy.stats
    valueses = [[round(value, 12) for value in values] for values in (item, other)]
    is_told_apart = all(len({*each}) > 1 for each in valueses)
    return float(stats.spearmanr(*valueses).statistic) if is_told_apart else 0.0


def _mean(records: Sequence[Mapping[str, Any]], agent: str, fields: Sequence[str]) -> float:
    """Return the mean of the first field that utterances of an agent have."""
    own = [record for record in records if record["agent"] == agent]
    known = [next((record[it] for it in fields if it in record), None) for record in own]
    return fmean([item for item in known if item is not None] or [0.0])


STUDY = Study(
    name="consulting",
    strategy="mattrl",
    rows=ROWS,
    worlds=world_of,
    teams=teams,
    operators=WARD,
    agents=consulted,
    figures=figures,
)
MEASURES: Mapping[str, Callable[[Outcome], float]] = {
    "held out": lambda outcome: outcome.score,
}


def _of(name: str) -> Callable[[Outcome], float | None]:
    return lambda outcome: outcome.figures.get(name)


def tables(_study: Study, result: Came) -> Sequence[Iterator[str]]:
    """Print correlations with what is true, credit by kind, what was kept, and costs."""
    learnt = {
        name: of for name, of in result.items() if all(outcome.figures for outcome in of.values())
    }
    truths = [
        f"{it}: {of}" for it in ("credit", "reward") for of in ("Shapley value", "marginal worth")
    ]
    kept = ("kept", "sound", *(f"kept of {kind}" for kind in KINDS))
    return (
        measured(learnt, {name: _of(name) for name in truths}, "rank correlation"),
        measured(learnt, {kind: _of(f"credit of {kind}") for kind in KINDS}, "credit"),
        measured(learnt, {name: _of(name) for name in kept}, "entries"),
        costs(result, "no experience"),
    )


main = command(STUDY, tables, MEASURES, seeds=4, tasks=8, test=16)

if __name__ == "__main__":
    main()
