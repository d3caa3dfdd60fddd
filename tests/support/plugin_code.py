"""Code of others, that raises or returns what a test wants, at each point where it is called."""

MODULE = """
from types import SimpleNamespace

from coterie.benchmarks.evaluation.benchmark import Benchmark, Headline
from coterie.operators import Operator
from coterie.operators.evolution.strategy import Strategy
from coterie.runtime.runners import AgentResult
from coterie.runtime.tools import Tool
from coterie.runtime.agents.outcomes import Score
from coterie.schema import Task
from coterie.schema.host.scorer_form import ScorerForm, takes

AT, ERROR, GIVEN = "", None, None

def fail(point):
    if point == AT:
        raise ERROR

def checked(options, reference):
    fail("scorer's check")
    return {}

@takes(ScorerForm(check=checked))
def scorer(answer, reference, options):
    fail("scorer")
    return Score(value=1.0, reason="fine")

def function(reports, task):
    fail("function")
    return "7"

class Backend:
    def __init__(self):
        fail("making")

    @classmethod
    def objections(cls, agent):
        fail("objections")
        return ()

    @classmethod
    def calls_at_most(cls, agent):
        fail("calls at most")
        return 0

    @classmethod
    def needs_jail(cls, agent):
        fail("needs jail")
        return False

    @classmethod
    def lacks(cls):
        fail("lacks")
        return ()

    async def run(self, assignment):
        fail("backend")
        return AgentResult(content="7")

async def run(arguments, workspace):
    fail("tool")

tool = Tool(name="odd_tool", description="Odd.", parameters={"type": "object"}, run=run)

def unsaid(reports, task):
    return 7

def tasks(source):
    return ["a"]

def failing_tasks(source):
    fail("tasks")
    return ()

async def act(meta, path, task, parent):
    fail("operator")
    return "x"

def hook(point, value):
    def called(*_, **__):
        fail(point)
        return GIVEN if AT == f"gives {point}" else value
    return called

def find(settings, *_):
    fail("find")
    return settings, {}

async def episode(episode):
    fail("episode")
    [member] = episode.view.members.values()
    if misuse := MISUSES.get(AT):
        await misuse(episode, member.team)
    run = await episode.run(member.team, "work")
    episode.answered(run, await episode.score(run, "work"))
    episode.closing = SimpleNamespace(close=hook("closing", episode.line(episode.context.pool)))

async def before_commit(episode, earlier):
    fail("before a commit")

async def whole(*_):
    fail("whole")

MISUSES = {
    "no team": lambda episode, _: episode.run(7, "work"),
    "no path": lambda episode, team: episode.run(team, 7),
    "no such argument": lambda episode, team: episode.run(team, odd=1),
    "no run": lambda episode, _: episode.score(7, "work"),
    "no part": lambda episode, _: episode.side_by_side(7),
    "no task": lambda episode, _: (setattr(episode, "task", 7), episode.run(_, "work"))[1],
    "no folder": lambda episode, _: setattr(episode, "folder", 7),
    "nothing to wait for": lambda episode, _: episode.keep(7),
    "no such attribute": lambda episode, _: episode.odd(),
    "a view that is cleared": lambda episode, _: episode.view.members.clear(),
    "a text of bytes": lambda episode, _: episode.write("a", b"x"),
    "a chance of nothing": lambda episode, _: episode.chance(object()),
}

def not_async(episode):
    pass

async def unanswered(episode):
    pass

async def wrong(episode):
    episode.answered("7")

about = {"title": "t", "about": "a.", "licence": "l", "citation": "c", "source": "s"}
benchmark = Benchmark(name="odd_benchmark", **about, tasks=tasks)
measured = Benchmark(
    name="measured",
    **about,
    tasks=lambda source: [Task(id="t", query="?", answer="7")],
    prepare=hook("prepare", None),
    headline=Headline(name="accuracy", of=hook("headline", 1.0)),
    trials=1,
)
operator = Operator(name="odd_operator", scale="team", act=act, about="Odd.")
strategies = [
    Strategy(name=it.__name__, episode=it, needs=lambda settings: frozenset({"teams"}))
    for it in (not_async, unanswered, wrong)
]
not_async, unanswered, wrong = strategies
needs = hook("needs", frozenset({"teams"}))
every = Strategy(
    name="every",
    episode=episode,
    before_commit=before_commit,
    begin=hook("begin", ()),
    check=hook("check", {}),
    check_recipe=hook("check with recipe", {}),
    suits=hook("suits", {}),
    agents=hook("agents", ()),
    needs=needs,
    keeps=hook("keeps", ()),
    calls_at_most=hook("calls at most", 9),
    fold=hook("fold", SimpleNamespace(after=hook("fold of a line", None))),
    find=find,
    foretells=hook("foretells", ""),
)
at_once = Strategy(name="at_once", whole=whole, needs=needs, status=hook("status", None))
view, page, lacking = hook("view", None), hook("page", None), hook("lacking", {})
failing = Benchmark(name="odd_tasks", **about, tasks=failing_tasks)
function.needs_reports = unsaid.needs_reports = False
"""
POINTS = """
[coterie.runners]
odd = odd_plugin:Backend
[coterie.functions]
odd_function = odd_plugin:function
unsaid = odd_plugin:unsaid
typo = odd_typo:function
[coterie.scorers]
odd_scorer = odd_plugin:scorer
[coterie.tools]
odd_tool = odd_plugin:tool
typo_tool = odd_typo:tool
[coterie.strategies]
odd_strategy = odd_typo:strategy
not_async = odd_plugin:not_async
unanswered = odd_plugin:unanswered
wrong = odd_plugin:wrong
every = odd_plugin:every
at_once = odd_plugin:at_once
[coterie.operators]
odd_operator = odd_plugin:operator
[coterie.benchmarks]
odd_benchmark = odd_plugin:benchmark
measured = odd_plugin:measured
odd_tasks = odd_plugin:failing
[coterie.commands]
odd-command = odd_command:main
typo-command = odd_typo:command
[coterie.views]
odd = odd_plugin:view
[coterie.pages]
odd = odd_plugin:page
[coterie.checks]
odd = odd_plugin:lacking
"""
TEAM = """
name: odd
agents:
  steady: {prompt: Be brief.}
  shaky: {%s}
  judge: {agent_type: Function, function: majority}
topology: {reports_to: {steady: [judge], shaky: [judge]}}
execution: {on_error: %s}
"""
