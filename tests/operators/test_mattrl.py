"""MATTRL from end to end: what was worth most on a stream of cases becomes experience."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import pytest

from coterie.operators.evolution import Evolution
from coterie.operators.experience import ExperienceSettings
from coterie.operators.heldout import HeldOut, Learned
from coterie.operators.stage import Stage
from coterie.operators.strategy import strategy_of
from coterie.pool import Pool
from coterie.pool.learnt import Learnt
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.doubles.script import Request
from coterie.schema.recipe import Recipe
from coterie.schema.task import Task

from .consulting import WARD, doctors
from .test_episode import done

TASKS = [Task(id=f"case-{n}", query=f"What is {n} + {7 - n}?", answer="7") for n in range(6)]
UNSEEN = [Task(id="new", query="What is 3 + 4 again?", answer="7")]
MATTRL = strategy_of("mattrl")


def recipe(workers: int = 1, **settings: Any) -> Recipe:
    return Recipe(strategy="mattrl", settings=ExperienceSettings(**settings), workers=workers)


def evolution(stage: Stage, tasks: Sequence[Task] = TASKS) -> Evolution:
    folder = stage.pool.folder.parent / "evolution"
    return Evolution(stage=stage, strategy=MATTRL, tasks=tasks, folder=folder)


def learnt(
    folder: Path,
    of: Recipe,
    *,
    script: Callable[[Request], Reply] = doctors,
    after: Callable[[Stage], Coroutine[Any, Any, Any]] | None = None,
    team: str = WARD,
) -> tuple[list[Learnt], list[dict[str, Any]], ScriptedModel, Any]:
    """Evolve on the cases; give the entries, the lines, who was asked, and what came after."""

    async def work(stage: Stage) -> tuple[list[Any], Any]:
        made = evolution(stage)
        await made.to_the_end()
        return made.lines(), await after(stage) if after else None

    with ScriptedModel(script) as model:
        how = {"recalls": True, "embedder": "hashing"} if "recall" in team else {}
        lines, came = done(folder, model.api_base, work, of, pair=team, **how)
    return list(Pool.open(folder / "pool").learnt.values()), lines, model, came


def told(lines: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [event for line in lines for event in line["story"] if event["event"] == "utterances"]


def test_every_entry_says_its_case_agent_turn_and_credit(tmp_path: Path) -> None:
    entries, lines, _, _ = learnt(tmp_path, recipe())
    assert entries
    numbers = {
        (line["task"], one["agent"], one["round"]): one
        for line, event in zip(lines, told(lines), strict=True)
        for one in event["utterances"]
    }
    for one in entries:
        assert one.kind == "experience"
        assert one.text == f"When: Two numbers, {one.owner}.\nDo: Add.\nWhy: It was right."
        assert one.task == f"Two numbers, {one.owner}."
        said = numbers[str(one.case), str(one.owner), one.turn or 0]
        assert said["came"] == "kept"
        assert said["reward"] == one.credit
        assert one.id == f"evolution/{int(str(one.case)[-1]):06d}/{one.owner}/{one.turn}"
    kept = [one for one in numbers.values() if one["came"] == "kept"]
    assert len(kept) == len(entries) < len(numbers) / 2
    assert [line["told"]["entries"] for line in lines] == [
        sum(one.case == line["task"] for one in entries) for line in lines
    ]


def test_every_utterance_s_numbers_are_told(tmp_path: Path) -> None:
    _, lines, _, _ = learnt(tmp_path, recipe(gamma=0.5))
    for line, event in zip(lines, told(lines), strict=True):
        turns = [(one["agent"], one["round"]) for one in event["utterances"]]
        assert turns == [("heart", 1), ("brain", 1), ("heart", 2), ("brain", 2)]
        assert event["outcome"] == line["score"]
        for number in (1, 2):
            spoken = [one for one in event["utterances"] if one["round"] == number]
            assert sum(one["ratio"] for one in spoken) == pytest.approx(1)
            assert [one["weight"] for one in spoken] == pytest.approx([number / 3] * 2)
            for one in spoken:
                share = event["outcome"] * one["weight"] * one["ratio"]
                assert one["reward"] == pytest.approx(0.4 * one["score"] + 0.6 * share)
    ledger = [json.loads(one) for one in (tmp_path / "pool/ledger.jsonl").read_text().splitlines()]
    about = [one["value"]["about"] for one in ledger if one["value"]["kind"] == "told"]
    assert [one["case"] for one in about] == [line["task"] for line in lines]
    assert [one["utterances"] for one in about] == [one["utterances"] for one in told(lines)]


def reminders(model: ScriptedModel) -> int:
    return sum(
        "Two numbers, heart." in call.text and "[heart]" in call.text for call in model.calls
    )


def test_it_is_built_without_experience_and_then_used_frozen(tmp_path: Path) -> None:
    async def test(stage: Stage) -> list[dict[str, Any]]:
        before = (stage.pool.folder / "ledger.jsonl").read_bytes()
        subject = Learned(strategy=MATTRL, after=len(TASKS))
        trials = await HeldOut(
            stage=stage, view=stage.view(), subjects=[subject], tasks=UNSEEN, repeats=1, workers=1
        ).to_the_end()
        assert (stage.pool.folder / "ledger.jsonl").read_bytes() == before
        return trials

    _, lines, model, [trial] = learnt(tmp_path, recipe(), after=test)
    assert reminders(model) == 2  # the two rounds of the test
    assert trial["usage"]["calls"] == 5
    assert len(lines) == len(TASKS)


def test_agents_recall_while_it_is_built_only_if_they_are_to(tmp_path: Path) -> None:
    _, _, model, _ = learnt(tmp_path, recipe(recalls=True))
    assert reminders(model) > 2
