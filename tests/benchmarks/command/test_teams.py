"""`mas-bench vote` and `equip`: write teams that can be run."""

from pathlib import Path

import pytest

from coterie.operators.command.evolve import main as mas_evolve
from coterie.runtime.doubles import ScriptedModel
from coterie.schema import load_team

from ...support.commands import invoked
from .conftest import Cli


def test_the_team_goes_to_standard_output_and_runs(cli: Cli) -> None:
    result = cli.bench("vote", "solo.yaml", "-k", "3").ended(0)
    Path("vote.yaml").write_text(result.out)
    cli.run("--limit", "3", team="vote").ended(0, calls=9)


def test_it_takes_as_many_copies_as_another_method_costs(cli: Cli) -> None:
    cli.run("--limit", "6")
    cli.run("--limit", "6", team="pair")
    single, other = map(str, cli.results)
    result = cli.bench("vote", "solo.yaml", "--single", single, "--match", other).ended(0)
    assert "name: solo_vote_2\n" in result.out
    recipe = "strategy: best_of_n\nseeds: [solo.yaml, pair.yaml]\nscore: answer\n"
    Path("recipe.yaml").write_text(recipe + "settings: {parents: 2}\n")
    tasks = cli.bench("tasks", "bbeh-mini", "--data", "data", "--limit", "3").out
    Path("tasks.jsonl").write_text(tasks)
    with ScriptedModel("The answer is: 1") as model:
        words = ["recipe.yaml", "tasks.jsonl", "--pool", "pool", "--quiet"]
        words += ["--model", f"m@{model.api_base}"]
        invoked(mas_evolve, words, "mas-evolve").ended(0)
    result = cli.bench(
        "vote", "solo.yaml", "--single", single, "--match", "pool/evolutions/recipe"
    ).ended(0)
    assert "name: solo_vote_" in result.out


def test_a_team_is_given_the_tools_of_a_benchmark(cli: Cli) -> None:
    result = cli.bench("equip", "workbench", "seed:single_agent").ended(0)
    tools = cli.bench("list", "workbench", "--json").json["tools"]
    Path("single.yaml").write_text(result.out)
    (agent,) = load_team("single.yaml").agents.values()
    assert set(agent.tools) >= set(tools)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["vote", "solo.yaml"], "set the number with -k, or match the tokens of results"),
        (["vote", "solo.yaml", "--match", "data"], "set the number with -k"),
        (
            ["vote", "solo.yaml", "-k", "3", "--single", "data", "--match", "data"],
            "set the number with -k",
        ),
        (["vote", "solo.yaml", "-k", "1"], "2<=x<=200"),
        (["vote", "pair.yaml", "-k", "3"], "pair has 2 agents. A vote needs exactly one."),
        (["vote", "gone.yaml", "-k", "3"], "gone.yaml"),
        (["vote", "solo.yaml", "--single", "data", "--match", "data"], "there is no such file"),
        (["equip", "bbeh", "solo.yaml"], "bbeh has no tools"),
        (["equip", "nope", "solo.yaml"], "no benchmark 'nope'"),
        (["equip", "workbench", "solo.yaml"], "no agent that lacks these tools can use tools"),
    ],
)
def test_wrong_input_is_said(cli: Cli, words: list[str], message: str) -> None:
    assert message in cli.bench(*words).refused()
