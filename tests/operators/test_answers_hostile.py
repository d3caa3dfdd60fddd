"""Ten thousand hostile answers: no invalid team, no capability gained, all counted.

The model is a function in this process; everything from its answer on is real.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from coterie.operators import (
    MUTABLE,
    Dropped,
    Meta,
    Proposal,
    consolidate,
    crossover,
    instantiate,
    judge,
    mutate,
    select,
)
from coterie.pool.changes import Rejected
from coterie.pool.learnt import Learnt
from coterie.pool.pool import Pool
from coterie.runtime import Calls
from coterie.runtime.gateway import ChatAnswer, ChatRequest
from coterie.schema import Lineage, dump
from coterie.schema.ceiling import Ceiling
from coterie.schema.edits import components
from coterie.schema.loading import check_team

from .asking import TASK, catalogue, ceiling_of, llm, parent, team
from .hostile import choice_answers, edits_answers
from .test_consolidate import STEPS

CATALOGUE = catalogue()
FIRST = team(
    "first",
    llm("worker", role="worker", agent_type="ToolCallingAgent", tools=("read_file",)),
    llm("critic", role="critic"),
    llm("judge", role="judge", model_id="fast"),
)
SECOND = team(
    "second",
    llm("worker", role="worker", prompt="Be brief.", max_tokens=64),
    llm("judge", temperature=1),
)
CEILING = ceiling_of(FIRST, SECOND)
GRANTED = Ceiling.of(FIRST, SECOND)


class Answering:
    """Stands where the gateway does, and gives answers in turn."""

    models: Mapping[str, Any] = CATALOGUE.models

    def __init__(self, answers: Iterator[str]) -> None:
        self.answers = answers
        self.asked = 0

    async def chat(self, request: ChatRequest, *_: Any, **__: Any) -> ChatAnswer:
        del request
        self.asked += 1
        return ChatAnswer(text=next(self.answers))


class Count:
    """What came of all the answers."""

    def __init__(self) -> None:
        self.answers = 0
        self.came: Counter[str] = Counter()

    def of(self, work: Callable[[Meta], Awaitable[Any]], answers: tuple[str, ...], run: Any) -> Any:
        """Let an operator work with these answers; nothing that it does may go uncounted."""
        events: Counter[str] = Counter()

        def tell(event: str, /, **_: Any) -> None:
            events[event] += 1

        gateway: Any = Answering(iter(answers))
        calls = Calls(gateway=gateway)
        meta = Meta(calls=calls, catalogue=CATALOGUE, ceiling=CEILING, tell=tell)
        came = run(work(meta))
        self.answers += gateway.asked
        self.came[type(came).__name__] += 1
        assert events["model_call"] == gateway.asked
        assert events["operator_dropped"] == isinstance(came, Dropped)
        if isinstance(came, Dropped):
            assert came.problems
        return came


def check(made: Proposal) -> None:
    """A child loads from its file, is below the ceiling, and may do no more than its parents."""
    child = made.child
    loaded, problems = check_team(dump(child).encode(), "child.yaml", CATALOGUE)
    assert problems == []
    assert loaded == child
    assert CEILING.problems(child) == []
    for agent in child.agents.values():
        assert set(agent.tools) <= GRANTED.tools
        assert agent.model_id in CATALOGUE.aliases
        assert child.backend_of(agent) in GRANTED.backends
        assert len(agent.prompt) <= 4_000
        assert agent.max_tokens <= 4096
    assert child.execution.timeout <= 600
    assert child.execution.max_retries <= 2


def check_mutation(made: Proposal) -> None:
    assert components(made.edits) == {made.component}
    assert list(made.child.agents) == list(FIRST.agents)
    assert made.child.name == FIRST.name


def check_crossover(made: Proposal) -> None:
    base = FIRST if made.parents[0] == "first" else SECOND
    assert (made.child.reports_to, made.child.output) == (base.reports_to, base.output)
    assert list(made.child.agents) == list(base.agents)


NO_OPTION = st.none()


def hostile(
    answers: SearchStrategy[str], examples: int, work: Callable[[Meta, Any], Awaitable[Any]],
    *checks: Callable[[Any], None], options: SearchStrategy[Any] = NO_OPTION,
) -> Count:  # fmt: skip
    """Let an operator work with as many hostile answers."""
    count, before = Count(), (dump(FIRST), dump(SECOND))
    with asyncio.Runner() as runner:

        @settings(max_examples=examples)
        @given(st.tuples(answers, answers, answers, answers), options)
        def many(given_answers: tuple[str, ...], option: Any) -> None:
            came = count.of(lambda meta: work(meta, option), given_answers, runner.run)
            if not isinstance(came, Dropped):
                for one in checks:
                    one(came)

        many()
    assert (dump(FIRST), dump(SECOND)) == before
    return count


NIGHTLY = 250
SHARES = {
    **dict.fromkeys(MUTABLE, 60),
    "instantiate": 60,
    "crossover": 20,
    "component": 20,
    "select": 20,
    "judge": 20,
    "consolidate": 15,
}
"""How many hostile answers each operator has to live through."""


def test_there_are_thousands_of_them() -> None:
    assert sum(SHARES.values()) >= 400
    assert sum(SHARES.values()) * NIGHTLY >= 100_000


@pytest.fixture
def times(nightly: bool) -> int:
    return NIGHTLY if nightly else 1


def enough(count: Count, operator: str, times: int, *, came: str) -> None:
    """All answers were asked for, most are of no use, and of many some are: it is no dead end."""
    assert count.answers >= SHARES[operator] * times, count.answers
    assert count.came["Dropped"] + count.came[came] == count.came.total()
    assert count.came["Dropped"] > count.came.total() / 4
    assert times == 1 or count.came[came] > 0


@pytest.mark.parametrize("component", MUTABLE)
def test_mutations(component: Any, times: int) -> None:
    async def work(meta: Meta, _: Any) -> Any:
        return await mutate(meta, "m", TASK, parent(FIRST), component=component)

    share = SHARES[component] * times
    count = hostile(edits_answers(FIRST, component), share * 6 // 11, work, check, check_mutation)
    enough(count, component, times, came="Proposal")


def test_instantiations(times: int) -> None:
    async def work(meta: Meta, _: Any) -> Any:
        return await instantiate(meta, "i", TASK, parent(FIRST))

    share = SHARES["instantiate"] * times
    count = hostile(edits_answers(FIRST, "roster"), share * 6 // 11, work, check)
    enough(count, "instantiate", times, came="Proposal")


SOURCES = (
    "agent of first",
    "agent of second",
    "prompt of first, the rest of second",
    "prompt of second, the rest of first",
)
POSITIONS = st.fixed_dictionaries(
    {
        "reason": st.just("both"),
        "positions": st.fixed_dictionaries(
            {one: st.sampled_from([*SOURCES, "agent of third"]) for one in ("worker", "judge")}
        ),
    }
).map(json.dumps)


def test_crossovers(times: int) -> None:
    async def work(meta: Meta, side: Any) -> Any:
        return await crossover(meta, "c", TASK, parent(FIRST), parent(SECOND), topology=side)

    answers = choice_answers("positions", SOURCES) | POSITIONS
    share = SHARES["crossover"] * times
    sides = st.sampled_from(["first", "second"])
    count = hostile(answers, share * 6 // 11, work, check, check_crossover, options=sides)
    enough(count, "crossover", times, came="Proposal")


def test_choices_of_a_component(times: int) -> None:
    async def work(meta: Meta, _: Any) -> Any:
        return await mutate(meta, "m", TASK, parent(FIRST))

    choices = choice_answers("change", [*MUTABLE, "roster", "notes"])
    answers = choices | edits_answers(FIRST, "prompts")
    share = SHARES["component"] * times
    count = hostile(answers, share * 6 // 11, work, check, check_mutation)
    assert count.answers >= share
    assert count.came["Dropped"] > 0


def test_selections(times: int, tmp_path: Path) -> None:
    pool = Pool.init(tmp_path / "pool", catalogue=CATALOGUE)
    for name in ("ants", "bees", "cats", "dogs"):
        one = team(name, llm("a", prompt=f"You are of {name}. Solve it."))
        pool.add(one, Lineage(operator="seed"), op=name)
    members = list(pool.members.values())

    async def work(meta: Meta, _: Any) -> Any:
        return await select(meta, "s", TASK, members, k=2)

    def are_two_that_there_are(came: Any) -> None:
        assert len(set(came.names)) == 2
        assert set(came.names) <= set(pool.members)

    share = SHARES["select"] * times
    answers = choice_answers("selected", [*pool.members])
    count = hostile(answers, share * 6 // 11, work, are_two_that_there_are)
    enough(count, "select", times, came="Selection")


def test_verdicts(times: int) -> None:
    async def work(meta: Meta, _: Any) -> Any:
        return await judge(meta, "j", TASK, "7")

    def is_a_score(came: Any) -> None:
        assert 0 <= came.score.value <= 1

    share = SHARES["judge"] * times
    answers = choice_answers("score", [0, 1, 0.5, 7, -1, "1", None, 1e308])
    count = hostile(answers, share * 6 // 11, work, is_a_score)
    enough(count, "judge", times, came="Verdict")


def test_summaries(times: int) -> None:
    async def work(meta: Meta, _: Any) -> Any:
        return await consolidate(meta, "c", TASK, STEPS)

    def is_an_entry(came: Any) -> None:
        assert 0 < len(Learnt.of(came.value()).text) <= 2_000

    share = SHARES["consolidate"] * times
    answers = choice_answers("summary", ["Voting helped.", " ", "x" * 9_000])
    count = hostile(answers, share, work, is_an_entry)
    enough(count, "consolidate", times, came="Learnt")


@pytest.mark.damaged_pool  # its models are of another host
def test_a_pool_holds_the_children_that_came_about_and_counts_the_rest(tmp_path: Path) -> None:
    pool = Pool.init(tmp_path / "pool", catalogue=CATALOGUE, ceiling=CEILING)
    pool.add(FIRST, Lineage(operator="seed"), op="seed")
    numbers = itertools.count()

    async def work(meta: Meta, component: Any) -> Any:
        came = await mutate(meta, "m", TASK, parent(FIRST), component=component)
        op = f"{next(numbers)}"
        if isinstance(came, Proposal):
            born = Lineage(operator="mutate", parents=("first",), reason=came.reason)
            pool.add(came.child, born, op=op)
        else:
            pool.commit(
                Rejected(
                    operator=came.operator,
                    reason=came.reason,
                    problems=came.problems,
                    parents=came.parents,
                ),
                op=op,
            )
        return came

    components_ = st.sampled_from(MUTABLE)
    count = hostile(edits_answers(FIRST, "prompts"), 150, work, check, options=components_)
    assert pool.rejections == {"mutate": count.came["Dropped"]}
    assert len(pool.members) - 1 + pool.twins.get("mutate", 0) == count.came["Proposal"]
    again = Pool.open(tmp_path / "pool", catalogue=CATALOGUE, ceiling=CEILING)
    assert again.members.keys() == pool.members.keys()
    for member in again.members.values():
        loaded, problems = check_team(member.path.read_bytes(), "child.yaml", CATALOGUE)
        assert problems == []
        assert CEILING.problems(loaded) == []
