"""The run folder: enough to read, repeat and audit a run."""

import asyncio
import errno
import json
from pathlib import Path

import pytest

from coterie.runtime import AgentOutcome, Plan, Run, Setting, compile
from coterie.runtime.agents.outcomes import Ending
from coterie.runtime.gateway import Usage
from coterie.runtime.record import log_file
from coterie.runtime.runners import AgentResult
from coterie.runtime.runs.record import RunRecord
from coterie.runtime.scrubbing.scrubber import Scrubber
from coterie.runtime.values.bounds import LONGEST_CONTENT
from coterie.schema import Agent, Catalogue, InputError, Model, Task, load_task, load_team
from coterie.schema.values.errors import StorageError

from ...hostile import watched
from ..conftest import team

MODELS = {"default": Model(alias="default", model="openai/m", origin="--model")}
TASK = Task(id="t", query="Why?", files={"a.txt": "text"}, answer=7)


def plan_of(tmp_path: Path, text: str):
    (tmp_path / "prompts").mkdir(exist_ok=True)
    (tmp_path / "prompts" / "greet.md").write_text(text)
    known = Catalogue.of_host(models=MODELS).beside(tmp_path)
    return compile(team(Agent(id="solo", prompt="greet")), known)


def begun(runs: Path, plan: Plan, *secrets: str) -> RunRecord:
    return RunRecord.begin(runs, plan, TASK, Setting(), scrub=Scrubber(secrets))


@pytest.mark.parametrize("text", ["Say hello.", "hello", "Several\n\nlines."])
def test_team_yaml_runs_the_same_team_without_its_prompt_files(tmp_path: Path, text: str) -> None:
    plan = plan_of(tmp_path, text)
    with begun(tmp_path / "runs", plan) as record:
        pass
    assert json.loads((record.folder.path / "run.json").read_text())["jail"] is None
    again = load_team(record.folder.path / "team.yaml")
    assert again == plan.resolved
    assert compile(again, Catalogue.of_host()).agents["solo"].prompt.strip() == text


def test_task_json_is_the_task(tmp_path: Path) -> None:
    with begun(tmp_path / "runs", plan_of(tmp_path, "x y")) as record:
        pass
    assert load_task(record.folder.path / "task.json") == TASK


async def test_result_json_has_models_and_usage(tmp_path: Path) -> None:
    async with begun(tmp_path / "runs", plan_of(tmp_path, "x y"), "s3cret-key") as record:
        settle = await record.journal.open_account("a", Usage(calls=1, unpriced_calls=1))
        settle(Usage(calls=1, unpriced_calls=1), lost=False)
        record.finish(Run(status="done", answer="s3cret-key!", said="It is s3cret-key."))
    result = json.loads((record.folder.path / "result.json").read_text())
    assert (result["v"], result["status"], result["answer"]) == (1, "done", "[secret]!")
    assert result["said"] == "It is [secret]."
    assert result["models"] == {
        "default": {"model": "openai/m", "api_base": None, "from": "--model"}
    }
    assert result["usage"]["cost"] == "unpriced"


async def test_an_open_roster_in_which_nobody_wrote_has_an_empty_bus(tmp_path: Path) -> None:
    async with begun(tmp_path / "runs", plan_of(tmp_path, "x y")) as record:
        record.finish(Run(status="done", answer="4", ending=Ending(why="finalized")))
    result = json.loads((record.folder.path / "result.json").read_text())
    assert (result["ending"]["why"], result["bus"]) == ("finalized", [])


def test_without_answers_on_disk_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(path: Path, handle: int | None = None) -> None:
        del handle
        raise StorageError(errno.EIO, "lost", str(path))

    async def kept() -> None:
        async with begun(tmp_path / "runs", plan_of(tmp_path, "x y")) as record:
            await record.journal.put("a", "note", "q", {})
            monkeypatch.setattr(log_file, "sync", lost)
            record.finish(Run(status="done", answer="4", usage=Usage()))

    with pytest.raises(StorageError, match=r"journal\.log: cannot be written: lost"):
        asyncio.run(kept())
    (folder,) = (tmp_path / "runs").iterdir()
    assert not (folder / "result.json").exists()


def test_a_run_that_is_interrupted_says_so(tmp_path: Path) -> None:
    with (
        pytest.raises(KeyboardInterrupt),
        begun(tmp_path / "runs", plan_of(tmp_path, "x y")),
    ):
        raise KeyboardInterrupt
    (folder,) = (tmp_path / "runs").iterdir()
    assert json.loads((folder / "result.json").read_text())["status"] == "interrupted"


@pytest.mark.parametrize("is_cancelled", [False, True])
def test_a_long_result_holds_no_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_cancelled: bool
) -> None:
    plan = plan_of(tmp_path, "x y")
    fields = {
        f"a{number}": AgentOutcome(
            status="done", result=AgentResult(content="\\" * LONGEST_CONTENT)
        )
        for number in range(4)
    }

    async def kept(folder: Path, finishes: asyncio.Event) -> None:
        async with begun(folder, plan, "s3cret-key") as record:
            finishes.set()
            record.finish(Run(status="done", answer="4", usage=Usage(), agents=fields))

    async def cancelled(folder: Path) -> None:
        finishes = asyncio.Event()
        keeping = asyncio.create_task(kept(folder, finishes))
        await finishes.wait()
        keeping.cancel()
        with pytest.raises(asyncio.CancelledError):
            await keeping

    runs = tmp_path / "runs"
    with watched(monkeypatch):
        asyncio.run(cancelled(runs) if is_cancelled else kept(runs, asyncio.Event()))
    (folder,) = runs.iterdir()
    assert json.loads((folder / "result.json").read_text())["status"] == "done"


def test_a_folder_that_cannot_be_made_is_the_users_to_mend(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="the run's folder cannot be written"):
        begun(tmp_path / "file", plan_of(tmp_path, "x y"))
