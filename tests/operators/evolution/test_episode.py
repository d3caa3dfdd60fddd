"""An episode: what a strategy has to work with, and what is kept of it."""

import asyncio
import json
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coterie.operators.core.proposal import RejectedProposal
from coterie.operators.evolution.context import EvolutionContext, open_stage
from coterie.operators.evolution.episode import Episode
from coterie.operators.evolution.evolution import Evolution
from coterie.operators.evolution.strategy import Strategy
from coterie.operators.methods.search.settings import SearchSettings
from coterie.pool import Pool
from coterie.pool.ledger.changes import EventNoted, Learnt
from coterie.runtime import Caps, Score, Setting
from coterie.runtime.agents.outcomes import without_cost
from coterie.runtime.agents.round_state import RoundState
from coterie.runtime.doubles import Reply, ScriptedModel, message_text
from coterie.runtime.doubles.script import Request
from coterie.schema import Catalogue, InputError, LimitError, Model, Task
from coterie.schema.loading.ceiling import CapabilityPolicy
from coterie.schema.loading.recipe import Recipe

from ..evolving import TEAMS

NO_CAPS = Caps()
TASKS = [Task(id=f"t{n}", query=f"Question {n}?", answer="7") for n in range(3)]

Doing = Callable[[Episode], Coroutine[Any, Any, None]]


def answers(request: Request) -> Reply:
    if "score" in json.dumps(request.get("response_format", {})):
        return Reply.json({"reason": "fine", "score": 0.5})
    return Reply(text="7" if "seven" in message_text(request) else "8")


def done(
    folder: Path,
    base: str,
    work: Callable[[EvolutionContext], Coroutine[Any, Any, Any]],
    recipe: Recipe | None = None,
    *,
    pair: str = TEAMS["pair"],
    others: Sequence[str] = (),
    budget: Caps = NO_CAPS,
    **how: Any,
) -> Any:
    """Do something on a stage in a folder; what was paid for there is not paid for again."""
    (folder / "evolution").mkdir(exist_ok=True, parents=True)
    files = [folder / f"{name}.yaml" for name in ("pair", *map(str, range(len(others))))]
    for file, text in zip(files, (pair, *others), strict=True):
        file.write_text(text)
    models = {"default": Model(alias="default", model="m", api_base=base)}
    known = Catalogue.of_host(models=models)

    async def until_done() -> Any:
        async with open_stage(
            name="evolution",
            recipe=recipe or Recipe(strategy="fixed", settings=SearchSettings()),
            catalogue=known,
            ceiling=CapabilityPolicy(),
            setting=Setting(seed=1, budget=budget),
            pool=Pool.init(folder / "pool", files, catalogue=known),
            folder=folder / "evolution",
            **how,
        ) as stage:
            return await work(stage)

    return asyncio.run(until_done())


def episode_of(context: EvolutionContext, **fields: Any) -> Episode:
    return Episode(context=context, number=0, task=TASKS[0], view=context.view(), **fields)


def evolve(strategy: Doing) -> Callable[[EvolutionContext], Coroutine[Any, Any, Evolution]]:
    async def work(context: EvolutionContext) -> Evolution:
        result = Evolution(
            context=context,
            strategy=Strategy(name="tried", episode=strategy),
            tasks=TASKS,
            folder=context.pool.folder.parent / "evolution",
        )
        await result.to_the_end()
        return result

    return work


def test_what_is_carried_and_given_is_a_run_of_its_own_and_paid_for_once(tmp_path: Path) -> None:
    async def work(context: EvolutionContext) -> list[Any]:
        episode = episode_of(context)
        team = context.pool.members["pair"].team
        plain = await episode.run(team, "plain")
        report = await episode.run(team, "told", state=RoundState(bulletin="Say seven."))
        known = {"one": without_cost(report.agents["one"])}
        last = await episode.run(team, "given", preset=known)
        return [
            plain.answer,
            report.answer,
            report.score,
            last.usage.calls,
            episode.run_usage.calls,
        ]

    with ScriptedModel(answers) as model:
        first = done(tmp_path, model.api_base, work)
        assert len(model.calls) == 5
        assert done(tmp_path, model.api_base, work) == first
        assert len(model.calls) == 5
    assert first[:2] == ["8", "7"]
    assert first[2].value == 1
    assert first[3:] == [1, 5]


def test_a_run_that_met_caps_of_its_own_counts_and_the_evolution_goes_on(tmp_path: Path) -> None:
    async def work(context: EvolutionContext) -> list[Any]:
        episode = episode_of(context)
        team = context.pool.members["pair"].team
        short = await episode.run(team, "short", caps=Caps(calls=1), dialogue=1_000)
        score = await episode.score(short, "short")
        assert isinstance(score, Score)
        whole = await episode.run(team, "whole", caps=Caps(calls=2), dialogue=1_000)
        said = [message["role"] for message in whole.agents["two"].dialogue]
        return [short.over_budget, short.answer, score.value, whole.answer, said]

    with ScriptedModel(answers) as model:
        first = done(tmp_path, model.api_base, work)
        assert done(tmp_path, model.api_base, work) == first
        assert len(model.calls) == 3
    assert first == [True, None, 0.0, "8", ["system", "user", "assistant"]]


def test_the_budget_of_the_evolution_holds_also_for_runs_with_caps(tmp_path: Path) -> None:
    async def work(context: EvolutionContext) -> None:
        team = context.pool.members["pair"].team
        await episode_of(context).run(team, "run", caps=Caps(calls=9))

    with ScriptedModel(answers) as model, pytest.raises(LimitError, match="calls=1"):
        done(tmp_path, model.api_base, work, budget=Caps(calls=1))


def test_changes_are_committed_in_order_and_what_was_lost_is_told(tmp_path: Path) -> None:
    async def noting(episode: Episode) -> None:
        team = episode.context.pool.members["pair"].team
        episode.lose(RejectedProposal(operator="b", reason="second."), at=2)
        episode.lose(RejectedProposal(operator="a", reason="first."), at=1)
        for n in range(2):
            episode.keep(EventNoted(what="noted", about={"n": n}))
        episode.figures["noted"] = 2
        episode.answered(await episode.run(team, "run"))

    with ScriptedModel(answers) as model:
        result = done(tmp_path, model.api_base, evolve(noting))
        calls = len(model.calls)
        again = done(tmp_path, model.api_base, evolve(noting))
        assert (again.lines(), len(model.calls)) == (result.lines(), calls)
    ops = [entry.op for entry in Pool.open(tmp_path / "pool").entries()][-12:]
    assert [op.split("/")[-1] for op in ops] == ["dropped 0", "dropped 1", "000", "001"] * 3
    line = result.lines()[0]
    assert [item["operator"] for item in line["dropped"]] == ["a", "b"]
    assert (line["score"], line["verdict"], line["told"]) == (0, 0, {"noted": 2})
    assert (line["runs"], line["usage"]["calls"]) == (["run"], 2)


def test_what_a_strategy_begins_with_happens_once_before_all_tasks(tmp_path: Path) -> None:
    seen: list[int] = []

    async def looking(episode: Episode) -> None:
        seen.append(len([item for item in episode.view.learnt if item.owner == "ada"]))
        episode.answered(await episode.run(episode.context.pool.members["pair"].team, "run"))

    def begin(_context: EvolutionContext) -> list[Learnt]:
        return [Learnt(kind="lesson", owner="ada", task="Any.", text=f"{n}") for n in range(2)]

    async def work(context: EvolutionContext) -> None:
        strategy = Strategy(name="looking", episode=looking, begin=begin)
        folder = context.pool.folder.parent / "evolution"
        await Evolution(context=context, strategy=strategy, tasks=TASKS, folder=folder).to_the_end()

    with ScriptedModel(answers) as model:
        done(tmp_path, model.api_base, work)
        (tmp_path / "evolution" / "turns.jsonl").unlink()  # killed before its first line
        done(tmp_path, model.api_base, work)
    assert seen == [2] * 6
    assert len(Pool.open(tmp_path / "pool").learnt) == 2


def test_a_strategy_that_leaves_a_task_unanswered_is_at_fault(tmp_path: Path) -> None:
    async def idle(_episode: Episode) -> None:
        pass

    with (
        ScriptedModel(answers) as model,
        pytest.raises(InputError, match="left the task 't0' unans"),
    ):
        done(tmp_path, model.api_base, evolve(idle))


def test_in_a_test_nothing_is_chosen_by_the_reference_answer(tmp_path: Path) -> None:
    async def work(context: EvolutionContext) -> list[Any]:
        episode = episode_of(context, learning=False, path="test/")
        run = await episode.run(context.pool.members["pair"].team, "run")
        chosen = await episode.score(run, "run")
        episode.answered(run, chosen if isinstance(chosen, Score) else None)
        await episode.finish()
        assert episode.answer is not None
        assert episode.answer.score is not None
        return [chosen, episode.answer.score.value]

    recipe = Recipe(strategy="fixed", settings=SearchSettings(), score="answer")
    with ScriptedModel(answers) as model:
        chosen, score = done(tmp_path, model.api_base, work, recipe)
    assert (chosen.value, score) == (0.5, 0)


def test_chance_depends_on_the_seed_the_task_and_what_it_is_for(tmp_path: Path) -> None:
    async def work(context: EvolutionContext) -> list[float]:
        item = episode_of(context)
        other = replace(item, number=1, path="")
        return [item.chance("a").random(), item.chance("b").random(), other.chance("a").random()]

    with ScriptedModel(answers) as model:
        drawn = done(tmp_path, model.api_base, work)
        assert drawn == done(tmp_path, model.api_base, work)
    assert len(set(drawn)) == 3
