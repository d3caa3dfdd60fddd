"""Agents with `recall` in an evolution: they are shown what earlier episodes learnt, none later."""

import re
from pathlib import Path
from typing import Any

import pytest

from coterie.operators.evolution.context import EvolutionContext
from coterie.operators.evolution.episode import Episode, Halted
from coterie.operators.evolution.evolution import Evolution
from coterie.operators.evolution.strategy import Strategy
from coterie.operators.methods.search.settings import SearchSettings
from coterie.operators.report.heldout import Frozen, HeldOut, Learned
from coterie.pool.ledger.changes import Learnt
from coterie.pool.memory.memory import Memory
from coterie.runtime.doubles import ScriptedModel
from coterie.schema import RunError, Task
from coterie.schema.loading.recipe import Recipe

from ..building import Killed
from .test_episode import done

RECALLING = """\
name: pair
agents:
  one: {prompt: "You are [one].", recall: {k: 9, of: own}}
  two: {prompt: "You are [two]."}
topology: {reports_to: {one: [two]}}
"""
TASKS = [Task(id=f"t{n}", query=f"Question {n}?", answer="7") for n in range(4)]
RECIPE = Recipe(strategy="fixed", settings=SearchSettings(), workers=2)


def reminders(model: ScriptedModel) -> dict[str, list[str]]:
    """What the agent that recalls was shown with each task."""
    shown: dict[str, list[str]] = {}
    for call in model.calls:
        if "[one]" in call.text:
            [asked] = re.findall(r"Question (\d)\?", call.text)
            shown[asked] = sorted(re.findall(r"Lesson of (\d)\.", call.text))
    return shown


async def learning(episode: Episode) -> None:
    """Run the team, and learn a lesson of the task for its first agent."""
    run = await episode.run(episode.view.members["pair"].team, "run")
    text = f"Lesson of {episode.number}."
    episode.keep(Learnt(kind="lesson", owner="one", task="Something else.", text=text))
    episode.keep(Learnt(kind="lesson", owner="two", task="Else.", text="Lesson of 9."))
    episode.answered(run)


def evolution(context: EvolutionContext, *, kill_after: int | None = None) -> Evolution:
    def committed(_line: Any) -> None:
        if result.committed == kill_after:
            raise Killed

    result = Evolution(
        context=context,
        strategy=Strategy(name="tried", episode=learning),
        tasks=TASKS,
        folder=context.pool.folder.parent / "evolution",
        on_episode=committed,
    )
    return result


def evolve(folder: Path, base: str, *, kill_after: int | None = None) -> None:
    async def work(context: EvolutionContext) -> None:
        await evolution(context, kill_after=kill_after).to_the_end()

    done(folder, base, work, RECIPE, pair=RECALLING, embedder="hashing", recalls=True)


EXPECTED = {"0": [], "1": [], "2": ["0"], "3": ["0", "1"]}
"""Two episodes are at work at a time: each sees what all but the one before it learnt."""


def test_an_agent_is_reminded_of_what_earlier_episodes_learnt(tmp_path: Path) -> None:
    with ScriptedModel("7") as model:
        evolve(tmp_path, model.api_base)
        assert reminders(model) == EXPECTED


@pytest.mark.parametrize("kill_after", [1, 2, 3])
def test_killed_and_resumed_it_is_reminded_of_the_same(tmp_path: Path, kill_after: int) -> None:
    with ScriptedModel("7") as model:
        evolve(tmp_path / "clean", model.api_base)
    with ScriptedModel("7") as model:
        with pytest.raises(Killed):
            evolve(tmp_path / "killed", model.api_base, kill_after=kill_after)
        evolve(tmp_path / "killed", model.api_base)
        assert reminders(model) == EXPECTED
    ledgers = [tmp_path / word / "pool/ledger.jsonl" for word in ("clean", "killed")]
    assert ledgers[0].read_bytes() == ledgers[1].read_bytes()


def test_killed_between_its_updates_it_is_not_reminded_of_its_own(tmp_path: Path) -> None:
    """What the lost end of an episode had learnt already is in the ledger; it sees none of it."""
    with ScriptedModel("7") as model:
        evolve(tmp_path, model.api_base)
        first = reminders(model)
    turns = tmp_path / "evolution/turns.jsonl"
    turns.write_text(turns.read_text().splitlines(keepends=True)[0])
    for journal in (tmp_path / "evolution").glob("journal.log"):
        journal.unlink()  # so that all is asked anew
    with ScriptedModel("7") as model:
        evolve(tmp_path, model.api_base)
        assert reminders(model) == {asked: first[asked] for asked in ("1", "2", "3")}


def test_a_held_out_team_recalls_from_the_pool_as_it_stands(tmp_path: Path) -> None:
    unseen = Task(id="h", query="Question 8?", answer="7")

    async def work(context: EvolutionContext) -> list[dict[str, Any]]:
        await evolution(context).to_the_end()
        view = context.view()
        late = Learnt(kind="lesson", owner="one", task=unseen.query, text="Lesson of 5.")
        context.pool.commit(late, op="late")
        team = context.pool.members["pair"].team
        tested = Frozen(name="pair", team=team, view=view, role="deployed", expected=0.5)
        return await HeldOut(
            context=context, subjects=[tested], tasks=[unseen], repeats=1, workers=1
        ).to_the_end()

    with ScriptedModel("7") as model:
        kept: dict[str, Any] = {"embedder": "hashing", "recalls": True}
        [trial] = done(tmp_path, model.api_base, work, RECIPE, pair=RECALLING, **kept)
        assert trial["score"] == 1
        assert reminders(model)["8"] == ["0", "1", "2", "3"]


def test_a_failing_memory_is_no_score(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise RunError("the embedder is out")

    with ScriptedModel("7") as model:
        with monkeypatch.context() as patched:
            patched.setattr(Memory, "search", broken)
            with pytest.raises(Halted, match="the embedder is out"):
                evolve(tmp_path, model.api_base)
        evolve(tmp_path, model.api_base)
        assert reminders(model) == EXPECTED


def test_without_a_memory_who_comes_to_recall_is_reminded_of_nothing(tmp_path: Path) -> None:
    with ScriptedModel("7") as model:

        async def work(context: EvolutionContext) -> None:
            await evolution(context).to_the_end()

        done(tmp_path, model.api_base, work, RECIPE, pair=RECALLING)
        assert reminders(model) == {str(number): [] for number in range(4)}


def test_a_test_episode_leaves_nothing_in_the_memory(tmp_path: Path) -> None:
    unseen = Task(id="h", query="Question 8?", answer="7")

    async def work(context: EvolutionContext) -> list[bytes]:
        await evolution(context).to_the_end()
        ledger = context.pool.folder / "ledger.jsonl"
        before = ledger.read_bytes()
        strategy = Strategy(name="tried", episode=learning)  # keeps a lesson of each episode
        tested = Learned(strategy=strategy, view=context.view(), after=4)
        [trial] = await HeldOut(
            context=context,
            subjects=[tested],
            tasks=[unseen],
            repeats=1,
            workers=1,
        ).to_the_end()
        assert trial["score"] == 1
        return [before, ledger.read_bytes()]

    with ScriptedModel("7") as model:
        before, after = done(
            tmp_path, model.api_base, work, RECIPE, pair=RECALLING, embedder="hashing", recalls=True
        )
    assert before == after
