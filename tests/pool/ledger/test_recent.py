"""The last tasks are known one by one, and those before them add up."""

from collections.abc import Mapping
from pathlib import Path
from random import Random

import pytest

from coterie.pool import Expectation, Member, expectations
from coterie.pool.ledger import recent
from coterie.pool.ledger.recent import Recent
from coterie.pool.values.statistics import EVOLVE, Kind
from coterie.schema import Lineage

KINDS: tuple[Kind, ...] = ("plain", "adapted", "chosen")


def teams(count: int) -> list[Member]:
    born = Lineage(operator="seed")
    return [
        Member(
            name=f"team_{n}", path=Path("x"), lineage=born, stem="x", identity="x", content_hash="x"
        )
        for n in range(count)
    ]


def tried(members: list[Member], tasks: int, known: Recent, chance: Random) -> set[str]:
    """Try three teams on each task; name those that know less of one."""
    touched = set[str]()
    for number in range(tasks):
        for item in chance.sample(members, 3):
            kind = chance.choice(KINDS)
            score, niche = float(chance.random() < 0.6), chance.choice(["sums", "dates"])
            task = f"t{number}"
            item.take({"task": task, "score": score, "niche": niche}, kind)
            touched.update(known.take(item, (niche, task), kind, score))
    return touched


def test_what_is_passed_by_adds_up_to_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent, "MOST", 12)
    members = teams(5)
    known = Recent(EVOLVE)
    assert tried(members, 30, known, Random(1)) == {member.name for member in members}
    assert sum(map(len, known.tasks.values())) <= 12
    for item in members:
        known_of = item.statistics
        totals = {"plain": known_of.n, "adapted": known_of.adapted, "chosen": known_of.chosen}
        for kind in KINDS:
            sums, past = item.sums(kind=kind), item.past(kind=kind)
            parts = [*sums.values(), *past.values()]
            assert sum(part.n for part in parts) == totals[kind]
            assert all(part.tasks <= part.n <= part.repeats for part in past.values())
            assert set(sums) <= {*known.tasks}
    assert any(member.past() for member in members)


@pytest.mark.parametrize("niche", [None, "sums"])
def test_it_hardly_depends_on_how_many(monkeypatch: pytest.MonkeyPatch, niche: str | None) -> None:
    records = list[Mapping[str, Expectation]]()
    for most in (10_000, 150):
        monkeypatch.setattr(recent, "MOST", most)
        members = teams(8)
        tried(members, 200, Recent(EVOLVE), Random(2))
        assert any(member.past() for member in members) == (most == 150)
        records.append(expectations(members, niche))
    whole, part = records
    for name, item in whole.items():
        assert part[name].standing == item.standing
        assert part[name].score == pytest.approx(item.score, abs=0.02)
        assert part[name].low == pytest.approx(item.low, abs=0.03)


def test_a_task_with_more_teams_than_are_known_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent, "MOST", 2)
    members, known = teams(4), Recent(EVOLVE)
    for member in members:
        assert not known.take(member, ("", "t"), "plain", 1.0)
    assert [*known.tasks] == [("", "t")]
