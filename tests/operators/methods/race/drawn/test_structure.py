"""Votes, checks, seeds in place, and one agent less."""

from ....asking import PAIR, llm, seed, team
from .drawing import SOLO, drawn


def test_samples_vote_and_the_agent_itself_stays_as_it_is() -> None:
    three, five = (proposal.child for proposal in drawn("vote")[:2])
    assert three.output == "majority"
    assert three.predecessors["majority"] == ("solver", "solver_2", "solver_3")
    assert three.agents["solver"] == SOLO.agents["solver"]
    assert three.agents["solver_2"].temperature == 0.7
    assert len(five.predecessors["majority"]) == 5


def test_new_agents_have_ids_of_their_own() -> None:
    again = drawn("check", drawn("check")[0].child)[0].child
    assert again.predecessors["checker_2"] == ("checker",)
    pair = team("pair", llm("solver_2"), llm("solver"))
    assert list(drawn("vote", pair)[0].child.predecessors["majority"]) == [
        "solver",
        "solver_2_2",
        "solver_3",
    ]


def test_an_agent_that_hears_others_votes_by_copies_that_hear_the_same() -> None:
    child = drawn("vote", PAIR)[0].child
    assert child.predecessors["judge_3"] == ("worker",)
    assert child.output == "majority"


def test_a_vote_gets_more_voters() -> None:
    (more,) = drawn("vote", seed("majority_vote_3"), "sentiment")
    assert len(more.child.predecessors["majority"]) == 5
    assert more.child.output == "majority"


def test_what_works_on_an_answer_is_copied_with_it() -> None:
    calculating = drawn("calculator")[0].child
    child = drawn("vote", calculating)[0].child
    assert child.predecessors["majority"] == ("calculator", "calculator_2", "calculator_3")
    assert child.predecessors["calculator_3"] == ("solver_3",)


def test_a_checker_reads_the_answer_and_gives_it() -> None:
    (proposal,) = drawn("check")
    assert proposal.child.output == "checker"
    assert proposal.child.predecessors["checker"] == ("solver",)


def test_a_seed_works_in_the_place_of_the_team_or_of_an_agent() -> None:
    whole = [proposal.child for proposal in drawn("seed")]
    assert [len(child.agents) for child in whole] == [1, 4, 7]
    reasons = {proposal.reason: proposal.child for proposal in drawn("seed", PAIR)}
    placed = reasons["Let majority_vote_3 work in the place of worker."]
    assert placed.predecessors["judge"] == ("worker_majority",)
    placed = reasons["Let majority_vote_3 work in the place of judge."]
    assert placed.output == "judge_majority"
    assert placed.predecessors["judge_reader_2"] == ("worker",)


def test_an_agent_is_left_out() -> None:
    (without_worker, without_judge) = (proposal.child for proposal in drawn("leave_out", PAIR))
    assert list(without_worker.agents) == ["judge"]
    assert list(without_judge.agents) == ["worker"]


def test_who_was_cut_off_gets_more_or_less_room() -> None:
    tokens = [proposal.child.agents["solver"].max_tokens for proposal in drawn("max_tokens")]
    assert tokens == [192, 48]
    assert drawn("max_tokens", trials=()) == []
