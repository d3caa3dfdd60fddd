"""Teams to compare with: a vote that costs what another method costs, and teams with tools."""

from pathlib import Path

import pytest

from coterie.benchmarks.evaluation.baselines import equipped, matching, tokens_each, vote_of
from coterie.runtime import compile
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.values.usage import Usage
from coterie.schema import Agent, Catalogue, InputError, Team, dump, load_team, parse_team

from ...runtime.conftest import Bench
from ..kept import kept, sample

SEEDS = Path(__file__).parents[3] / "seeds"


def results(folder: Path, tokens: int, samples: int = 3) -> Path:
    usage = Usage(calls=1, prompt_tokens=tokens - 1, completion_tokens=1)
    return kept(folder, [sample(f"t{n}", 1.0, usage=usage) for n in range(samples)])


def test_copies_of_an_agent_vote() -> None:
    team = vote_of(load_team(SEEDS / "direct.yaml"), 5, temperature=0.9)
    again = parse_team(dump(team).encode(), "vote.yaml", Catalogue.of_host())
    assert compile(again, Catalogue.of_host()).calls_at_most >= 5
    with ScriptedModel(["red", "blue", "blue", "red", "blue"]) as model:
        run = Bench().run(again, model)
        asked = [call.body for call in model.calls if call.body]
    assert (run.answer, len(asked)) == ("blue", 5)
    assert {item["temperature"] for item in asked} == {0.9}
    assert len({str(item["messages"]) for item in asked}) == 1


def test_one_copy_that_fails_leaves_the_others_to_decide() -> None:
    team = vote_of(load_team(SEEDS / "direct.yaml"), 3, temperature=0.7)
    with ScriptedModel([Reply.error(401), "blue", "blue"]) as model:
        run = Bench().run(team, model)
    assert (run.status, run.answer) == ("done", "blue")


@pytest.mark.parametrize(("tokens", "k"), [(1000, 10), (149, 1), (151, 2), (1, 1)])
def test_as_many_copies_as_take_the_same_tokens(tmp_path: Path, tokens: int, k: int) -> None:
    single, other = results(tmp_path / "a", 100), results(tmp_path / "b", tokens, samples=9)
    assert tokens_each(other) == tokens
    assert matching(single, other) == k


def test_what_consumed_nothing_can_be_matched_by_nothing(tmp_path: Path) -> None:
    free = kept(tmp_path / "free", [sample("t", 1.0)])
    with pytest.raises(InputError, match="it used no tokens"):
        matching(free, free)
    with pytest.raises(InputError, match="there is no such file"):
        matching(tmp_path, free)


def test_tools_are_granted_to_agents_that_can_use_them() -> None:
    agents = {
        "plain": Agent(id="plain", prompt="Think."),
        "handy": Agent(
            id="handy", prompt="Look.", agent_type="ToolCallingAgent", tools=("read_file",)
        ),
    }
    team = Team(name="two", agents=agents, reports_to={"plain": ("handy",)})
    tooled = equipped(team, ["read_file", "list_files"])
    assert tooled.agents["plain"] == agents["plain"]
    assert tooled.agents["handy"].tools == ("read_file", "list_files")
    with pytest.raises(InputError, match="two: no agent that lacks these tools can use tools"):
        equipped(tooled, ["list_files"])
    with pytest.raises(InputError, match="direct: no agent"):
        equipped(load_team(SEEDS / "direct.yaml"), ["list_files"])
