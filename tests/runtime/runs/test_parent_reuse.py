"""A child's run takes from its parents' runs what it asks in the same words, and nothing else."""

from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from coterie.runtime import Journal, compile
from coterie.runtime.runs.parent_reuse import PARENT, ParentRunReuse
from coterie.runtime.values.usage import Usage
from coterie.schema import Agent, Catalogue, Model, Team

from ...support.journals import SPENT, answered, ended

CATALOGUE = Catalogue.of_host(
    models={word: Model(alias=word, model=word) for word in ("m", "other")}
)
CALL = "attempt 1/call 1"


def team(**agents: Agent) -> Team:
    *others, last = agents
    return Team(name="team", agents=agents, reports_to=dict.fromkeys(others, (last,)))


def agent(name: str, **fields: Any) -> Agent:
    given: dict[str, Any] = {"model_id": "m", "prompt": f"You are {name}.", **fields}
    return Agent(id=name, **given)


def yes(_alias: str) -> bool:
    return True


def no(_alias: str) -> bool:
    return False


class Family:
    """Runs of teams in one journal."""

    def __init__(self, journal: Journal) -> None:
        self.journal, self.count = journal, 0

    def run(
        self,
        of: Team,
        *parents: ParentRunReuse,
        takes_seed: Callable[[str], bool] = yes,
        always: bool = False,
    ) -> ParentRunReuse:
        self.count += 1
        place, plan = f"task 1/candidate {self.count}/", compile(of, CATALOGUE)
        return ParentRunReuse.of(
            self.journal, place, plan, parents, takes_seed=takes_seed, always=always
        )


@pytest.fixture
def family(tmp_path: Path) -> Generator[Family]:
    with Journal.open(tmp_path) as journal:
        yield Family(journal)


ANN, BOB = agent("ann"), agent("bob")
BOTH = team(ann=ANN, bob=BOB)


async def test_what_is_asked_in_the_same_words_is_taken_and_counted_as_saved(
    family: Family,
) -> None:
    parent, child = (first := family.run(BOTH)), family.run(BOTH, first)
    await parent.put(f"{parent.place}ann/{CALL}", "model", "q", answered("theirs"))
    assert child.get(f"{child.place}ann/{CALL}", "other words") is None
    assert child.get(f"{child.place}bob/{CALL}", "q") is None
    taken = child.get(f"{child.place}ann/{CALL}", "q")
    assert taken is not None
    assert (taken["text"], taken["source"]) == ("theirs", PARENT)
    assert child.get(f"{child.place}ann/{CALL}", "q") == taken  # and counts once
    assert (child.saved, parent.saved) == (SPENT, Usage())
    child.close()
    assert family.journal.spent() == SPENT  # nobody paid again


async def test_an_agent_that_came_to_its_end_is_taken_as_a_whole(family: Family) -> None:
    parent = family.run(BOTH)
    grandchild = family.run(BOTH, family.run(BOTH, parent))
    await parent.put(f"{parent.place}round 1/ann", "agent", "q", ended())
    taken = grandchild.get(f"{grandchild.place}round 1/ann", "q")
    assert taken is not None
    assert taken["content"] == "c"
    assert grandchild.saved == SPENT


@pytest.mark.parametrize("kind", ["tool", "code"])
async def test_what_tools_and_code_gave_is_never_taken(family: Family, kind: str) -> None:
    parent = family.run(BOTH)
    child = family.run(BOTH, parent, always=True)
    await parent.put(f"{parent.place}ann/attempt 1/{kind} f 1", kind, "q", {"output": "theirs"})
    assert child.get(f"{child.place}ann/attempt 1/{kind} f 1", "q") is None
    await child.put(f"{child.place}ann/attempt 1/{kind} f 1", kind, "q", {"output": "own"})
    assert child.get(f"{child.place}ann/attempt 1/{kind} f 1", "q") == {"output": "own"}


def test_a_call_has_the_seed_of_the_run_that_its_agent_comes_from(family: Family) -> None:
    """A crossover has one agent of each parent; the child's child goes on with both."""
    brief = team(ann=agent("ann", prompt="Be brief."), bob=BOB)
    first, second = family.run(BOTH), family.run(brief)
    crossed = family.run(brief, first, second)
    child = family.run(team(ann=agent("ann", prompt="New."), bob=BOB, cyn=agent("cyn")), crossed)
    for own, source, name in (
        (first, first, "ann"),
        (crossed, second, "ann"),
        (crossed, first, "bob"),
        (child, second, "ann"),
        (child, first, "bob"),
    ):
        assert own.origin(f"{own.place}{name}/{CALL}") == f"{source.place}{name}/{CALL}"
    assert child.origin(f"{child.place}cyn/{CALL}") == f"{crossed.place}cyn/{CALL}"  # it is new
    assert child.origin("task 1/elsewhere") == "task 1/elsewhere"


def test_two_agents_of_a_child_never_share_a_seed(family: Family) -> None:
    first, second = family.run(BOTH), family.run(team(bob=BOB, ann=ANN, cyn=agent("cyn")))
    child = family.run(team(ann=ANN, bob=BOB, cyn=agent("cyn")), first, second)
    paths = [f"{child.place}{word}/{CALL}" for word in ("ann", "bob", "cyn")]
    assert len({child.origin(path) for path in paths}) == 3


@pytest.mark.parametrize(
    ("temperature", "takes_seed", "fields", "is_taken"),
    [
        (0.7, yes, {}, True),
        (0.7, no, {}, False),
        (None, no, {}, False),
        (0.0, no, {}, True),
        (0.7, yes, {"adapted": {"seed": "left out"}}, False),
        (0.0, yes, {"adapted": {"seed": "left out"}}, True),
        (0.0, no, {"adapted": {"temperature": "left out"}}, False),
        (0.7, yes, {"alias": "other"}, False),
    ],
)
async def test_what_chance_had_a_hand_in_is_taken_only_where_it_is_said(
    family: Family,
    temperature: float | None,
    takes_seed: Callable[[str], bool],
    fields: Mapping[str, Any],
    *,
    is_taken: bool,
) -> None:
    """A model that has no seed, refuses it, or that another one stood in for, was drawn."""
    item = team(ann=agent("ann", temperature=temperature))
    for always in (False, True):
        parent = family.run(item, takes_seed=takes_seed, always=always)
        child = family.run(item, parent, takes_seed=takes_seed, always=always)
        await parent.put(f"{parent.place}ann/{CALL}", "model", "q", answered("theirs", **fields))
        await parent.put(f"{parent.place}ann", "agent", "q", ended())
        call = child.get(f"{child.place}ann/{CALL}", "q")
        whole = child.get(f"{child.place}ann", "q")
        assert (call is not None, whole is not None) == ((always or is_taken),) * 2


async def test_who_has_less_time_than_in_the_parents_run_works_anew(family: Family) -> None:
    parent = family.run(BOTH)
    await parent.put(f"{parent.place}ann/{CALL}", "model", "q", answered("theirs"))
    hasty = family.run(team(ann=agent("ann", timeout=1.0), bob=BOB), parent)
    assert hasty.get(f"{hasty.place}ann/{CALL}", "q") is None
    assert hasty.origin(f"{hasty.place}ann/{CALL}") == f"{hasty.place}ann/{CALL}"
    assert hasty.origin(f"{hasty.place}bob/{CALL}") == f"{parent.place}bob/{CALL}"


def resumed(
    family: Family, parents: Sequence[ParentRunReuse]
) -> tuple[ParentRunReuse, ParentRunReuse]:
    """The same run as it goes on in another process: once until now, and once from here on."""
    item = family.run(BOTH, *parents)
    family.count -= 1
    return item, family.run(BOTH, *parents)


async def test_a_run_that_is_gone_on_with_has_saved_as_much(family: Family) -> None:
    parent = family.run(BOTH)
    await parent.put(f"{parent.place}ann/{CALL}", "model", "q", answered("theirs"))
    await parent.put(f"{parent.place}bob", "agent", "q", ended())
    before, after = resumed(family, [parent])
    assert before.get(f"{before.place}ann/{CALL}", "q") is not None
    await before.put(f"{before.place}ann/attempt 1/call 2", "model", "q2", answered("own"))
    await before.put(f"{before.place}ann", "agent", "q", ended(SPENT + SPENT))
    assert before.get(f"{before.place}bob", "q") is not None
    assert before.saved == SPENT + SPENT
    assert after.get(f"{after.place}ann", "q") is not None
    assert after.get(f"{after.place}bob", "q") is not None
    assert after.saved == SPENT + SPENT
    assert family.journal.spent() == SPENT + SPENT


async def test_a_run_that_is_gone_on_with_knows_what_was_drawn(family: Family) -> None:
    before, after = resumed(family, [])
    await before.put(f"{before.place}ann/{CALL}", "model", "q", answered("own", alias="other"))
    assert after.get(f"{after.place}ann/{CALL}", "q") is not None
    await after.put(f"{after.place}ann", "agent", "q", ended())
    child = family.run(BOTH, after)
    assert child.get(f"{child.place}ann", "q") is None


async def test_what_an_agent_recalled_is_taken_and_saves_nothing(family: Family) -> None:
    parent = family.run(BOTH)
    child = family.run(BOTH, parent)
    await parent.put(f"{parent.place}ann/attempt 0/recall f 1", "recall", "q", {"entries": []})
    assert child.get(f"{child.place}ann/attempt 0/recall f 1", "q") is not None
    assert child.saved == Usage()
