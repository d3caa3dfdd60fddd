"""A run, a pool, a population and evaluations for pictures, made with a scripted model.

The model answers at once and the same every time: agents are right the more often, the more their
prompts tell them to think, and operators tell them to.
"""

from __future__ import annotations

import hashlib
import json
import random
from contextlib import chdir
from typing import TYPE_CHECKING, Any

import click
from click.testing import CliRunner

from coterie.benchmarks.command import main as mas_bench
from coterie.operators.command.evolve import main as mas_evolve
from coterie.runtime.command.run import main as mas_run
from coterie.runtime.doubles import Replies, Reply, ScriptedModel, message_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from coterie.runtime.doubles.script import Request

TEAM = """\
name: second_opinion
description: Two solve, one looks for mistakes, one decides.
agents:
  algebra: {role: algebraist, prompt: "You are [algebra]. Write equations."}
  estimate: {role: estimator, prompt: "You are [estimate]. Estimate first."}
  critic: {role: critic, prompt: "You are [critic]. Find it.", max_tokens: 60}
  judge: {role: judge, prompt: "You are [judge]. Answer with a number."}
topology:
  reports_to: {algebra: [critic, judge], estimate: [critic, judge], critic: [judge]}
"""
TASK = {
    "id": "two_pipes",
    "query": "One pipe fills a tank in 3 hours, another one in 6. Both are open. How many hours?",
    "answer": "2",
    "scorer": "number",
}
REPLIES = {
    "[judge]": Reply(text="The critic holds 4.5 for right. Answer: 4.5", latency=0.5),
    "[critic]": Reply(
        text="The equations add rates, but times are to be averaged: (3 + 6) / 2 = 4.5, as the",
        latency=0.9,
        finish_reason="length",
    ),
    "[algebra]": Reply(text="1/3 + 1/6 = 1/2 of the tank in an hour. So 2 hours.", latency=0.7),
    "[estimate]": [
        Reply.error(503, retry_after=0),
        Reply(text="Between 3 and 6, so about 4.5 hours.", latency=0.4),
    ],
}
RECIPE = """\
strategy: evomas
seeds: [direct.yaml, checked.yaml]
settings: {
  parents: 2, steps: 2, instantiate: false, components: [prompts], moves: [mutate], choice: chance,
  select: statistics, parent: best, admission: best, memory: 0
}
"""
CHAMBER = """\
strategy: evochamber
settings: {pool_size: 6, genesis_below: 4, fork_tasks: 2, merge_tasks: 4}
"""
TEAMS = {
    "direct": 'name: direct\nagents:\n  solver: {prompt: "Add."}\n',
    "checked": """\
name: checked
agents:
  solver: {prompt: "Add. Think."}
  checker: {prompt: "Check. Think."}
topology: {reports_to: {solver: [checker]}}
""",
    "careful": """\
name: careful
agents:
  solver: {prompt: "Add. Think. Think."}
  second: {prompt: "Add. Think."}
  checker: {prompt: "Check. Think. Think. Think."}
topology: {reports_to: {solver: [checker], second: [checker]}}
""",
}
NICHES = ("sums", "carries", "signs")
WORDS = ("carry", "sign", "digit", "column", "twice", "borrow", "order", "unit")


def _dice(request: Request) -> random.Random:
    text = json.dumps(request["messages"], sort_keys=True)
    # The same every time.
    return random.Random(hashlib.sha256(text.encode()).hexdigest())  # noqa: S311


def adding(request: Request) -> Reply:
    """Answer as an agent or as an operator, by what is asked."""
    chance = _dice(request)
    form = request.get("response_format", {}).get("json_schema", {}).get("schema", {})
    if "edits" in form.get("properties", {}):
        agent = "checker" if '"checker"' in json.dumps(form) else "solver"
        prompt = f"Add the {chance.choice(WORDS)}s first. " + "Think. " * chance.randrange(4)
        edit = {"set_prompt": {"agent": agent, "prompt": prompt.strip()}}
        return Reply.json({"reason": "It wrote down the first number it saw.", "edits": [edit]})
    if form:
        return Reply.json(_fitting(form, chance))
    right = 0.35 + 0.15 * message_text(request).count("Think.")
    return Reply(text="7" if chance.random() < right else "8")


def _fitting(schema: Mapping[str, Any], chance: random.Random) -> Any:
    """Make a value that a JSON Schema lets through."""
    if "enum" in schema:
        return chance.choice(schema["enum"])
    if options := schema.get("anyOf"):
        return _fitting(chance.choice(options), chance)
    match schema["type"]:
        case "object":
            fields = schema.get("properties", {})
            return {name: _fitting(one, chance) for name, one in fields.items()}
        case "array":
            number = chance.randint(schema.get("minItems", 0), schema.get("maxItems", 2))
            return [_fitting(schema["items"], chance) for _ in range(number)]
        case _:
            return _single(schema, chance)


def _single(schema: Mapping[str, Any], chance: random.Random) -> Any:
    match schema["type"]:
        case "boolean":
            return chance.random() < 0.5
        case "integer":
            return chance.randint(schema.get("minimum", 0), schema.get("maximum", 9))
        case "number":
            return round(chance.uniform(schema.get("minimum", 0), schema.get("maximum", 1)), 3)
        case _:
            said = f"Look at the {chance.choice(WORDS)} before the {chance.choice(WORDS)}."
            return said[: schema.get("maxLength", 200)]


def a_run(folder: Path) -> Path:
    """Make a run that goes wrong in several ways."""
    folder.mkdir()
    (folder / "team.yaml").write_text(TEAM, encoding="utf-8")
    (folder / "task.json").write_text(json.dumps(TASK), encoding="utf-8")
    words = ["team.yaml", "task.json", "--budget", "calls=10,seconds=60"]
    _made(mas_run, words, folder, REPLIES)
    (run,) = (folder / "runs").iterdir()
    return run


def a_pool(folder: Path) -> Path:
    """Evolve two teams over forty tasks."""
    _write(folder, RECIPE)
    _made(mas_evolve, ["recipe.yaml", "tasks.jsonl", "--pool", "pool"], folder)
    return folder / "pool"


def a_population(folder: Path) -> Path:
    """Evolve a population over forty tasks."""
    _write(folder, CHAMBER)
    words = ["recipe.yaml", "tasks.jsonl", "--pool", "pool", "--embedder", "hashing"]
    _made(mas_evolve, words, folder)
    return folder / "pool"


def some_evaluations(folder: Path) -> Path:
    """Evaluate three teams on forty tasks, twice each."""
    _write(folder, RECIPE)
    for team in TEAMS:
        words = ["run", "tasks.jsonl", "--team", f"{team}.yaml", "--scorer", "number"]
        _made(mas_bench, [*words, "--trials", "2"], folder)
    return folder / "results"


def _write(folder: Path, recipe: str) -> None:
    folder.mkdir()
    (folder / "recipe.yaml").write_text(recipe, encoding="utf-8")
    for name, text in TEAMS.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    lines = [
        json.dumps({**TASK, "id": f"t{n}", "query": f"{n} + {7 - n}?", "answer": "7", "niche": one})
        for n in range(40)
        for one in [NICHES[n % len(NICHES)]]
    ]
    (folder / "tasks.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _made(command: click.Command, words: list[str], folder: Path, by: Replies = adding) -> None:
    with ScriptedModel(by) as model, chdir(folder):
        options = ["--model", f"scripted@{model.api_base}", "--quiet"]
        came = CliRunner().invoke(command, [*words, *options])
    if came.exit_code:
        raise click.ClickException(came.output)
