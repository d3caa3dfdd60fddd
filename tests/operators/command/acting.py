"""A folder with all that operators act on: teams, runs of them, pools, and what operators wrote."""

import json
from collections.abc import Mapping
from contextlib import chdir
from pathlib import Path
from typing import Any

from coterie.operators.command.op.command import main as mas_op
from coterie.operators.methods.evochamber.seating import STRUCTURES, keep_team, seated
from coterie.operators.methods.evochamber.settings import PopulationSettings
from coterie.pool import Pool
from coterie.pool.ledger.changes import Added, Evaluated, EventNoted
from coterie.pool.values.statistics import Trial, TrialPart
from coterie.runtime.command.run import main as mas_run
from coterie.runtime.doubles import Replies, Reply, ScriptedModel
from coterie.schema import Agent, Catalogue, Lineage, Team, load_team
from coterie.schema.loading.loading import team_path

from ...support.commands import CommandResult, invoked
from ..consulting import FORGETFUL, doctors
from ..methods.evochamber.town import person

PAIR = """\
name: pair
agents:
  worker: {role: worker, prompt: "You are [worker]. Solve it."}
  judge: {role: judge, prompt: "You are [judge]. Decide it."}
topology: {reports_to: {worker: [judge]}}
"""
TRIO = """\
name: trio
constitution: Be honest.
agents:
  planner: {role: plans, prompt: "You are [planner]."}
  solver: {role: solves, prompt: "You are [solver]."}
  writer: {role: writes, prompt: "You are [writer]."}
topology: {reports_to: {planner: [solver], solver: [writer]}}
"""
SOLO = 'name: solo\nagents: {one: {prompt: "You are alone."}}\n'
TASK = {"id": "sum", "query": "What is 3 + 4?", "answer": "sevenish", "niche": "sums"}
WORK = {"[planner]": "first count", "[solver]": "maybe 8", "[writer]": "I say 8"}
LOW: Mapping[str, float] = {"planner": 0.1, "solver": 0.2, "writer": 0.5}
DIFFERENCE = {"giver": "writer", "failed": "solver", "text": "It counted."}
IDEA = {"text": "Count.", "niches": ["sums"], "of": DIFFERENCE}
OPINION = {"agent": "planner", "opinions": [{"keep": True, "reason": "too short"}]}
SCORE = {"agent": "heart", "round": 2, "score": 0.5, "reason": "heart so"}
ROUND = {
    "niche": "sums", "structure": "debate", "profile": [0.5, 0.5, 0.5], "reward": 1.0,
    "reflection": "They found the slip.", "task": "t", "anchor": "ada",
}  # fmt: skip
PEOPLE: Mapping[str, Agent] = {
    seat: person(name)
    for seat, name in (("anchor", "ada"), ("complement", "ben"), ("scout", "cyn"))
}
RUN = ("--run", "run")
TASKED = ("-t", "task.json")


def judgement(values: Mapping[str, float] = LOW) -> dict[str, Any]:
    agents = {
        name: {"reason": f"{name} so", "contribution": value} for name, value in values.items()
    }
    return {"reason": "It guessed.", "agents": agents, "score": 0.3, "converged": False}


def mas(*words: str, replies: Replies = "never asked", command: Any = mas_op) -> CommandResult:
    """Run a command here; every model is the scripted one."""
    with ScriptedModel(replies) as model:
        result = invoked(command, [*words, "--model", f"scripted@{model.api_base}"], "mas dev op")
        result.asked = list(model.calls)
        return result


def make_world(folder: Path) -> None:
    """Make the folder."""
    texts = {
        "pair.yaml": PAIR,
        "other.yaml": PAIR.replace("pair", "other").replace("it.", "this."),
        "trio.yaml": TRIO,
        "solo.yaml": SOLO,
        "ward.yaml": FORGETFUL,
    }
    written = {
        "task.json": TASK, "judged.json": judgement(), "scores.json": [SCORE],
        "difference.json": DIFFERENCE, "ideas.json": [IDEA], "opinions.json": OPINION,
    }  # fmt: skip
    texts |= {name: json.dumps(value) for name, value in written.items()}
    for name, text in texts.items():
        (folder / name).write_text(text)
    with chdir(folder):
        run("trio.yaml", *TASKED, folder="run", replies=WORK)
        run("ward.yaml", *TASKED, folder="ward_run", replies=doctors)
        _make_pool()
        _make_town()


def run(team: str, *words: str, folder: str, replies: Replies) -> None:
    """Run a team on a task, and put the run's folder in a place."""
    task = words[1:] if words[0] == "-t" else words
    mas(team, *task, "--quiet", replies=replies, command=mas_run).ended(0)
    [path] = Path("runs").iterdir()
    path.rename(folder)


def _make_pool() -> None:
    """Make a pool of two seeds and a child that was made on the task."""
    pool = Pool.init("pool", [Path("pair.yaml"), Path("other.yaml")])
    child = Team(name="pair", agents={"judge": load_team("pair.yaml").agents["judge"]})
    lineage = Lineage(operator="mutate", parents=("pair",), reason="less is more", task="sum")
    name = pool.add(child, lineage, op="child").name
    for item, score in ((name, 1.0), ("pair", 0.5)):
        trial = Trial(task="sum", score=score, niche="sums")
        pool.commit(Evaluated(member=item, trial=trial), op=f"trial {item}")


def _make_town() -> None:
    """Make a pool of three agents, of whom one has worked, and a run of a team of all three."""
    pool, known = Pool.init("town", [Path("solo.yaml")]), Catalogue.of_host()
    for agent in PEOPLE.values():
        born = Added(member=agent, lineage=Lineage(operator="genesis"))
        pool.commit(born, op=f"begin/{agent.id}")
    trial = Trial(task="t", niche="sums", score=1.0, agents={"anchor": TrialPart(member="ada")})
    pool.commit(Evaluated(member="solo", trial=trial), op="tried")
    pool.commit(EventNoted(what="leadership", about=ROUND), op="round")
    template = load_team(team_path(STRUCTURES[0]), known)
    team = seated(template, PEOPLE, PopulationSettings(lessons=0), known)
    keep_team(pool.folder, team.team)
    run(voting(), *TASKED, folder="vote_run", replies="7")


def files(folder: Path) -> Mapping[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def voting() -> str:
    """The file of the team of all three."""
    [path] = Path("town/worked").glob("*.yaml")
    return str(path)


def noted(name: str = "counting", summary: str = "I guessed.") -> Any:
    note = {"patch": {"name": name, "text": "Count on your fingers."}}
    return {"reason": "So it was.", "notes": [note], "summary": summary}


def structured(**fields: Any) -> Reply:
    return Reply.json(fields)
