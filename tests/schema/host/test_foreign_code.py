"""Code of others: whatever it raises, wherever it is called, is a failure with its line."""

import builtins
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest

from coterie.benchmarks.command import main as mas_bench
from coterie.operators.command.evolve import main as mas_evolve
from coterie.runtime import Run
from coterie.runtime.doubles import ScriptedModel
from coterie.runtime.jail import Jails
from coterie.runtime.plan.plan import compile as compiled
from coterie.runtime.scoring.scorers import scored
from coterie.runtime.tools.tool import GrantedTool
from coterie.schema import Catalogue, CoterieError, InputError, Team, parse_team
from coterie.schema.command import main as mas_main
from coterie.schema.host import catalogue
from coterie.schema.host.python_tool import load_python_tool
from coterie.schema.loading.tasks import load_tasks

from ...runtime.conftest import Bench
from ...support.commands import mas, ran, refused
from ...support.plugin_code import MODULE, POINTS, TEAM

KINDS = sorted(
    (
        kind
        for kind in vars(builtins).values()
        if isinstance(kind, type)
        and issubclass(kind, BaseException)
        and kind is not KeyboardInterrupt
    ),
    key=lambda kind: kind.__name__,
)


def error_of(kind: Any) -> BaseException:
    """Make an exception of a built-in kind."""
    if issubclass(kind, UnicodeDecodeError):
        return kind("utf-8", b"\xff", 0, 1, "odd")
    if issubclass(kind, UnicodeEncodeError):
        return kind("utf-8", "\ud800", 0, 1, "odd")
    if issubclass(kind, UnicodeTranslateError):
        return kind("\ud800", 0, 1, "odd")
    if issubclass(kind, BaseExceptionGroup):
        return kind("odd", [SystemExit() if kind is BaseExceptionGroup else ValueError("odd")])
    return kind("odd")


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Install a package whose code raises where it is told to."""
    described = tmp_path / "odd_plugin-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: odd-plugin\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text(POINTS)
    (tmp_path / "odd_plugin.py").write_text(MODULE)
    (tmp_path / "odd_typo.py").write_text("import json\n\ntool = json.lods\n")
    (tmp_path / "odd_command.py").write_text(
        "import click\nfrom coterie.schema.command import Command\n\n"
        "@click.command(cls=Command)\ndef main():\n    click.ecko('typo')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    catalogue.installed.cache_clear()
    yield __import__("odd_plugin")
    for name in ("odd_plugin", "odd_typo", "odd_command"):
        sys.modules.pop(name, None)
    catalogue.installed.cache_clear()


def shaky(with_what: str, on_error: str) -> Team:
    text = TEAM % (with_what, on_error)
    return parse_team(text.encode(), "team.yaml", Catalogue.of_host())


RUNNING = {
    "function": "agent_type: Function, function: odd_function",
    "backend": "backend: odd, prompt: Be odd.",
}


@pytest.mark.parametrize("point", RUNNING)
def test_an_agent_whose_code_raises_is_a_failed_agent(plugin: Any, point: str) -> None:
    bench = Bench()
    team = shaky(RUNNING[point], "degrade")
    with ScriptedModel({"": "7"}) as model:
        for kind in KINDS:
            plugin.AT, plugin.ERROR = point, error_of(kind)
            run = bench.run(team, model)
            outcome = run.agents["shaky"]
            assert (run.status, run.answer, outcome.status) == ("done", "7", "failed"), kind
            assert outcome.fault == "agent"
            assert kind.__name__ in str(outcome.error)
            assert "odd_plugin.py:" in str(outcome.error)


LOADING = ("objections", "calls at most", "needs jail", "making", "lacks")


@pytest.mark.parametrize("point", LOADING)
def test_a_backend_that_raises_before_a_run_is_bad_input(plugin: Any, point: str) -> None:
    for kind in KINDS:
        plugin.AT, plugin.ERROR = point, error_of(kind)
        with pytest.raises(InputError, match=r"the backend odd failed: .*odd_plugin.py:") as failed:
            compiled(shaky(RUNNING["backend"], "degrade"), Catalogue.of_host()).lacks()
        assert kind.__name__ in str(failed.value)


async def test_a_scorer_that_raises_scores_nothing(plugin: Any, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"query": "?", "answer": "7", "scorer": "odd_scorer"}\n')
    known = Catalogue.of_host()
    [task] = load_tasks(path, known)
    for kind in KINDS:
        plugin.AT, plugin.ERROR = "scorer's check", error_of(kind)
        with pytest.raises(CoterieError, match="the scorer odd_scorer failed"):
            load_tasks(path, known)
        plugin.AT = "scorer"
        run = await scored(Run(status="done", answer="7"), task, Jails())
        assert (run.status, run.fault) == ("failed", "scorer"), kind
        assert "odd_plugin.py:" in str(run.error)


async def test_a_tool_that_raises_says_so_to_its_agent(plugin: Any) -> None:
    workspace: Any = None
    granted = GrantedTool(tool=plugin.tool, workspace=workspace, emit=lambda *_, **__: None)
    for kind in KINDS:
        plugin.AT, plugin.ERROR = "tool", error_of(kind)
        result = await granted._act({})
        assert kind.__name__ in result["error"] or kind is StopIteration


def test_loading_fails_with_its_line(plugin: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"has no attribute 'lods'.* \(.*odd_typo.py:3\)"):
        catalogue.load_tool("typo_tool")
    for kind in KINDS:
        raised = error_of(kind)

        def load(_point: object, raised: BaseException = raised) -> Any:
            raise raised

        monkeypatch.setattr("coterie.schema.values.entries.EntryPoint.load", load)
        with pytest.raises(InputError, match="cannot be imported"):
            catalogue.load_named("functions", "odd_function")


def test_a_file_of_ones_own_that_raises_cannot_be_imported(plugin: Any) -> None:
    Path("own.py").write_text("import odd_plugin\n\nodd_plugin.fail('file')\n")
    for kind in KINDS:
        plugin.AT, plugin.ERROR = "file", error_of(kind)
        with pytest.raises(InputError, match=r"own\.py cannot be imported: ") as failed:
            load_python_tool("own.py:tool", Path())
        assert kind.__name__ in str(failed.value)


def test_a_function_that_gives_no_text_is_a_failed_agent(plugin: Any) -> None:
    with ScriptedModel({"": "7"}) as model:
        run = Bench().run(shaky("agent_type: Function, function: unsaid", "degrade"), model)
    assert "the function unsaid must return str, not 7." in str(run.agents["shaky"].error)


@pytest.mark.parametrize(
    ("command", "words", "message"),
    [
        (
            mas_bench,
            "run odd_benchmark --team team.yaml",
            "must return Sequence: [0]: expected Task, got 'a'",
        ),
        (
            mas_main,
            "dev op odd_operator team.yaml --task t.json",
            "operator must return Proposal, not",
        ),
        (
            mas_evolve,
            "not_async.yaml t.jsonl",
            "Strategy not_async must return Awaitable, not null",
        ),
        (mas_evolve, "unanswered.yaml t.jsonl", "unanswered left the task 't' unanswered"),
        (mas_evolve, "wrong.yaml t.jsonl", "the strategy wrong must return Run, not '7'"),
    ],
)
@pytest.mark.usefixtures("plugin")
def test_what_is_of_an_unexpected_kind_is_one_line(command: Any, words: str, message: str) -> None:
    arranged("not_async", "unanswered", "wrong")
    at = ["--pool", "pool"] if command is mas_evolve else []
    with ScriptedModel({"": "7"}) as model:
        err = refused(ran(command, *words.split(), "--model", f"m@{model.api_base}", *at))
    assert message in err
    assert "Traceback" not in err


EVOLVING = ("evolve", "every.yaml", "t.jsonl", "--pool", "pool", "--quiet")
PLANNING = (*EVOLVING, "--dry-run")
MEASURING = ("bench", "run", "measured", "--team", "team.yaml")
COMMANDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("check", "check with recipe"), ("validate", "every.yaml")),
    **dict.fromkeys(("suits", "agents", "needs", "keeps", "find", "foretells"), PLANNING),
    **dict.fromkeys(("begin", "fold", "fold of a line"), EVOLVING),
    **dict.fromkeys(("episode", "before a commit", "closing"), EVOLVING),
    **dict.fromkeys(("whole", "status"), ("evolve", "at_once.yaml", *EVOLVING[2:])),
    "operator": ("dev", "op", "odd_operator", "team.yaml", "--task", "t.json"),
    **dict.fromkeys(("prepare", "headline"), MEASURING),
    "view": ("view", "--text", "."),
    "page": ("view", "."),
    "lacking": ("validate", "team.yaml"),
}
"""Where a command calls code of others, by the point."""
ODD = (GeneratorExit, StopIteration, SystemExit, BrokenPipeError)
"""What Python, asyncio or a command line treats in a way of its own."""


def arranged(*strategies: str) -> None:
    """Write the files that the commands name."""
    Path("team.yaml").write_text("name: t\nagents: {a: {prompt: Be brief.}}\n")
    for name in ("t.json", "t.jsonl"):
        Path(name).write_text('{"id": "t", "query": "?", "answer": "7"}\n')
    for name in strategies or ("every", "at_once"):
        Path(f"{name}.yaml").write_text(f"strategy: {name}\nseeds: [team.yaml]\n")


@pytest.mark.parametrize("point", COMMANDS)
def test_whatever_is_raised_is_one_line(plugin: Any, point: str, nightly: bool) -> None:
    arranged()
    at = [*COMMANDS].index(point) % len(ODD)
    with ScriptedModel({"": "7"}) as model:
        asks = COMMANDS[point][0] in {"evolve", "bench", "dev"}
        for kind in KINDS if nightly else {ODD[at], ODD[at - 1]}:
            plugin.AT, plugin.ERROR = point, error_of(kind)
            rmtree("pool", ignore_errors=True)
            err = refused(
                mas(*COMMANDS[point], *(["--model", f"m@{model.api_base}"] if asks else []))
            )
            assert kind.__name__ in err
            assert "odd_plugin.py:" in err
            assert "Traceback" not in err


MISUSES = (
    "no team", "no path", "no such argument", "no run", "no part", "no task", "no folder",
    "nothing to wait for", "no such attribute", "a view that is cleared", "a text of bytes",
    "a chance of nothing",
)  # fmt: skip


@pytest.mark.parametrize("misuse", MISUSES)
def test_a_plugin_that_misuses_its_input_is_named_whoever_raises(plugin: Any, misuse: str) -> None:
    arranged()
    plugin.AT = misuse
    with ScriptedModel({"": "7"}) as model:
        err = refused(mas(*EVOLVING, "--model", f"m@{model.api_base}"))
    assert "odd_plugin.py:" in err
    assert "Traceback" not in err


GIVES = (
    "begin", "check", "check with recipe", "suits", "agents", "needs", "keeps", "foretells",
    "calls at most",
)  # fmt: skip


@pytest.mark.parametrize("point", GIVES)
def test_what_a_strategy_returns_of_another_kind_is_one_line(plugin: Any, point: str) -> None:
    arranged()
    with ScriptedModel({"": "7"}) as model:
        chosen = ("--model", f"m@{model.api_base}")
        for given in (None, object()):
            plugin.AT, plugin.GIVEN = f"gives {point}", given
            words = EVOLVING if point == "begin" else PLANNING
            assert "every must return" in refused(mas(*words, *chosen))
        plugin.AT, plugin.GIVEN = "gives begin", [7]
        err = refused(mas(*EVOLVING, *chosen))
    assert "every must return Iterable: [0]: expected Added | " in err


def test_a_typo_in_a_command_or_strategy_of_ones_own_is_one_line(plugin: Any) -> None:
    err = refused(mas("odd-command"))
    assert "AttributeError: ecko" in err
    assert "odd_command.py:6)" in err
    assert "Traceback" not in err
    assert "odd_typo.py:3" in refused(mas("typo-command"))
    Path("r.yaml").write_text("strategy: odd_strategy\n")
    assert "odd_typo.py:3" in refused(mas("validate", "r.yaml"))


def test_whatever_else_raises_ends_its_command_with_one_line(plugin: Any) -> None:
    """Such as a benchmark."""
    for kind in KINDS:
        plugin.AT, plugin.ERROR = "tasks", error_of(kind)
        err = refused(ran(mas_bench, "list", "odd_tasks", "--data", "."))
        assert kind.__name__ in err
        assert "odd_plugin.py:" in err
        assert "Traceback" not in err
