"""Worked examples: from the trials that are given and from nothing else, each label among them."""

import json
import random
import re
from dataclasses import replace

from coterie.operators.methods.race.drawn.choosing import Example, choose
from coterie.schema import ScorerChoice, Team

from ....asking import llm, seed, team
from .drawing import SOLO, drawn, tasks, trial, trials


def shown(of: Team, agent: str = "solver") -> list[tuple[str, str]]:
    """The questions and answers in an agent's prompt."""
    return re.findall(r"^Q: (.*)\nA: (.*)$", of.agents[agent].prompt, re.MULTILINE)


def test_examples_come_from_the_given_trials_only() -> None:
    given = {task.text: task.answer for task in tasks("coins")}
    proposals = drawn("examples")
    for proposal in proposals:
        pairs = shown(proposal.child)
        assert pairs
        assert len(pairs) == len(dict(pairs)) <= 8
        for query, answer in pairs:
            assert answer in {given[query], f"It is {given[query]}."}
    assert {len(shown(proposal.child)) for proposal in proposals} >= {2, 4, 8}
    assert drawn("examples", trials=()) == []


def test_every_label_is_shown_and_as_often() -> None:
    given = [trial(SOLO, task, "?", right=False) for task in tasks("sentiment", 20)]
    for proposal in drawn("examples", trials=given):
        answers = [answer for _, answer in shown(proposal.child)]
        assert answers.count("positive") == answers.count("negative")


def test_niches_are_shown_in_proportion() -> None:
    known = [
        Example(query=f"{niche} {number}", answer=str(number), niche=niche, label=str(number))
        for niche, count in (("many", 30), ("few", 10))
        for number in range(count)
    ]
    for number in range(20):
        niches = [example.niche for example in choose(known, 8, random.Random(number))]
        assert niches.count("many") == 6


def test_long_tasks_and_those_with_files_are_not_shown() -> None:
    small, long, filed, tested = tasks("coins", 4)
    long = replace(long, context="x" * 2_000)
    filed = replace(filed, files={"a.txt": "7"})
    tested = replace(tested, scorer=ScorerChoice(name="regex"))
    given = trials(SOLO, [small, long, filed, tested])
    given = [replace(wrong, score=replace(wrong.score, value=0.0)) for wrong in given]
    for proposal in drawn("examples", trials=given):
        assert [query for query, _ in shown(proposal.child)] == [small.text]


def test_a_new_draw_replaces_the_examples_that_a_prompt_ends_in() -> None:
    first = drawn("examples")[0].child
    second = drawn("examples", first, chance=random.Random(8))[0].child
    assert shown(first) != shown(second)
    assert len(shown(second)) == len(shown(first)) == 4
    assert second.agents["solver"].prompt.startswith(SOLO.agents["solver"].prompt)


def test_an_agent_with_a_schema_is_shown_answers_in_its_form() -> None:
    form = {"type": "object", "properties": {"answer": {"type": "integer"}}}
    held = team("held", llm("solver", output_schema=form))
    given = [trial(held, task, "?", right=False) for task in tasks("coins")]
    answers = [answer for _, answer in shown(drawn("examples", held, trials=given)[0].child)]
    assert all(set(json.loads(answer)) == {"answer"} for answer in answers)
    assert all(isinstance(json.loads(answer)["answer"], int) for answer in answers)


def test_voters_are_shown_examples_of_their_own() -> None:
    child = drawn("examples", seed("majority_vote_3"), "sentiment")[1].child
    readers = [shown(child, f"reader_{number}") for number in (1, 2, 3)]
    assert all(readers)
    assert readers[0] != readers[1]
    assert child.agents["majority"].prompt == ""


def test_what_an_agent_wrote_in_runs_that_were_right_is_an_example_for_it() -> None:
    of = seed("translate_and_calculate")
    given = [trial(of, task, '{"expression": "1 + 1"}', right=True) for task in tasks("coins", 4)]
    changed = [
        agent
        for proposal in drawn("examples", of, trials=given)
        for agent in of.agents
        if "1 + 1" in proposal.child.agents[agent].prompt
    ]
    assert set(changed) == {"translator_1", "translator_2", "translator_3"}


def test_who_goes_on_and_on_gets_room_for_an_answer_only() -> None:
    long = [trial(SOLO, task, "Let us see. " * 9, right=False) for task in tasks("dates")]
    short = [trial(SOLO, task, "1 May 1990", right=False) for task in tasks("dates")]
    limits = [
        [proposal.child.agents["solver"].max_tokens for proposal in drawn("examples", trials=given)]
        for given in (long, short)
    ]
    assert set(limits[0]) == {len("1990-05-01") + 8, 96}
    assert set(limits[1]) == {96}
