"""Who was born stays; who is retired is left out, and comes back where it was born."""

from pathlib import Path
from typing import Any

from coterie.pool.ledger.births import Births
from coterie.pool.ledger.records import TrialRecord
from coterie.schema import Lineage

MANY = 100


class Counted(Births[Any]):
    """Counts the members that it goes over."""

    visited = 0

    def items(self) -> Any:
        self.visited += len(self)
        return super().items()


def newcomer(number: int) -> TrialRecord:
    name = f"m{number}"
    return TrialRecord(name=name, path=Path(name), lineage=Lineage(operator="seed"), stem=name)


def test_many_who_go_and_come_back_cost_no_more_than_a_look_at_each() -> None:
    births = Counted()
    for number in range(MANY):
        births.bear(newcomer(number))
    first = births.live
    for name in reversed(births):
        births.retire(births[name], "old")
        births.retire(births[name], None)
    births.retire(births["m3"], "old")
    assert [*births.live] == [name for name in births if name != "m3"]
    assert [*first] == [*births], "whoever has it keeps it"
    assert births.visited <= 2 * MANY
    births.bear(newcomer(MANY))
    assert [*births.live][-1] == f"m{MANY}"


def test_many_who_go_after_a_look_are_copied_once() -> None:
    births = Births[Any]()
    for number in range(MANY):
        births.bear(newcomer(number))
    seen = births.live
    births.retire(births["m0"], "old")
    copied = births._live
    for name in [*births][1:]:
        births.retire(births[name], "old")
        assert births._live is copied
    assert len(seen) == MANY
    assert not births.live
