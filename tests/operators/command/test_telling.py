"""What a report tells of routed cases, where a pool has some."""

from dataclasses import replace

from coterie.operators.routing import Case, figures
from coterie.pool import Pool

from ..routing.cases import by_length, world
from .conftest import Lab


def test_a_report_has_the_router_s_figures_where_a_pool_has_cases(lab: Lab) -> None:
    assert "router" not in lab.evolve("--limit", "1").out
    bare = lab.report("pool", "--json").json
    assert "routing" not in bare
    cases = world(40, by_length)
    other = [named(item, "other") for item in world(20, by_length, seed=1)]
    pool = Pool.open(lab.folder / "pool")
    for number, entry in enumerate([*other, *cases]):
        pool.commit(entry.event(), op=f"recipe/{number:06d}/routed")
    report = figures(cases)
    assert report is not None
    assert f"\n{report}\n" in lab.report("pool").out
    value = lab.report("pool", "--json").json
    assert value.pop("routing") == report.value()
    assert value == bare


def named(case: Case, single: str) -> Case:
    return replace(case, task=f"{single} {case.task}", single=replace(case.single, name=single))
