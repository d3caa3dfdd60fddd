"""Evolutions for tests: a small world on disk, `mas-evolve` in it, and what it leaves."""

import hashlib
import itertools
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from coterie.operators.command.evolve import main as mas_evolve
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.doubles.script import Request

from ..support.commands import CommandResult, invoked_in
from ..support.processes import KILLED, Child
from ..waiting import wait_for

TEAMS = {
    "vote": """\
name: vote
agents:
  one: {prompt: "You are [one]."}
  two: {prompt: "You are [two]."}
  judge: {prompt: "You are [judge]."}
topology: {reports_to: {one: [judge], two: [judge]}}
""",
    "pair": """\
name: pair
agents:
  one: {prompt: "You are [one]."}
  two: {prompt: "You are [two]."}
topology: {reports_to: {one: [two]}}
""",
    "solo": 'name: solo\nagents:\n  one: {prompt: "You are alone."}\n',
}
RECIPE = """\
strategy: evomas
seeds: [vote.yaml, solo.yaml]
workers: 8
settings:
  parents: 2
  steps: 2
  memory: 0
"""
"""Its settings come last, so that `  components: [prompts]` can be added to them."""
ALONE = RECIPE.replace("vote.yaml, ", "").replace("parents: 2", "parents: 1")


def asked(request: Request) -> dict[str, Any]:
    """The fields of the answer that an operator asks for; none where an agent is asked."""
    form = request.get("response_format", {}).get("json_schema", {}).get("schema", {})
    return form.get("properties", {})


def oracle(request: Request) -> Reply:
    """Answer by what is asked: operators with a new prompt, agents right one time in three."""
    text = json.dumps(request["messages"])
    digest = hashlib.sha256(f"{text}{request.get('seed')}".encode()).hexdigest()
    wanted = asked(request)
    if "edits" in wanted:
        edit = {"set_prompt": {"agent": "one", "prompt": f"Think of {digest[:6]}."}}
        return Reply.json({"reason": f"because of {digest[:4]}", "edits": [edit]})
    if "change" in wanted:
        options = wanted["change"]["enum"]
        change = options[int(digest[2:4], 16) % len(options)]
        return Reply.json({"reason": f"because of {digest[:4]}", "change": change})
    if "summary" in wanted:
        return Reply.json({"summary": f"learnt {digest[:6]}"})
    if wanted:
        return Reply.json({"nonsense": digest[:4]})
    return Reply(text="7" if int(digest[:2], 16) % 3 == 0 else "8")


def write_world(folder: Path, tasks: int = 6) -> Path:
    """Write teams, a recipe and a stream of sums into a folder."""
    for name, text in TEAMS.items():
        (folder / f"{name}.yaml").write_text(text)
    (folder / "recipe.yaml").write_text(RECIPE)
    lines = [
        json.dumps(
            {"id": f"t{n}", "query": f"What is {n} + {7 - n}?", "answer": "7", "niche": "sums"}
        )
        for n in range(tasks)
    ]
    (folder / "tasks.jsonl").write_text("\n".join(lines) + "\n")
    return folder


def evolving(folder: Path, pool: str, base: str, *more: str) -> Child:
    """Start an evolution as a process of its own."""

    def evolve() -> None:
        invoked_in(folder, mas_evolve, _words(pool, base, more, ()), "mas-evolve").ended(0)

    return Child(evolve)


def killed_at(
    folder: Path,
    pool: str,
    moment: int,
    *more: str,
    script: Callable[[Request], Reply] = oracle,
) -> tuple[bool, int]:
    """Kill an evolution when its model is asked for the nth time.

    Calls from then on are never answered, so that it cannot end before it is killed.

    Returns:
        Whether it was killed, not ended before; and how often the model was asked.
    """
    numbers = itertools.count(1)

    def until_then(request: Request) -> Reply:
        return script(request) if next(numbers) < moment else Reply.fault("hang")

    with ScriptedModel(until_then) as model:
        begun = evolving(folder, pool, model.api_base, *more)
        wait_for(
            lambda: begun.has_ended() or len(model.calls) >= moment,
            "it neither ended nor asked so often",
        )
        begun.kill()
        return begun.wait() == KILLED, len(model.calls)


def evolve(
    folder: Path,
    pool: str,
    *more: str,
    script: Callable[[Request], Reply] = oracle,
    aliases: Sequence[str] = (),
) -> CommandResult:
    """Evolve to the end, and tell what a model was asked."""
    with ScriptedModel(script) as model:
        words = _words(pool, model.api_base, more, aliases)
        result = invoked_in(folder, mas_evolve, words, "mas-evolve")
        result.asked = [*model.calls]
        result.calls = len(result.asked)
        return result


def _words(pool: str, base: str, more: Sequence[str], aliases: Sequence[str]) -> list[str]:
    models = [
        ("--model", f"m@{base}"),
        *(("--model", f"{aliase}={aliase}@{base}") for aliase in aliases),
    ]
    given = [word for pair in models for word in pair]
    return ["recipe.yaml", "tasks.jsonl", "--pool", pool, *given, *more]


def kept(pool: Path) -> dict[str, Any]:
    """Everything that an evolution leaves, but its journal."""
    texts = {path.name: path.read_text() for path in (pool / "teams").iterdir()}
    return {
        "teams": texts,
        "ledger": (pool / "ledger.jsonl").read_text(),
        "turns": lines_of(pool),
    }


def lines_of(pool: Path) -> list[dict[str, Any]]:
    """The turns of an evolution, as its record has them."""
    turns = pool / "evolutions" / "recipe" / "turns.jsonl"
    return [json.loads(line)["value"] for line in turns.read_text().splitlines()]
