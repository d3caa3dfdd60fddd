"""Who is asked in a consultation answers as its world says, and always validly."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.operators.core.meta import MetaModel
from coterie.operators.core.utterances import Utterance, utterances
from coterie.operators.credit.contributions import Contribution
from coterie.operators.methods.mattrl.appraise import Appraisal, appraise
from coterie.operators.methods.mattrl.distil import Distilled, distil
from coterie.runtime.agents.ablation import Ablation
from coterie.runtime.agents.outcomes import Run
from coterie.runtime.gateway import ChatRequest
from coterie.runtime.messages.recall import MemoryEntry, nothing
from coterie.runtime.plan.plan import compile
from coterie.runtime.rounds.rounds import Round
from coterie.runtime.runs.whole import passes, perform
from studies.consulting.gateway import Simulated, graded, tasks
from studies.consulting.landscapes import AGENTS, Landscape, drawn, level
from studies.consulting.names import CEILING, META, catalogue, ward
from studies.consulting.texts import answered, posed, readings_in, way_in, way_said
from studies.consulting.world import (
    case_of,
    decided,
    reading,
    right_in,
    shown,
    title,
    ways,
    without_taste,
)
from studies.simulated import services_of

Came = TypeVar("Came")


class Host:
    """A landscape, and what asks and runs in it."""

    def __init__(self, landscape: Landscape, entries: Sequence[MemoryEntry] = ()) -> None:
        async def recalled(_q: str, _k: int, _w: Mapping[str, Any], /) -> Sequence[MemoryEntry]:
            return entries

        self.landscape = landscape
        self.gateway = Simulated(landscape)
        services = services_of(self.gateway, 1)
        self.services = replace(services, recaller=recalled if entries else nothing)
        self.plan = compile(ward(), catalogue())
        [self.task] = tasks(1, [0])
        self.case = case_of(title(1, 0))
        self.meta = MetaModel(
            calls=self.services.calls(), catalogue=catalogue(), ceiling=CEILING, model=META
        )

    def rounds(self, *silent: str) -> tuple[Round, ...]:
        return self._silenced(passes, silent)

    def run(self, *silent: str) -> Run:
        return self._silenced(perform, silent)

    def _silenced(self, work: Callable[..., Awaitable[Came]], silent: Sequence[str]) -> Came:
        absent = Ablation(agents=frozenset(silent))
        context = self.services.context()
        return done(lambda: work(self.plan, self.task, context, silent=absent))

    def score(self, *group: str) -> float:
        """What a group comes to by the world alone."""
        read = [
            reading(self.landscape, seat, self.case, one, effect=0.0, heard="")
            for seat in self.landscape.seats
            if seat.agent in group
            for one in shown(self.landscape, seat, self.case)
        ]
        answer = decided(self.landscape, self.case, read, "")
        return graded(answered(answer), self.task.answer, {}).value

    def judged(self, said: Sequence[Utterance]) -> Mapping[str, float]:
        came = done(lambda: appraise(self.meta, f"{said}", self.task, said))
        assert isinstance(came, Appraisal)
        return {name: one.value for name, one in came.of.items()}


def done(work: Callable[[], Awaitable[Came]]) -> Came:
    async def main() -> Came:
        return await work()

    return asyncio.run(main())


def steady(number: int) -> Landscape:
    """A landscape in which nothing comes out anew."""
    return replace(drawn(number), alike=1.0, noise=0.0)


@settings(max_examples=5)
@given(st.integers(0, 500), st.sets(st.sampled_from(AGENTS)))
def test_a_run_comes_to_what_the_world_says_of_those_who_are_not_silent(
    number: int, silent: set[str]
) -> None:
    host = Host(steady(number))
    score = host.run(*silent).score
    assert score is not None
    assert score.value == host.score(*({*AGENTS} - silent))


def test_each_says_all_that_it_reads_and_then_nothing_new() -> None:
    host = Host(steady(1))
    rounds = [one for one in host.rounds() if one.kind == "round"]
    said = utterances(host.rounds())
    assert {one.agent for one in said} == {*AGENTS}
    for seat in host.landscape.seats:
        own = [one.said for one in said if one.agent == seat.agent]
        read = {one.finding for one in readings_in("\n".join(own))}
        assert read == {*shown(host.landscape, seat, host.case)}
        last = rounds[-1].run.agents[seat.agent].result
        assert last is not None
        assert '"increment": []' in last.content


def test_a_fair_judge_goes_by_what_is_right_and_a_vain_one_by_how_sure_it_sounds() -> None:
    vain = replace(steady(4), sight=0.9, taste=0.9)
    host, fair = Host(vain), Host(without_taste(vain))
    said = [one for one in utterances(host.rounds()) if one.round == 1]
    by_fair, by_vain = fair.judged(said), host.judged(said)
    for one in said:
        text = one.said.partition('"increment"')[2]
        right = [right_in(host.case, it) for it in readings_in(text)]
        mark = 0.5 + 0.9 * sum(1 if it else -1 for it in right) / 4
        assert by_fair[one.agent] == pytest.approx(mark, abs=0.051)
        loudness = host.landscape.seat(one.agent).loudness
        if abs(loudness - 0.5) > 0.1:
            is_higher = by_vain[one.agent] >= by_fair[one.agent]
            assert is_higher == (loudness > 0.5) or by_vain[one.agent] == by_fair[one.agent]


def test_an_entry_tells_the_way_of_its_utterance_and_changes_what_is_read() -> None:
    host = Host(steady(2))
    said = utterances(host.rounds())[0]
    came = done(
        lambda: distil(
            host.meta, "distil", host.task, said, score=Contribution(value=1.0, reason="so")
        )
    )
    assert isinstance(came, Distilled)
    assert way_in(came.text) == way_in(said.said) is not None
    landscape = replace(steady(2), boost=8.0, harm=8.0)
    niche = host.case.niche
    scores: list[float] = []
    for kind in (-1, 0, 1):
        text = f"in the {niche} ward: {way_said(ways(landscape, niche, kind)[0])}"
        entry = MemoryEntry(source="s", task=posed(host.case), text=text)
        run = Host(landscape, [entry]).rounds()
        read = readings_in("\n".join(one.said for one in utterances(run)))
        scores.append(fmean(right_in(host.case, one) for one in read))
    assert scores[0] == 0
    assert 0 < scores[1] < scores[2] == 1


def test_in_a_level_landscape_entries_change_nothing() -> None:
    landscape = replace(level(1), alike=1.0)
    niche = Host(landscape).case.niche
    text = f"in the {niche} ward: {way_said(ways(landscape, niche, 1)[0])}"
    entry = MemoryEntry(source="s", task="t", text=text)
    one, other = Host(landscape).run(), Host(landscape, [entry]).run()
    assert one.answer == other.answer


def test_what_is_no_case_of_the_landscape_is_refused() -> None:
    request = ChatRequest(
        model=META, messages=[{"role": "system", "content": ""}, {"role": "user", "content": "2?"}]
    )
    with pytest.raises(ValueError, match="no case"):
        done(lambda: Host(drawn(1)).gateway.chat(request))
