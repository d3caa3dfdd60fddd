"""coterie from Python: a call, an await, an `async for`, in scripts and in notebooks."""

import asyncio
import copy
import json
import pickle
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import coterie
from coterie.runtime.command.run import main as mas_run
from coterie.runtime.doubles import Reply, ScriptedModel

from ...support.commands import CommandResult, invoked_in

PAIR = coterie.Team(
    name="pair",
    agents={
        "worker": coterie.Agent(id="worker", prompt="You are [worker]. Solve it."),
        "judge": coterie.Agent(id="judge", prompt="You are [judge]. Decide it."),
    },
    reports_to={"worker": ("judge",)},
)
USER = replace(
    PAIR,
    name="user",
    agents={
        "user": coterie.Agent(
            id="user", agent_type="ToolCallingAgent", prompt="Use your tools.", tools=("weekday",)
        )
    },
    reports_to={},
)
DAY = {"day": "2026-11-23"}


def weekday(day: str) -> str:
    """Tell which weekday a date is."""
    return date.fromisoformat(day).strftime("%A")


@pytest.fixture(autouse=True)
def home(here: Path) -> Path:
    return here


@pytest.fixture
def model() -> Iterator[str]:
    with ScriptedModel({"[judge]": "7 <b>it is</b>", "": "maybe 7"}) as scripted:
        yield f"scripted@{scripted.api_base}"


def test_a_question_is_enough_and_a_text_is_one_model(model: str) -> None:
    ways: list[Any] = [model, [model], {"default": model}, [f"default={model}"]]
    for way in ways:
        result = coterie.run(PAIR, query="What is 3 + 4?", model=way)
        assert (result.status, result.answer, result.folder) == ("done", "7 <b>it is</b>", None)


def test_a_seed_is_a_team() -> None:
    with ScriptedModel(Reply.json({"answer": "negative"})) as scripted:
        model = f"scripted@{scripted.api_base}"
        result = coterie.run("seed:majority_vote_3", query="The soup was cold.", model=model)
    assert result.answer == "negative"


async def test_run_works_where_a_loop_runs_already(model: str) -> None:
    """As in a notebook, where each cell is run by an event loop."""
    seen: set[str] = set()
    assert (
        coterie.run(
            PAIR,
            query="?",
            model=model,
            listener=lambda _: seen.add(threading.current_thread().name),
        ).answer
        == "7 <b>it is</b>"
    )
    assert threading.current_thread().name not in seen
    assert not [thread for thread in threading.enumerate() if thread.name in seen]


def test_ctrl_c_in_a_notebook_ends_the_run() -> None:
    def ask(_: Any) -> Reply:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        return Reply.fault("hang")

    with ScriptedModel(ask) as scripted:

        async def cell() -> None:
            coterie.run(PAIR, query="?", model=f"scripted@{scripted.api_base}")

        # Not asyncio.run, which takes a first Ctrl-C for itself.
        with closing(asyncio.new_event_loop()) as loop, pytest.raises(KeyboardInterrupt):
            loop.run_until_complete(cell())
        scripted.wait_for(lambda calls: calls[0].abandoned)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("coterie")]


@pytest.mark.parametrize("loops", [1, 8])
def test_runs_of_a_process_share_a_models_bound(home: Path, loops: int) -> None:
    async def many(loop: int) -> None:
        asked = (coterie.arun("seed:direct", query=f"{loop} + {n}?") for n in range(40 // loops))
        done = await asyncio.gather(*asked)
        assert {run.status for run in done} == {"done"}

    with ScriptedModel({"": Reply(text="7", latency=0.02)}) as scripted:
        entry = {"model": "m", "api_base": scripted.api_base}
        models = {"default": {**entry, "concurrency": 4}}
        (home / "models.yaml").write_text(json.dumps({"models": models}))
        with ThreadPoolExecutor(loops) as threads:
            assert [*threads.map(asyncio.run, map(many, range(loops)))] == [None] * loops
        assert len(scripted.calls) == 40
        assert scripted.peak <= 4  # on a busy machine, fewer may be open at one moment


def test_a_run_goes_on_and_is_repeated_from_its_folder(model: str) -> None:
    stopped = coterie.run(PAIR, query="3 + 4?", model=model, runs="runs", budget="calls=1")
    assert stopped.status == "stopped"
    with pytest.raises(coterie.InputError, match="would call other models than those recorded"):
        coterie.resume(stopped.folder or "")
    done = coterie.resume(stopped.folder or "", model=model, budget="calls=5")
    assert (done.status, done.usage.calls, done.usd) == ("done", 2, None)
    before = {path: path.read_bytes() for path in Path("runs").rglob("*") if path.is_file()}
    for again in (coterie.replay(done.folder or ""), coterie.resume(done.folder or "")):
        assert (again.status, again.answer) == ("done", done.answer)
    after = {path: path.read_bytes() for path in Path("runs").rglob("*") if path.is_file()}
    assert after == before
    with pytest.raises(coterie.InputError, match="query: already set by the recorded run"):
        coterie.resume(done.folder or "", query="5 + 5?")


def test_a_cancelled_run_keeps_its_folder_and_goes_on(model: str) -> None:
    async def cancelled(model: str) -> None:
        began, loop = asyncio.Event(), asyncio.get_running_loop()

        def listen(_: object) -> None:
            loop.call_soon_threadsafe(began.set)

        run = coterie.arun(
            PAIR,
            query="?",
            model=model,
            runs="runs",
            listener=listen,
        )
        work = asyncio.create_task(run)
        await began.wait()
        work.cancel()
        await asyncio.wait({work})

    with ScriptedModel({"": Reply(text="late", latency=60)}) as silent:
        asyncio.run(cancelled(f"scripted@{silent.api_base}"))
    (folder,) = Path("runs").iterdir()
    assert json.loads((folder / "result.json").read_text())["status"] == "interrupted"
    assert coterie.resume(folder, model=model).status == "done"


def test_models_are_those_of_a_file_that_is_named(home: Path, model: str) -> None:
    name, _, address = model.partition("@")
    entry = {"default": {"model": name, "api_base": address}}
    (home / "others.yaml").write_text(json.dumps({"models": entry}))
    done = coterie.run("seed:direct", query="?", models="others.yaml")
    assert done.answer == "maybe 7"


def test_a_team_is_shown_by_its_name_and_its_agents() -> None:
    assert repr(PAIR) == "<Team pair: worker, judge>"


async def test_events_come_while_the_run_goes_on(model: str) -> None:
    heard: list[str] = []
    events = coterie.stream(
        PAIR, query="?", model=model, listener=lambda event: heard.append(event.type)
    )
    assert events.result is None
    types, result = [event.type async for event in events], events.result
    assert (types[0], types[-1]) == ("run_started", "run_finished")
    assert types == heard
    assert result is not None
    assert result.answer == "7 <b>it is</b>"


def test_who_leaves_the_events_ends_the_run() -> None:
    with ScriptedModel(Reply.fault("hang")) as scripted:

        async def cell() -> None:
            events = aiter(coterie.stream(PAIR, query="?", model=f"scripted@{scripted.api_base}"))
            assert (await anext(events)).type == "run_started"
            await asyncio.to_thread(scripted.wait_for, lambda calls: len(calls) == 1)
            await events.aclose()
            assert asyncio.all_tasks() == {asyncio.current_task()}

        asyncio.run(cell())
        scripted.wait_for(lambda calls: calls[0].abandoned)


async def test_events_raise_what_the_run_raises() -> None:
    with pytest.raises(coterie.ConfigError, match="no tool 'weekday'"):
        async for _ in coterie.stream(USER, query="?", model="openai/m"):
            pass


def test_a_python_function_is_a_tool(home: Path) -> None:
    answers = [Reply.tool("weekday", **DAY), Reply.tool("final_answer", answer="On a Monday.")]
    with ScriptedModel(answers) as scripted:
        outcome = coterie.run(
            USER, query="When?", model=f"scripted@{scripted.api_base}", tools=[weekday], runs="runs"
        )
    assert outcome.answer == "On a Monday."
    (call,) = outcome.agents["user"].tool_calls
    assert (call.tool, call.arguments, call.error) == ("weekday", DAY, None)
    assert "Tell which weekday a date is." in json.dumps(scripted.calls[0].body)
    assert "Monday" in scripted.calls[1].text
    assert outcome.folder is not None
    result = json.loads((outcome.folder / "result.json").read_text(encoding="utf-8"))
    assert result["answer"] == outcome.to_dict()["answer"] == "On a Monday."


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"tools": [weekday, weekday]}, "two functions have one name"),
        ({"tools": [lambda day: day]}, "cannot be a tool"),
        ({"approve": ["weekdya"]}, "no tool 'weekdya'"),
        ({"task": "What is 3 + 4?"}, r"no task file 'What is 3 \+ 4\?'\. To ask a question, write"),
        ({"query": "?", "task": "task.json"}, "give either a task, or a question as query=…"),
        ({"query": "?", "model": "mistral"}, "'mistral' is neither PROVIDER/NAME"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_spent(options: Any, why: str) -> None:
    with pytest.raises(coterie.InputError, match=why):
        coterie.run(PAIR, **options)


@pytest.mark.parametrize(
    ("options", "notes"),
    [
        ({"model": "mistral"}, ["From Python, --model is model=…."]),
        ({"approve": ["weekdya"]}, ["From Python, --approve is approve=[…]."]),
        ({"task": "?"}, []),
    ],
)
def test_options_in_a_message_are_named_as_arguments(options: Any, notes: list[str]) -> None:
    asked: Any = options if "task" in options else {"query": "?", **options}
    with pytest.raises(coterie.InputError) as error:
        coterie.run(PAIR, **asked)
    assert getattr(error.value, "__notes__", []) == notes


def test_a_team_built_in_python_is_checked_as_a_file_is() -> None:
    wrong = replace(PAIR, reports_to={"worker": ("jugde",)})
    with pytest.raises(coterie.ConfigError) as refused:
        coterie.run(wrong, query="?", model="openai/m")
    assert "team 'pair':" in str(refused.value)
    assert "no agent 'jugde'. Did you mean 'judge'?" in str(refused.value)


def test_teams_and_runs_can_be_pickled_and_copied(model: str) -> None:
    result = coterie.run(PAIR, query="?", model=model)
    team = coterie.load_team(Path(__file__).parents[3] / "seeds" / "debate_3.yaml")
    for value in (team, PAIR, result, coterie.Task(id="t", query="?", files={"a.txt": "b"})):
        assert pickle.loads(pickle.dumps(value)) == value  # noqa: S301 - our own
        assert copy.deepcopy(value) == value
        assert asdict(value)


def test_a_notebook_shows_a_run_and_no_markup_of_a_model(model: str) -> None:
    result = coterie.run(PAIR, query="?", model=model)
    shown = result._repr_html_()
    assert "done · 2 calls" in shown
    assert "7 &lt;b&gt;it is&lt;/b&gt;" in shown
    assert "<b>" not in shown
    assert result.cost == "unpriced" or result.cost.startswith("$0")


def test_agents_are_rows_of_a_frame(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    result = coterie.run(PAIR, query="?", model=model)
    rows: list[Any] = []
    fake = type(sys)("pandas")
    fake.DataFrame = rows.extend  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pandas", fake)
    result.to_frame()
    assert [(row["agent"], row["status"], row["calls"]) for row in rows] == [
        ("worker", "done", 1),
        ("judge", "done", 1),
    ]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(coterie.InputError, match="Run: python -m pip install pandas"):
        result.to_frame()


TOOLS = '''\
def weekday(day: str) -> str:
    """Tell which weekday a date is."""
    return "Monday"
'''


def asked(home: Path, *words: str) -> CommandResult:
    answers = [Reply.tool("weekday", **DAY), Reply.tool("final_answer", answer="On a Monday.")]
    with ScriptedModel(answers) as scripted:
        options = ["--model", f"scripted@{scripted.api_base}", *words]
        result = invoked_in(home, mas_run, options, "mas-run")
        return replace(result, calls=len(scripted.calls))


def test_a_replay_takes_a_functions_result_from_the_journal(home: Path) -> None:
    """And asks nobody again: neither the function nor the person."""
    (home / "team.yaml").write_text(coterie.schema.dump(USER), encoding="utf-8")
    (home / "tools.py").write_text(TOOLS)
    (home / "tools.yaml").write_text("python: tools.py:weekday\npermissions: {weekday: ask}\n")

    refused = asked(home, "team.yaml", "--query", "When?")
    assert (refused.code, refused.calls) == (2, 0)
    assert "write --approve weekday." in refused.err

    done = asked(home, "team.yaml", "--query", "When?", "--approve", "weekday")
    assert (done.code, done.out) == (0, "On a Monday.\n")

    (home / "tools.py").write_text(TOOLS.replace('return "Monday"', "raise ValueError(day)"))
    (folder,) = (home / "runs").iterdir()
    again = asked(home, "--replay", str(folder), "--verify")
    assert (again.code, again.calls) == (0, 0)
    assert "no difference" in again.out
