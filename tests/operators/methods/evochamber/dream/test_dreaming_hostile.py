"""Hostile answers to a whole task's learning: nothing reaches a wrong agent, all is counted."""

import asyncio
import itertools
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.operators import MetaModel
from coterie.operators.evolution.context import EvolutionContext
from coterie.operators.evolution.episode import Episode
from coterie.operators.methods.evochamber.dream.dreaming import dream
from coterie.operators.methods.evochamber.lifecycle.fusing import LONGEST_ENTRY
from coterie.operators.methods.evochamber.reflecting import reflect_all
from coterie.pool.ledger.learnt import Learnt
from coterie.runtime import Calls

from .....pool.populations import folded, town, worked
from .....support.hostile_answers import Answering
from ..town import MEMBERS, OTHERS, TASK, lived, ran, seated, tried


@pytest.fixture
def examples(nightly: bool) -> int:
    return 500 if nightly else 2


async def learnt(context: EvolutionContext, number: int, chance: Random) -> Counter[str]:
    """Let a team learn all that there is to learn from a task, and check what is to be kept."""
    episode = Episode(context=context, number=number, task=TASK, view=context.view())
    lost: Counter[str] = Counter()

    def tell(event: str, /, **_: Any) -> None:
        lost[event] += 1

    gateway: Any = Answering(chance)
    calls, limits = Calls(gateway=gateway), context.ceiling
    episode.meta_model = MetaModel(
        calls=calls, catalogue=context.catalogue, ceiling=limits, tell=tell
    )
    sat = seated()
    run, attempts = ran(sat), tried(sat, {"ada": 1.0, "ben": 0.0, "cyn": 0.0})
    population = folded([*town(*MEMBERS, *OTHERS), worked(MEMBERS, "sums", 0.0)])
    await reflect_all(episode, sat, run, attempts, 0.0)
    await dream(episode, population, sat, run, attempts, reward=0.0)
    assert lost["operator_dropped"] == len(episode.rejected)
    return check(episode)


def check(episode: Episode) -> Counter[str]:
    """Entries are short and of whom they are for, and the event tells how many there are."""
    changes = [change for change, _ in episode.changes]
    assert len({what for _, what in episode.changes}) == len(changes)
    *entries, report = changes
    counts: Counter[str] = Counter()
    for entry in entries:
        assert isinstance(entry, Learnt)
        again = Learnt.of(entry.value())
        assert 0 < len(again.text) <= LONGEST_ENTRY
        assert "\n" not in again.text
        assert again.niche == ("sums" if again.kind == "lesson" else None)
        if again.giver is None:
            assert again.owner in MEMBERS
            assert (again.level, again.to) == (None, ())
            counts["own"] += 1
        else:
            assert (again.giver, again.owner, again.credit) == ("ada", None, 1.0)
            assert again.to
            others = OTHERS if again.level == "cross_domain" else ()
            assert {*again.to} <= {"ben", "cyn", *others}
            assert again.level == "cross_domain" or again.kind == "lesson"
            counts["given"] += len(again.to)
    about = report.value()["about"]
    assert len(about["insights"]) == about["came"] <= 3
    assert about["verified"] == sum(insight["verified"] for insight in about["insights"])
    assert counts["given"] == sum(insight["to"] for insight in about["insights"])
    assert about["givers"] == (["ada"] if about["verified"] else [])
    return counts


def test_whatever_is_answered_entries_are_for_their_owners(tmp_path: Path, examples: int) -> None:
    counts: Counter[str] = Counter()
    numbers = itertools.count(1)

    async def work(episode: Episode) -> None:
        loop, stage = asyncio.get_running_loop(), episode.context

        @settings(max_examples=examples)
        @given(st.randoms(use_true_random=True))
        def many(chance: Random) -> None:
            item = learnt(stage, next(numbers), chance)
            counts.update(asyncio.run_coroutine_threadsafe(item, loop).result())

        await asyncio.to_thread(many)

    lived(tmp_path, "7", work)
    assert counts["own"] > 0
    assert examples < 100 or counts["given"] > 0
