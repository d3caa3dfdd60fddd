"""A difference in people's words."""

from dataclasses import replace

from hypothesis import given

from coterie.schema import Agent, Catalogue, Execution, Rounds, SolvedTask, Team, load_team
from coterie.schema.edits import Tone, changes, summary, unified, words

from ..strategies import fewer
from .strategies import relatives
from .test_applying import llm, team


def said(before: Team, after: Team) -> list[str]:
    return list(words(before, after))


def test_agents_with_the_same_changes_share_a_line() -> None:
    before = load_team("seeds/majority_vote.yaml", Catalogue.of_host())
    agents = {
        item: replace(agent, model_id="large", tools=("read_file", "shell"), temperature=None)
        if item != "aggregator"
        else agent
        for item, agent in before.agents.items()
    }
    assert said(before, replace(before, agents=agents)) == [
        "worker_1..6: model default -> large, tools -list_files -search_text +shell,"
        " temperature 0.7 -> none"
    ]


def test_edges_are_counted_and_named_together() -> None:
    before = load_team("seeds/debate.yaml", Catalogue.of_host())
    first = {agent for agent in before.agents if agent.endswith("_round_1")}
    fewer = {
        sender: ("moderator",) if sender in first else receivers
        for sender, receivers in before.reports_to.items()
    }
    assert said(before, replace(before, reports_to=fewer, declared_output=None)) == [
        "topology: -36 edges, +6 edges, output moderator -> none",
        "    - debater_1..6_round_1 -> debater_1..6_round_2",
        "    + debater_1..6_round_1 -> moderator",
    ]


def test_who_came_went_and_was_renamed() -> None:
    before = team("aj", "bj", "cj", "dj", agents="a b c d j")
    renamed = {"x": replace(llm("x", model_id="fast")), "y1": llm("y1"), "y2": llm("y2")}
    before = replace(before, agents={**before.agents, "d": llm("d", model_id="fast")})
    judge = Agent(id="j", prompt="Judge them.")
    before = replace(before, agents={**before.agents, "j": judge})
    after = replace(
        before,
        agents={**renamed, "j": judge, "n1": Agent(id="n1", role="new", function="concat")},
        reports_to={"x": ("j",), "y1": ("j",), "y2": ("j",), "n1": ("j",)},
    )
    lines = said(before, after)
    assert lines[0] == "agents: -c, +n1, a -> y1, b -> y2, d -> x, another order"
    assert lines[1:4] == ["    + n1:", "    +   role: new", "    +   function: concat"]
    assert lines[4:] == ["topology: -1 edge, +1 edge", "    - c -> j", "    + n1 -> j"]


def test_long_texts_are_compared_line_by_line() -> None:
    before = team(constitution="Be brief.\nBe kind.\nBe right.\n")
    prompt = "Solve the task.\nThen check the result in another way.\n"
    agents = {item: replace(agent, prompt=prompt) for item, agent in before.agents.items()}
    after = replace(before, agents=agents, constitution="Be brief.\nBe bold.\nBe right.\n")
    assert said(before, after) == [
        "prompt of a, b, j: +1 line",
        "    @@ -1 +1,2 @@",
        "     Solve the task.",
        "    +Then check the result in another way.",
        "constitution: -1 line, +1 line",
        "    @@ -1,3 +1,3 @@",
        "     Be brief.",
        "    -Be kind.",
        "    +Be bold.",
        "     Be right.",
    ]


def test_how_a_text_ends_is_a_difference() -> None:
    before, after = team(constitution="Be brief."), team(constitution="Be brief.\n")
    assert said(before, after)[0] == "constitution: +1 line"


def test_a_list_has_no_key() -> None:
    before, after = team(), team(successful_tasks=(SolvedTask(q="How many?"),))
    assert said(before, after)[:1] == ["successful_tasks: +1 line"]
    assert said(before, after)[-1] == "    +- q: How many?"


def test_structured_values_are_compared_as_yaml() -> None:
    schema = {"type": "object", "properties": {"answer": {"type": "string"}}}
    before = Team(name="t", agents={"a": llm("a")})
    after = Team(name="t", agents={"a": llm("a", output_schema=schema)})
    assert said(before, after)[0] == "output_schema of a: +4 lines"
    assert "    +type: object" in said(before, after)


def test_how_the_team_is_run_and_what_it_is_called() -> None:
    before = team(description="Two.", backend="llm")
    after = replace(
        before, name="u", description="", execution=Execution(timeout=60, on_error="skip")
    )
    assert summary(before, after) == (
        "execution: timeout 600 -> 60, on_error fail -> skip",
        "team: name t -> u, description Two. -> none",
    )


def test_what_goes_and_what_comes_have_their_own_colours() -> None:
    def paint(text: str, tone: Tone, /) -> str:
        return f"<{tone}>{text}</{tone}>"

    before = Team(name="t", agents={"a": llm("a", tools=("x", "y"))})
    prompt = "Solve the task.\nCheck it."
    agent = replace(llm("a", tools=("y", "z"), model_id="fast"), prompt=prompt)
    execution = Execution(rounds=Rounds(most=3))
    after = Team(name="t", agents={"a": agent}, execution=execution)
    assert [*words(before, after, paint)] == [
        "<name>a</name>: model <old>default</old> -> <new>fast</new>,"
        " tools <old>-x</old> <new>+z</new>",
        "<name>execution</name>: rounds <old>none</old> ->"
        " <new>at most 3 rounds until unchanged</new>",
        "<name>prompt of a</name>: +1 line",
        "    <place>@@ -1 +1,2 @@</place>",
        "     Solve the task.",
        "    <new>+Check it.</new>",
    ]


def test_order_alone_is_told() -> None:
    assert summary(team("aj", "bj"), team("bj", "aj")) == ("topology: edges in another order",)
    assert summary(team(), team(agents="j a b")) == ("agents: another order",)
    item = Team(name="t", agents={"a": llm("a", tools=("x", "y"))})
    other = Team(name="t", agents={"a": llm("a", tools=("y", "x"))})
    assert summary(item, other) == ("a: tools in another order",)


def test_what_a_terminal_would_act_on_is_shown_as_a_code() -> None:
    assert unified("a\rb", "a\x1b[2Jb") == ["@@ -1 +1 @@", "-a\\u000db", "+a\\u001b[2Jb"]
    after = Team(name="t", agents={"a": llm("a", role="x\ry")})
    assert summary(Team(name="t", agents={"a": llm("a")}), after) == ("a: role none -> x\\u000dy",)


@fewer(2)
@given(relatives())
def test_words_are_said_where_something_differs(drawn: tuple[Team, Team]) -> None:
    lines = said(*drawn)
    assert bool(lines) == bool(changes(*drawn))
    assert all(line.isprintable() or "\t" in line for line in lines)
    assert len(summary(*drawn)) == sum(not line.startswith("    ") and bool(line) for line in lines)
