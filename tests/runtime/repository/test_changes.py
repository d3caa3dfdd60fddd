"""What each agent starts from: the rule, over every topology of a few agents."""

import itertools
from collections.abc import Iterator, Mapping

import pytest

from coterie.runtime.repository.changes import RepositoryChange, newest, passed_on

Topology = Mapping[str, tuple[str, ...]]
"""Whose reports each agent sees, in Kahn order."""


def topologies(agents: int) -> Iterator[Topology]:
    """Every topology of so many agents, in a given order."""
    names = [f"w{number}" for number in range(agents)]
    pairs = [(a, b) for b in range(agents) for a in range(b)]
    for taken in itertools.product((False, True), repeat=len(pairs)):
        edges = [pair for pair, is_taken in zip(pairs, taken, strict=True) if is_taken]
        yield {
            name: tuple(names[a] for a, b in edges if b == number)
            for number, name in enumerate(names)
        }


def walked(topology: Topology, coders: set[str]) -> Mapping[str, tuple[RepositoryChange, ...]]:
    """What each agent passes on, and under `start ID` what it starts from."""
    fields: dict[str, tuple[RepositoryChange, ...]] = {}
    for agent, sees in topology.items():
        start = newest(change for see in sees for change in fields[see])
        fields[f"start {agent}"] = start
        fields[agent] = passed_on(agent, agent if agent in coders else None, start)
    return fields


def above(topology: Topology, agent: str) -> set[str]:
    """All from whom something reaches an agent."""
    return set(topology[agent]).union(*(above(topology, name) for name in topology[agent]))


def everyone(changes: tuple[RepositoryChange, ...]) -> set[str]:
    """Whose work is in these changes."""
    return {item.agent for change in changes for item in (change, *change.held)}


@pytest.mark.parametrize("agents", [1, 2, 3, 4])
def test_nothing_is_lost_and_nothing_counts_twice(agents: int) -> None:
    names = [f"w{number}" for number in range(agents)]
    kinds = [
        set(itertools.compress(names, words)) for words in itertools.product((0, 1), repeat=agents)
    ]
    for topology, coders in itertools.product(topologies(agents), kinds):
        fields = walked(topology, coders)
        for agent in topology:
            start = fields[f"start {agent}"]
            assert everyone(start) == above(topology, agent) & coders
            assert not any(item in other.held for item in start for other in start)


def test_five_agents_at_random(nightly: bool) -> None:
    coders = {"w0", "w2", "w3"}
    step = 1 if nightly else 23
    for topology in itertools.islice(topologies(5), 0, None, step):
        fields = walked(topology, coders)
        assert all(
            everyone(fields[f"start {name}"]) == above(topology, name) & coders for name in topology
        )


def test_a_patch_goes_through_those_who_cannot_edit() -> None:
    fields = walked({"coder": (), "reviewer": ("coder",), "second": ("reviewer",)}, {"coder"})
    assert [item.agent for item in fields["second"]] == ["coder"]


def test_what_a_later_change_holds_is_left_out() -> None:
    first = RepositoryChange(agent="a", patch="1")
    second = RepositoryChange(agent="b", patch="2", onto=(first,))
    beside = RepositoryChange(agent="c", patch="3")
    assert newest([first, beside, second, beside]) == (beside, second)


def test_an_own_change_of_the_round_before_is_merged_with_what_comes() -> None:
    first = RepositoryChange(agent="a", patch="1")
    tester = RepositoryChange(agent="b", patch="2", onto=(first,))
    again = RepositoryChange(agent="a", patch="3", onto=(first,))
    assert newest([tester, again]) == (tester, again)
    assert newest([first, again]) == (again,)


def test_a_change_is_named_by_what_it_is() -> None:
    first = RepositoryChange(agent="a", patch="1")
    assert RepositoryChange(agent="a", patch="1") == first
    assert (
        len(
            {
                first,
                RepositoryChange(agent="a", patch="1"),
                RepositoryChange(agent="a", patch="1", onto=(first,)),
            }
        )
        == 2
    )
    assert first != "a"


def test_whoever_changed_nothing_passes_on_what_it_got() -> None:
    first = RepositoryChange(agent="a", patch="1")
    assert passed_on("b", "", [first]) == passed_on("b", None, [first]) == (first,)
