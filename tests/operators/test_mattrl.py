"""MATTRL from end to end: what was worth most on a stream of cases becomes experience."""

from __future__ import annotations

import inspect
import itertools
import random
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
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
from coterie.pool.ledger import Ledger
from coterie.runtime.doubles import Reply, ScriptedModel, message_text
from coterie.runtime.doubles.script import Request
from coterie.runtime.journal import Journal
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


@dataclass
class Built:
    """What an evolution came to.

    Attributes:
        folder: Where it is.
        entries: What was learnt.
        lines: What the episodes say of themselves.
        model: Who was asked.
        came: What came of what was done after it.
    """

    folder: Path
    entries: list[Learnt]
    lines: list[dict[str, Any]]
    model: ScriptedModel
    came: Any = None

    @property
    def told(self) -> list[dict[str, Any]]:
        """What is told of the utterances of each episode."""
        stories = (event for line in self.lines for event in line["story"])
        return [event for event in stories if event["event"] == "utterances"]


def learnt(
    folder: Path,
    of: Recipe,
    *,
    script: Callable[[Request], Reply] = doctors,
    after: Callable[[Stage], Coroutine[Any, Any, Any]] | None = None,
    team: str = WARD,
) -> Built:
    """Evolve on the cases."""

    async def work(stage: Stage) -> tuple[list[Any], Any]:
        made = evolution(stage)
        await made.to_the_end()
        return made.lines(), await after(stage) if after else None

    with ScriptedModel(script) as model:
        how = {"recalls": True, "embedder": "hashing"} if "recall" in team else {}
        lines, came = done(folder, model.api_base, work, of, pair=team, **how)
    entries = list(Pool.open(folder / "pool").learnt.values())
    return Built(folder=folder, entries=entries, lines=lines, model=model, came=came)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """An evolution with the settings as they are by default."""
    return learnt(tmp_path_factory.mktemp("built"), recipe())


def test_every_entry_says_its_case_agent_turn_and_credit(built: Built) -> None:
    entries, lines = built.entries, built.lines
    assert entries
    numbers = {
        (line["task"], one["agent"], one["round"]): one
        for line, event in zip(lines, built.told, strict=True)
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


def test_every_utterance_s_numbers_are_told(built: Built) -> None:
    lines = built.lines
    for line, event in zip(lines, built.told, strict=True):
        turns = [(one["agent"], one["round"]) for one in event["utterances"]]
        assert turns == [("heart", 1), ("brain", 1), ("heart", 2), ("brain", 2)]
        assert event["outcome"] == line["score"]
        for number in (1, 2):
            spoken = [one for one in event["utterances"] if one["round"] == number]
            assert sum(one["ratio"] for one in spoken) == pytest.approx(1)
            assert [one["weight"] for one in spoken] == pytest.approx(
                [[0.8, 1][number - 1] / 1.8] * 2
            )
            for one in spoken:
                share = event["outcome"] * one["weight"] * one["ratio"]
                assert one["reward"] == pytest.approx(0.4 * one["score"] + 0.6 * share)
    ledger = [entry.value for entry in Ledger(built.folder / "pool/ledger.jsonl").read()]
    about = [one["about"] for one in ledger if one["kind"] == "told"]
    assert [one["case"] for one in about] == [line["task"] for line in lines]
    assert [one["utterances"] for one in about] == [one["utterances"] for one in built.told]


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

    made = learnt(tmp_path, recipe(), after=test)
    assert reminders(made.model) == 2  # the two rounds of the test
    [trial] = made.came
    assert trial["usage"]["calls"] == 5


def test_agents_recall_while_it_is_built_only_if_they_are_to(tmp_path: Path) -> None:
    assert reminders(learnt(tmp_path, recipe(recalls=True)).model) > 2


def test_an_episode_sees_the_same_however_fast_the_others_are(tmp_path: Path) -> None:
    def slow_first(request: Request) -> Reply:
        slow = "What is 0 + 7?" in message_text(request)
        return replace(doctors(request), latency=0.01 if slow else 0)

    one = learnt(tmp_path / "one", recipe(workers=3))
    two = learnt(tmp_path / "two", recipe(workers=3), script=slow_first)
    assert one.entries == two.entries != []
    assert one.lines == two.lines


class Killed(BaseException):
    """Ends an evolution as a signal would."""


@contextmanager
def dying(writes: int, *, is_written: bool) -> Iterator[None]:
    """Let nothing more be written after so many lines of journal and ledgers."""
    left = itertools.count(writes, -1)

    def mortal(write: Any) -> Any:
        def written(*args: Any, **how: Any) -> Any:
            alive = next(left)
            if alive < 0 or (alive == 0 and not is_written):
                raise Killed
            came = write(*args, **how)
            if alive == 0 and not inspect.iscoroutine(came):
                raise Killed
            return came

        return written

    with pytest.MonkeyPatch.context() as patch:
        for where, name in ((Journal, "put"), (Ledger, "append"), (Ledger, "commit")):
            patch.setattr(where, name, mortal(getattr(where, name)))
        yield


@pytest.mark.parametrize("workers", [1, 3])
def test_ended_at_random_moments_it_comes_to_the_same_entries(
    built: Built, tmp_path: Path, workers: int, nightly: bool
) -> None:
    clean = built if workers == 1 else learnt(tmp_path / "clean", recipe(workers=workers))
    chance, kills = random.Random(workers), 0
    for number in range(20 if nightly else 1):
        folder, is_done = tmp_path / str(number), False
        while not is_done:
            how = {"writes": chance.randrange(30), "is_written": chance.random() < 0.5}
            try:
                with dying(**how):
                    learnt(folder, recipe(workers=workers))
                is_done = True
            except (Killed, BaseExceptionGroup):
                kills += 1
        for file in ("pool/ledger.jsonl", "evolution/turns.jsonl"):
            assert (folder / file).read_bytes() == (clean.folder / file).read_bytes()
    assert kills > 3
