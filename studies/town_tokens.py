"""Tokens of a task of an `evochamber` town against a single agent: `python -m studies.town_tokens`.

Agents are right by chance and answer at a given length; operators are answered in form, by texts of
a lesson's length. What is counted is what the gateway counts. Reasoning that a model does not hand
in is written and read by nobody else: `--shown` says how many tokens of an answer others see.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click
from click.testing import CliRunner

from coterie.operators.command.evolve import main as mas_evolve
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.schema.command import Command

from .simulated import CHARACTERS, head, row

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from coterie.runtime.doubles.script import Request

NICHES = ("sums", "dates", "words")
ALONE = {"learning": False, "codream": False, "lifecycle": False}
TOWNS: Mapping[str, Mapping[str, Any]] = {
    "a single agent": {"pool_size": 1, "team_size": 1, **ALONE},
    "self-consistency, k = 5": {"pool_size": 5, "team_size": 5, "structure": "voting", **ALONE},
    "the town": {},
    "- own attempts": {"own_attempts": "never"},
    "- shared failure": {"shared_failure": "abstain"},
    "- CoDream": {"codream": False},
    "- lifecycle": {"lifecycle": False},
    **{
        f"always {word}": {"structure": word}
        for word in ("voting", "debate", "generator_critic", "decompose")
    },
}
TEXT = 300
"""Characters of what an operator writes."""


def evolved(
    town: Mapping[str, Any], *, tasks: int, answering: Callable[[Request], Reply]
) -> Mapping[str, Any]:
    """Return the report of an evolution.

    Args:
        town: The settings of the recipe.
        tasks: How many tasks.
        answering: The model.
    """
    with TemporaryDirectory() as name, ScriptedModel(answering) as model:
        folder = Path(name)
        recipe = {"strategy": "evochamber", "settings": dict(town)}
        (folder / "town.yaml").write_text(json.dumps(recipe))
        stream = folder / "tasks.jsonl"
        stream.write_text("".join(json.dumps(_task(number)) + "\n" for number in range(tasks)))
        words = [str(folder / "town.yaml"), str(stream), "--pool", str(folder / "town"), "--json"]
        words += ["--embedder", "hashing", "--quiet", "--model", f"m@{model.api_base}"]
        done = CliRunner().invoke(mas_evolve, words, prog_name="mas-evolve")
    if done.exit_code:
        raise RuntimeError(done.output)
    return json.loads(done.stdout)


def tokens(report: Mapping[str, Any], *purposes: str) -> float:
    """Return the tokens of a task that were spent for some purposes, or for all."""
    spent = [report["spending"][item] for item in purposes or report["spending"]]
    every = sum(each["prompt_tokens"] + each["completion_tokens"] for each in spent)
    return every / report["tasks"]


def _task(number: int) -> dict[str, Any]:
    niche = NICHES[number % len(NICHES)]
    query = f"About {niche}: what is the sum of {number} and {7 - number}?"
    scorer = {"name": "number"}
    return {"id": f"t{number}", "query": query, "niche": niche, "answer": "7", "scorer": scorer}


def model(*, length: int, shown: int, accuracy: float) -> Callable[[Request], Reply]:
    """Return a model whose agents answer at a length, in tokens, and are right by chance."""

    def answering(request: Request) -> Reply:
        text = json.dumps(request["messages"], sort_keys=True)
        chance = random.Random(f"{text}{request.get('seed')}")  # noqa: S311 - guards nothing
        form = request.get("response_format", {}).get("json_schema", {}).get("schema")
        if form:
            return Reply.json(_fitting(form, chance))
        answer = f"\nAnswer: {7 if chance.random() < accuracy else chance.randrange(8, 12)}"
        step = "so it follows that " * (shown * CHARACTERS // 19)
        read = sum(len(str(message["content"])) for message in request["messages"]) // CHARACTERS
        usage = {"prompt_tokens": read, "completion_tokens": length, "total_tokens": read + length}
        return Reply(text=step + answer, usage=usage)

    return answering


def _fitting(schema: Mapping[str, Any], chance: random.Random) -> Any:
    """Return a value that an operator's schema lets through."""
    if "enum" in schema:
        return chance.choice(schema["enum"])
    match schema["type"]:
        case "object":
            fields = schema.get("properties", {})
            return {name: _fitting(field, chance) for name, field in fields.items()}
        case "array":
            most = schema.get("maxItems", 2)
            number = chance.randint(schema.get("minItems", 0), most)
            return [_fitting(schema["items"], chance) for _ in range(number)]
        case "boolean":
            return chance.random() < 0.8
        case "integer":
            return chance.randint(schema.get("minimum", 0), schema.get("maximum", 9))
        case _:
            words = " ".join(f"word{chance.randrange(999)}" for _ in range(TEXT // 7))
            return words[: min(TEXT, schema.get("maxLength", TEXT))]


@click.command(cls=Command)
@click.option("--length", type=int, multiple=True, help="Tokens of an answer.  [1000, 4000]")
@click.option("--shown", type=int, help="Those of them that others read.  [all]")
@click.option("--accuracy", default=0.4, show_default=True, help="How often an agent is right.")
@click.option("--tasks", default=60, show_default=True, help="Tasks of the stream.")
@click.option("--only", multiple=True, help="Rows of this name alone, and the single agent.")
def main(
    *,
    length: tuple[int, ...],
    shown: int | None,
    accuracy: float,
    tasks: int,
    only: tuple[str, ...],
) -> None:
    """Print what a task costs, in tokens and in times of a single agent's."""
    lengths = length or (1_000, 4_000)
    names = [name for name in TOWNS if not only or name in {*only, "a single agent"}]
    titles = ("", ", operators'", ", times")
    columns = (f"{number:,} tokens{title}" for number in lengths for title in titles)
    for line in head("", *columns):
        click.echo(line)
    single: dict[int, float] = {}
    for name in names:
        cells: list[str] = []
        for count in lengths:
            replies = model(length=count, shown=min(count, shown or count), accuracy=accuracy)
            report = evolved(TOWNS[name], tasks=tasks, answering=replies)
            spent, operators = tokens(report), tokens(report, "operator")
            times = spent / single.setdefault(count, spent)
            cells += [f"{spent:,.0f}", f"{operators:,.0f}", f"{times:.1f}"]
        click.echo(row(name, *cells))


if __name__ == "__main__":
    main()
