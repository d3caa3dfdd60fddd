from collections.abc import Iterable
from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

from coterie.schema import Agent, Team
from coterie.schema.picture.layout import Arrangement, Slot, Spacing, arrange

SPACING = Spacing(box=60, lane=10, gap=16)


def team_of(count: int, edges: Iterable[tuple[int, int]]) -> Team:
    receivers: dict[str, tuple[str, ...]] = {}
    for amount, other in edges:
        receivers[f"a{amount}"] = (*receivers.get(f"a{amount}", ()), f"a{other}")
    agents = {f"a{number}": Agent(id=f"a{number}") for number in range(count)}
    return Team(name="t", agents=agents, reports_to=receivers)


def crossings(arrangement: Arrangement) -> int:
    centers = arrangement.centers
    pairs = [(item.level, centers[item], centers[other]) for item, other in arrangement.links]
    return sum(
        (first[1] - second[1]) * (first[2] - second[2]) < 0
        for first, second in combinations(pairs, 2)
        if first[0] == second[0]
    )


@st.composite
def teams(draw: st.DrawFn) -> Team:
    count = draw(st.integers(1, 12))
    pairs = list(combinations(range(count), 2))
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return team_of(count, edges)


@given(teams())
def test_nothing_overlaps_and_everything_is_inside(team: Team) -> None:
    arrangement = arrange(team, SPACING)
    for level in range(len(team.levels)):
        row = sorted(
            (center, slot) for slot, center in arrangement.centers.items() if slot.level == level
        )
        for (before, item), (after, other) in pairwise(row):
            apart = after - before - (SPACING.size(item) + SPACING.size(other)) / 2
            assert apart >= SPACING.gap - 1e-6
    ends = [
        (center - SPACING.size(slot) / 2, center + SPACING.size(slot) / 2)
        for slot, center in arrangement.centers.items()
    ]
    assert abs(min(start for start, _ in ends)) < 1e-6
    assert abs(max(end for _, end in ends) - arrangement.extent) < 1e-6


@given(teams())
def test_every_edge_is_a_way_of_links_through_slots_of_its_sender(team: Team) -> None:
    after: dict[Slot, list[Slot]] = {}
    for item, other in arrange(team, SPACING).links:
        assert other.level == item.level + 1
        after.setdefault(item, []).append(other)

    def reached(slot: Slot) -> set[str]:
        ends = {other.agent_id for other in after.get(slot, ()) if not other.passing}
        passing = (other for other in after.get(slot, ()) if other.passing)
        return ends.union(*map(reached, passing))

    for level, ids in enumerate(team.levels):
        for agent_id in ids:
            assert reached(Slot(agent_id, level)) == set(team.reports_to.get(agent_id, ()))


def test_edges_that_need_not_cross_do_not() -> None:
    crosswise = team_of(8, [(0, 7), (1, 6), (2, 5), (3, 4)])
    assert crossings(arrange(crosswise, SPACING)) == 0


def test_a_receiver_stands_in_the_middle_of_those_who_report_to_it() -> None:
    centers = arrange(team_of(4, [(0, 3), (1, 3), (2, 3)]), SPACING).centers
    assert centers[Slot("a3", 1)] == centers[Slot("a1", 0)] == 106


def test_a_chain_is_straight() -> None:
    chain = arrange(team_of(5, pairwise(range(5))), SPACING)
    assert set(chain.centers.values()) == {30}
    assert chain.extent == 60


def test_edges_of_one_agent_share_their_way_past_a_level() -> None:
    fan = team_of(6, [(0, 1), (1, 2), (0, 3), (2, 3), (2, 4), (0, 4), (2, 5), (0, 5)])
    passing = [slot for slot in arrange(fan, SPACING).centers if slot.passing]
    assert passing == [Slot("a0", 1, passing=True), Slot("a0", 2, passing=True)]
