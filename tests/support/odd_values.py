"""A plug-in of all kinds, any part of which may be of another type than we declare."""

from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

MODULE = """
from dataclasses import dataclass

from coterie.benchmarks.evaluation.benchmark import Benchmark, Headline, mean_score
from coterie.benchmarks.evaluation.measures import Measure
from coterie.operators import Operator, OperatorSetting
from coterie.operators.evolution.strategy import Strategy
from coterie.runtime.runners import AgentResult
from coterie.runtime.tools import Tool, Toolkit
from coterie.runtime.tools.tool import ToolOutput
from coterie.runtime.agents.outcomes import Score
from coterie.runtime.view.pages import Page
from coterie.schema import Task
from coterie.schema.host.scorer_form import ScorerForm

class Odd:
    pass

class Silent:
    def __repr__(self):
        raise RuntimeError("no words")

async def awaited(*_, **__):
    return 7

def of_seven(a, b, c, d, e, f, g):
    return 7

def giving(value):
    return lambda *_, **__: value

def giving_later(value):
    async def later(*_, **__):
        return value
    return later

ODD = [
    None, 0, "", [], {}, object(), Odd, of_seven, awaited, ValueError("odd"), ValueError, "x", 7,
    -1, float("nan"), 10**400, True, b"x", "\\ud800", (None,), {"x": None}, {1: 2}, Silent(),
    giving(None), giving(Odd()), giving(7), giving("x"), giving([None]), int, dict,
]

async def episode(episode):
    [member] = episode.view.members.values()
    run = await episode.run(member.team, "work")
    episode.answered(run, await episode.score(run, "work"))

@dataclass(frozen=True, kw_only=True)
class Settings:
    width: int = 3

async def act(model, path, task, parent, *, width=3):
    return "x"

class Backend:
    objections, calls_at_most, needs_jail, lacks = map(giving, ((), 0, False, ()))
    run = giving_later(AgentResult(content="7"))

class Viewed:
    agents = ()
    written, value = giving("x"), giving({})

class Site:
    title, contents, state = "t", {"": "t"}, ""
    page = giving(Page(title="t", body=""))

WIDTH = {"type": "integer", "description": "How wide."}
RIGHT = {
    "strategy": dict(
        name="strategy", episode=episode, settings=Settings,
        needs=lambda settings: frozenset({"teams"}),
        schema={"type": "object", "additionalProperties": False, "properties": {"width": WIDTH}},
    ),
    "operator": dict(name="operator", scale="team", act=act, about="Odd.", gives="words"),
    "tool": dict(name="tool", description="Odd.", parameters={"type": "object"}, run=awaited),
    "benchmark": dict(
        name="benchmark", title="t", about="a.", licence="l", citation="c", trials=1,
        tasks=lambda source: [Task(id="t", query="?", answer="7")],
    ),
}

def operator_with(**parts):
    return Operator(**{**RIGHT["operator"], **parts})

def benchmark_with(**parts):
    return Benchmark(**{**RIGHT["benchmark"], **parts})

def scorer_with(form=None, score=Score(value=1.0, reason="r")):
    scorer = lambda answer, reference, options: score
    scorer.form = form
    return scorer

def backend_with(**parts):
    return type("Other", (Backend,), parts)

def viewed_with(**parts):
    return giving(type("Other", (Viewed,), parts)())

def site_with(**parts):
    return giving(type("Other", (Site,), parts)())

DECLARED = {
    "strategy": (Strategy, RIGHT["strategy"], lambda value: value),
    "operator": (Operator, RIGHT["operator"], lambda value: value),
    "operator setting": (
        OperatorSetting, {"about": "w."}, lambda value: operator_with(inputs={"width": value})
    ),
    "benchmark": (Benchmark, RIGHT["benchmark"], lambda value: value),
    "benchmark headline": (
        Headline, {"name": "a", "of": mean_score}, lambda value: benchmark_with(headline=value)
    ),
    "benchmark measure": (Measure, {}, lambda value: benchmark_with(measures={"m": value})),
    "benchmark task": (
        Task, {"id": "t", "query": "?"}, lambda value: benchmark_with(tasks=giving([value]))
    ),
    "tool": (Tool, RIGHT["tool"], lambda value: value),
    "tool kit": (
        Toolkit, {"name": "tool", "tools": (Tool(**RIGHT["tool"]),)}, lambda value: value
    ),
    "tool output": (
        ToolOutput, {"text": "x", "attachments": ()},
        lambda value: Tool(**{**RIGHT["tool"], "run": giving_later(value)}),
    ),
    "scorer form": (ScorerForm, {}, scorer_with),
    "scorer score": (Score, {"value": 1.0, "reason": "r"}, lambda value: scorer_with(None, value)),
    "backend result": (
        AgentResult, {"content": "7"}, lambda value: backend_with(run=giving_later(value))
    ),
}
MADE = {
    "function gives": giving,
    "scorer form": scorer_with,
    "scorer gives": lambda value: scorer_with(None, value),
    "tool gives": lambda value: Tool(**{**RIGHT["tool"], "run": giving_later(value)}),
    "tool kit of": lambda value: Toolkit(name="tool", tools=(value,)),
    **{
        f"operator gives {kind}": lambda value, kind=kind: operator_with(
            act=giving_later(value), gives=kind
        )
        for kind in ("child", "changes", "entry", "words")
    },
    **{
        f"backend {part}": lambda value, part=part: backend_with(**{part: value})
        for part in ("objections", "calls_at_most", "needs_jail", "lacks", "run")
    },
    **{
        f"backend {part} gives": lambda value, part=part: backend_with(**{part: giving(value)})
        for part in ("objections", "calls_at_most", "needs_jail", "lacks")
    },
    "backend run gives": lambda value: backend_with(run=giving_later(value)),
    **{
        f"view {part}": lambda value, part=part: viewed_with(**{part: value})
        for part in ("agents", "written", "value")
    },
    **{
        f"page {part}": lambda value, part=part: site_with(**{part: value})
        for part in ("title", "contents", "page", "state")
    },
    **{f"{point} gives": giving for point in ("view", "page", "check")},
}
POINT, GIVEN = "", None

def __getattr__(name):
    if name == POINT:
        return GIVEN()
    raise AttributeError(name)
"""
GROUPS = {
    "strategy": "strategies",
    "benchmark": "benchmarks",
    "operator": "operators",
    "tool": "tools",
    "function": "functions",
    "scorer": "scorers",
    "backend": "runners",
    "view": "views",
    "page": "pages",
    "check": "checks",
}
_EVOLVING = ("evolve", "recipe.yaml", "t.jsonl", "--pool", "pool", "--quiet")
_TEAM = ("--team", "t.yaml")
COMMANDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "strategy": ((*_EVOLVING, "--dry-run"), _EVOLVING),
    "benchmark": (
        ("bench", "list", "benchmark"),
        ("bench", "run", "benchmark", "--team", "t.yaml"),
    ),
    "operator": (("dev", "op", "--help"), ("dev", "op", "operator", "t.yaml", "--task", "t.json")),
    "tool": (("run", "tool.yaml", "t.json", "--quiet"),),
    "function": (("run", "function.yaml", "t.json", "--quiet"),),
    "scorer": (("validate", "s.jsonl"), ("bench", "run", "s.jsonl", *_TEAM)),
    "backend": (("doctor", "--no-probes"), ("run", "backend.yaml", "t.json", "--quiet")),
    "view": (("view", "--text", "."), ("view", "--text", "--json", ".")),
    "page": (("view", ".", "-o", "x.html"),),
    "check": (("validate", "t.yaml"),),
}
"""The commands that meet a value, by the point where it comes in."""
ASKING = {"evolve", "run", "bench", "dev"}
FILES = {
    "t.yaml": "name: t\nagents: {a: {prompt: Be brief.}}\n",
    "tool.yaml": "name: t\nagents: {a: {agent_type: ToolCallingAgent, prompt: Go., tools: "
    "[tool]}}\n",
    "function.yaml": "name: t\nagents: {a: {prompt: Go.}, b: {agent_type: Function, function: "
    "function}}\ntopology: {reports_to: {a: [b]}}\n",
    "backend.yaml": "name: t\nagents: {a: {prompt: Go., backend: backend}}\n",
    "recipe.yaml": "strategy: strategy\nseeds: [t.yaml]\nsettings: {width: 2}\n",
    "t.json": '{"id": "t", "query": "?", "answer": "7"}\n',
    "t.jsonl": '{"id": "t", "query": "?", "answer": "7"}\n',
    "s.jsonl": '{"id": "t", "query": "?", "answer": "7", "scorer": {"name": "scorer"}}\n',
}

Case = tuple[str, str, Callable[[Any], Any]]
"""What is replaced, the point where it comes in, and how that is made of an odd value."""


def install(folder: Path) -> None:
    """Write the package, and the files that commands name."""
    described = folder / "odd_values-1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: odd-values\nVersion: 1.0\n")
    points = (f"[coterie.{group}]\n{name} = odd_values:{name}\n" for name, group in GROUPS.items())
    (described / "entry_points.txt").write_text("".join(points))
    (folder / "odd_values.py").write_text(MODULE)
    for name, text in FILES.items():
        (folder / name).write_text(text)


def cases(plugin: Any) -> Iterator[Case]:
    """Yield every part of every value that a plug-in hands over."""
    for point in GROUPS:
        yield point, point, lambda odd: odd
    for name, (kind, right, put) in plugin.DECLARED.items():
        for field in fields(kind):

            def made(odd: Any, of: Any = (kind, right, put, field.name)) -> Any:
                kind, right, put, field = of
                return put(kind(**{**right, field: odd}))

            yield f"{name}.{field.name}", name.split()[0], made
    for name, made in plugin.MADE.items():
        yield name, name.split()[0], made
