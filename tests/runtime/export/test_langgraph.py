"""A team as a program for LangGraph: its agents read what they read here, and so it answers."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import given

from coterie.runtime import run
from coterie.runtime.command.export import main as mas_export
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.export.langgraph import literal

from ...schema.strategies import TEXTS
from ...support.commands import invoked
from .answering import CHAIN, QUERY, TEAMS, answers, asked, conversation

TEAM = """\
name: newsroom
description: Writes "news".
constitution: Say only what you know.
agents:
  scout: {role: the "scout", prompt: Find facts about the task., temperature: 0.7}
  poet: {prompt: "Write a verse.\\nOr two.", model_id: fast, max_tokens: 99}
  editor:
    role: editor
    prompt: solve_step_by_step
    notes: {patches: {short: Be short.}, teammates: {scout: Often right.}}
  judge:
    role: judge
    prompt: Give the verdict.
    output_schema:
      type: object
      properties: {why: {type: string}, answer: {type: string}}
      required: [why, answer]
topology:
  reports_to: {scout: [poet, editor], poet: [judge], editor: [judge]}
execution: {context: CONTEXT, parallel_workers: 2}
"""
QUERY_OF_NEWS = "What is new at the Café?\n"
SCRIPT = {
    "Give the verdict": Reply.json({"why": "é", "answer": "Tea is new."}),
    "Write a verse": 'O <report> tea "é"',
    "Be short": "  Tea.\n",
    "Find facts": "Tea was\nfound.",
}


def exported(folder: Path, team: str, model: ScriptedModel) -> Path:
    (folder / "team.yaml").write_text(team, encoding="utf-8")
    at = f"m@{model.api_base}"
    options = ("--to", "langgraph", "-o", str(folder / "graph.py"), "--model", at)
    invoked(
        mas_export, [str(folder / "team.yaml"), *options, "--model", f"fast={at}"], "mas dev export"
    ).ended(0)
    return folder / "graph.py"


Messages = list[tuple[str, str]]


def read_by(model: ScriptedModel) -> list[Messages]:
    calls = (call.body["messages"] for call in model.calls)
    return sorted(
        [(message["role"], message["content"]) for message in messages] for messages in calls
    )


def ours(folder: Path, model: ScriptedModel) -> tuple[list[Messages], str | None]:
    at = f"m@{model.api_base}"
    done = run(folder / "team.yaml", query=QUERY_OF_NEWS, model={"default": at, "fast": at})
    return read_by(model), done.answer


class Graph:
    """What the program needs of LangGraph's graph: whoever is heard is done."""

    def __init__(self, _state: type) -> None:
        self.nodes: dict[str, Callable[[Any], Any]] = {}
        self.before: dict[str, set[str]] = {}

    def add_node(self, name: str, work: Callable[[Any], Any]) -> None:
        self.nodes[name] = work

    def add_edge(self, starts: str | list[str], end: str) -> None:
        more = {starts} if isinstance(starts, str) else {*starts}
        self.before.setdefault(end, set()).update(more)

    def compile(self) -> Graph:
        return self

    def invoke(self, state: dict[str, Any], config: Any = None) -> dict[str, Any]:
        self.config = config
        done = {"START"}
        while ready := [
            node for node in self.nodes if node not in done and self.before[node] <= done
        ]:
            for changes in [self.nodes[name](state) for name in ready]:
                for field, change in changes.items():
                    state[field] |= change
            done |= {*ready}
        assert self.before["END"] <= done
        return state


def stood_in(monkeypatch: pytest.MonkeyPatch, init: Callable[..., Any]) -> None:
    graph = SimpleNamespace(StateGraph=Graph, START="START", END="END")
    for name, module in {
        "langgraph": ModuleType("langgraph"),
        "langgraph.graph": graph,
        "langchain": ModuleType("langchain"),
        "langchain.chat_models": SimpleNamespace(init_chat_model=init),
    }.items():
        monkeypatch.setitem(sys.modules, name, module)


@pytest.mark.parametrize("context", ["predecessors", "ancestors", "all"])
def test_agents_read_what_they_read_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, context: str
) -> None:
    with ScriptedModel(SCRIPT) as model:
        file = exported(tmp_path, TEAM.replace("CONTEXT", context), model)
        expected, answer = ours(tmp_path, model)
        address = model.api_base
    read: list[Messages] = []
    records: list[Mapping[str, Any]] = []

    def answers(**fields: Any) -> Any:
        records.append(fields)

        def invoke(messages: Messages) -> Any:
            read.append(messages)
            said = next(said for sign, said in SCRIPT.items() if sign in messages[0][1])
            return SimpleNamespace(text=said if isinstance(said, str) else said.text)

        return SimpleNamespace(invoke=invoke)

    stood_in(monkeypatch, answers)
    program = ModuleType("program")
    exec(compile(file.read_text("utf-8"), "graph.py", "exec"), vars(program))  # noqa: S102
    assert program.answer(QUERY_OF_NEWS) == answer == "Tea is new."
    assert sorted(read) == expected
    assert program.graph.config == {"max_concurrency": 2}
    poet = next(fields for fields in records if fields["max_tokens"] == 99)
    assert poet == {
        "model": "m",
        "model_provider": "openai",
        "base_url": address,
        "api_key": "none",
        "max_tokens": 99,
        "max_retries": 2,
    }


@given(TEXTS)
def test_a_text_is_written_as_python_reads_it(text: str) -> None:
    assert ast.literal_eval(literal(text)) == text


def test_a_key_is_named_and_never_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAS_API_KEY", "secret-of-ann")
    (tmp_path / "t.yaml").write_text("name: t\nagents: {a: {prompt: Answer it.}}\n")
    words = [str(tmp_path / "t.yaml"), "--to", "langgraph", "--model", "m@http://127.0.0.1:1/v1"]
    result = invoked(mas_export, words, "mas dev export")
    assert '"key_env": "MAS_API_KEY"' in result.out
    assert "secret-of-ann" not in result.out


@pytest.mark.parametrize(
    ("model", "settings"),
    [
        ("openai/gpt-4o", {"model": "gpt-4o", "model_provider": "openai"}),
        ("anthropic/claude-x", {"model": "claude-x", "model_provider": "anthropic"}),
        (
            "mistral/large",
            {
                "model": "large",
                "model_provider": "openai",
                "base_url": "https://api.mistral.ai/v1",
            },
        ),
    ],
)
def test_a_model_is_reached_as_here(
    tmp_path: Path, model: str, settings: Mapping[str, str]
) -> None:
    (tmp_path / "t.yaml").write_text("name: t\nagents: {a: {prompt: Answer it.}}\n")
    words = [str(tmp_path / "t.yaml"), "--to", "langgraph", "--model", model]
    tree = ast.parse(invoked(mas_export, words, "mas dev export").out)
    agents = next(
        ast.literal_eval(stmt.value)
        for stmt in tree.body
        if isinstance(stmt, ast.Assign) and ast.unparse(stmt.targets[0]) == "AGENTS"
    )
    assert settings.items() <= agents["a"]["model"].items()


def test_a_long_chain_says_how_long_it_is(tmp_path: Path) -> None:
    with ScriptedModel("on") as model:
        assert '{"recursion_limit": 31}' in exported(tmp_path, CHAIN, model).read_text()


@pytest.mark.parametrize("name", TEAMS)
def test_all_is_as_in_our_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    with ScriptedModel(answers) as model:
        file = exported(tmp_path, TEAMS[name], model)
        expected = run(tmp_path / "team.yaml", query=QUERY, model=f"m@{model.api_base}").answer
        conversations = asked(model)
    theirs: Counter[str] = Counter()

    def invoke(messages: Messages) -> Any:
        request = [{"role": role, "content": text} for role, text in messages]
        theirs[conversation(request)] += 1
        return SimpleNamespace(text=answers({"messages": request}))

    stood_in(monkeypatch, lambda **_: SimpleNamespace(invoke=invoke))
    program = ModuleType("program")
    exec(compile(file.read_text("utf-8"), "graph.py", "exec"), vars(program))  # noqa: S102
    assert program.answer(QUERY) == expected
    assert theirs == conversations


def test_a_failed_agent_ends_it_as_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    team = "name: t\nagents: {a: {prompt: Say it.}}\nexecution: {max_retries: 1}\n"
    with ScriptedModel("on") as model:
        file = exported(tmp_path, team, model)
    texts: list[str] = ["", " "]
    stood_in(
        monkeypatch,
        lambda **_: SimpleNamespace(invoke=lambda _: SimpleNamespace(text=texts.pop(0))),
    )
    program = ModuleType("program")
    exec(compile(file.read_text("utf-8"), "graph.py", "exec"), vars(program))  # noqa: S102
    with pytest.raises(program.NoAnswer, match="answered with nothing"):
        program.answer("?")
    assert texts == []
