"""What agents search with, how much of the prompt entries take, and what a draft costs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime import Caps, compile
from coterie.runtime.doubles import Reply, ScriptedModel
from coterie.runtime.messages.recall import LONGEST_QUERY, SHORTEST, MemoryEntry, fitting
from coterie.schema import Agent, Catalogue, Recall, Rounds, RunError, Task, dump
from coterie.schema.loading.ceiling import CapabilityPolicy
from coterie.schema.loading.loading import check_team, parse_team

from ..conftest import TASK, Bench, llm, team

FOUND = MemoryEntry(
    source="experience, fevers, e1",
    task="Which fever?",
    text="Look at the blood.",
    id="e1",
    similarity=0.75,
    credit=0.5,
    case="case_7",
)


class Searches:
    """A memory that notes what it was asked, and finds always the same."""

    def __init__(self, *entry: MemoryEntry) -> None:
        self.results = entry
        self.asked: list[tuple[str, int, Mapping[str, Any]]] = []

    async def __call__(
        self, query: str, k: int, where: Mapping[str, Any], /
    ) -> Sequence[MemoryEntry]:
        self.asked.append((query, k, where))
        return self.results[:k]


def solver(**recall: Any) -> Agent:
    return llm("solver", recall=Recall(**recall))


def shown(model: ScriptedModel) -> list[bool]:
    """Whether entries were shown, call by call."""
    return ["<learnt " in call.text for call in model.calls]


def test_a_draft_is_searched_with_before_the_task_and_then_answered_anew(bench: Bench) -> None:
    memory = Searches(FOUND)
    with ScriptedModel([Reply(text="a draft", latency=0.1), "an answer"]) as model:
        run = bench.one_pass(team(solver(k=1, by="draft")), model, recaller=memory)
        assert shown(model) == [False, True]
        assert "a draft" not in model.calls[1].text
    assert memory.asked == [(f"a draft\n\n{TASK.text}", 1, {})]
    agent = run.agents["solver"]
    assert (run.answer, run.usage.calls, agent.usage.calls) == ("an answer", 2, 2)
    assert agent.seconds <= run.seconds
    assert bench.of("drafted")[0].fields["content"] == "a draft"


def test_an_agent_whose_search_finds_nothing_has_answered_with_its_draft(bench: Bench) -> None:
    with ScriptedModel(["a draft"]) as model:
        run = bench.one_pass(team(solver(by="draft")), model, recaller=Searches())
        assert len(model.calls) == 1
    assert (run.answer, run.usage.calls, run.agents["solver"].attempts) == ("a draft", 1, 1)
    assert bench.of("recalled")[0].fields == {"by": "draft", "entries": [], "shown": 0}


def test_what_was_drafted_is_not_paid_for_again(bench: Bench, tmp_path: Path) -> None:
    drafting, memory = team(solver(by="draft")), Searches(FOUND)
    with ScriptedModel(["a draft", Reply.error(400, message="no"), "an answer"]) as model:
        failed = bench.one_pass(drafting, model, folder=tmp_path, recaller=memory)
        assert (failed.status, failed.usage.calls) == ("failed", 1)
        done = bench.one_pass(drafting, model, folder=tmp_path, recaller=memory)
        assert (done.answer, done.usage.calls, len(model.calls)) == ("an answer", 2, 3)
        again = bench.one_pass(drafting, model, folder=tmp_path, recaller=None)
        assert (again.answer, again.usage, len(model.calls)) == ("an answer", done.usage, 3)
    assert len(memory.asked) == 1


def test_a_draft_that_fails_is_the_agents_failure(bench: Bench) -> None:
    memory = Searches(FOUND)
    with ScriptedModel(Reply.error(400, message="no")) as model:
        run = bench.one_pass(team(solver(by="draft")), model, recaller=memory)
        assert len(model.calls) == 1
    assert (run.status, memory.asked) == ("failed", [])


def test_a_memory_that_fails_after_the_draft_counts_what_the_draft_took(bench: Bench) -> None:
    async def broken(_query: str, _k: int, _where: Mapping[str, Any], /) -> Sequence[MemoryEntry]:
        raise RunError("the embedder is out")

    with ScriptedModel("a draft") as model:
        run = bench.one_pass(team(solver(by="draft")), model, recaller=broken)
    assert (run.status, run.usage.calls) == ("failed", 1)
    assert run.agents["solver"].fault == "memory"


def test_a_draft_and_its_answer_share_the_agents_budget(bench: Bench) -> None:
    with ScriptedModel(["a draft", "an answer"]) as model:
        caps = Caps.parse("calls=1")
        run = bench.one_pass(
            team(solver(by="draft")), model, recaller=Searches(FOUND), agent_caps=caps
        )
        assert len(model.calls) == 1
    assert run.agents["solver"].status == "cancelled"
    assert run.usage.calls == 1


def test_a_plan_counts_the_drafts() -> None:
    schema = {"type": "object", "properties": {"label": {"type": "string"}}}
    plan = compile(
        team(solver(by="draft"), llm("b", recall=Recall(by="draft"), output_schema=schema)),
        Catalogue.of_host(),
    )
    assert [agent.calls_at_most for agent in plan.agents.values()] == [4, 2]
    assert compile(team(solver(by="opinion")), Catalogue.of_host()).calls_at_most == 1


def test_an_opinion_is_searched_with_from_the_second_round_on(bench: Bench) -> None:
    memory = Searches(FOUND)
    rounds = Rounds(most=3, until="never")
    with ScriptedModel(["first", "second" * 2_000, "third"]) as model:
        bench.run(team(solver(by="opinion"), rounds=rounds), model, recaller=memory)
    assert [query for query, *_ in memory.asked] == [
        TASK.text,
        f"first\n\n{TASK.text}",
        f"{('second' * 2_000)[:LONGEST_QUERY]}\n\n{TASK.text}",
    ]


def test_the_trace_says_what_was_retrieved(bench: Bench) -> None:
    with ScriptedModel("7") as model:
        bench.one_pass(team(solver(), llm("other")), model, recaller=Searches(FOUND))
    [event] = bench.of("recalled")
    origin = {"id": "e1", "similarity": 0.75, "credit": 0.5, "case": "case_7"}
    assert (event.agent, event.fields) == (
        "solver",
        {"by": "task", "entries": [origin], "shown": 1},
    )


def test_only_entries_of_the_tasks_niche_are_wanted_where_it_has_one(bench: Bench) -> None:
    memory = Searches()
    with ScriptedModel("7") as model:
        for niche in ("fevers", None):
            task = Task(id="t", query="Which?", niche=niche)
            recalling = team(solver(niche=True, of="own"))
            bench.one_pass(recalling, model, recaller=memory, task=task)
    wanted = [where for *_, where in memory.asked]
    assert wanted == [{"owner": "solver", "niche": "fevers"}, {"owner": "solver"}]


entries = st.lists(
    st.builds(
        MemoryEntry.clipped,
        source=st.text(max_size=90),
        task=st.text(max_size=400),
        text=st.text(max_size=3_000),
    ),
    max_size=6,
)


@given(entries, st.integers(500, 9_000))
def test_entries_take_no_more_room_than_they_may(result: list[MemoryEntry], room: int) -> None:
    fits = fitting(result, Recall(room=room))
    assert sum(fit.characters for fit in fits) <= room
    whole = [fit for fit, given in zip(fits, result, strict=False) if fit == given]
    assert list(fits[: len(whole)]) == result[: len(whole)]  # the closest first, none passed over
    assert len(fits) - len(whole) <= 1
    left = room - sum(item.characters for item in whole)
    if len(fits) == len(whole) < len(result):
        assert left - len(result[len(fits)].source) < SHORTEST


@given(entries)
def test_without_a_limit_entries_are_shown_as_they_are(result: list[MemoryEntry]) -> None:
    assert list(fitting(result, Recall())) == result


def test_room_cuts_what_the_agent_reads_and_not_what_was_found(bench: Bench) -> None:
    long = MemoryEntry(source="s", task="t" * 300, text="x" * 2_000, id="long")
    with ScriptedModel("7") as model:
        bench.one_pass(team(solver(room=600)), model, recaller=Searches(long, FOUND))
        text = model.calls[0].text
    assert text.count("<learnt ") == 1
    assert text.count("x") + text.count("t" * 100) < 600
    [event] = bench.of("recalled")
    assert [entry["id"] for entry in event.fields["entries"]] == ["long", "e1"]
    assert event.fields["shown"] == 1


DEEDS = """\
name: team
agents:
  asks: {prompt: Solve it., recall: {by: draft}}
  counts: {agent_type: Function, function: majority, recall: {by: draft}}
  looks: {agent_type: ToolCallingAgent, prompt: Look., tools: [list_files], recall: {by: draft}}
topology:
  reports_to: {asks: [counts], looks: [counts]}
"""


def test_who_does_more_than_answer_cannot_draft() -> None:
    known = Catalogue.of_host().granting(frozenset({"list_files"}))
    _, problems = check_team(DEEDS.encode(), "team.yaml", known)
    texts = [str(problem).partition(" would")[0] for problem in problems]
    why = "agents of type LLM can draft, and no others: this one of the backend"
    assert texts == [
        f"team.yaml:4:67: error: agents.counts.recall.by: {why} function",
        f"team.yaml:5:90: error: agents.looks.recall.by: {why} smolagents",
    ]


def test_a_file_says_how_an_agent_recalls_and_says_it_again() -> None:
    recalling = team(solver(k=1, by="draft", room=900, niche=True))
    written = dump(recalling)
    assert "by: draft" in written
    assert parse_team(written.encode(), "team.yaml", Catalogue.of_host()) == recalling


def test_a_ceiling_counts_a_draft_as_a_turn() -> None:
    once, drafting = team(solver()), team(solver(by="draft"))
    [problem] = CapabilityPolicy.of(once).problems(drafting)
    assert (problem.path, problem.message) == (
        "agents.solver.recall.by",
        "2 steps; the ceiling allows 1.",
    )
    assert not CapabilityPolicy.of(drafting).problems(drafting)


@pytest.mark.parametrize("by", ["task", "opinion"])
def test_nobody_else_drafts(bench: Bench, by: str) -> None:
    with ScriptedModel("7") as model:
        bench.one_pass(team(solver(by=by)), model, recaller=Searches())
        assert len(model.calls) == 1
    assert not bench.of("drafted")
