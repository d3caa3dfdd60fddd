"""What counts as an utterance: who consults, when asked, with what was read before."""

from dataclasses import replace

from coterie.operators.core.utterances import utterances
from coterie.schema import Team

from ..consulting import consultation, made, once
from ..rounds import TRIO, did


def turns(of: Team, *, settled: frozenset[str] = frozenset()) -> list[tuple[str, int]]:
    return [utterance.turn for utterance in utterances(made(of, settled=settled))]


def test_those_who_work_in_each_round_say_one_utterance_in_each_and_who_decides_none() -> None:
    assert turns(consultation()) == [("heart", 1), ("brain", 1), ("heart", 2), ("brain", 2)]


def test_an_agent_that_was_not_asked_again_says_nothing_new() -> None:
    settled = frozenset({"heart"})
    assert turns(consultation(), settled=settled) == [("heart", 1), ("brain", 1), ("brain", 2)]


def test_an_agent_that_failed_said_nothing() -> None:
    failed = {("heart", 1): did(error="timed out")}
    result = utterances(made(consultation(), failed))
    assert [item.turn for item in result] == [("brain", 1), ("heart", 2), ("brain", 2)]


def test_without_rounds_all_but_the_one_who_answers_are_credited() -> None:
    assert [utterance.turn for utterance in utterances(once(TRIO))] == [
        ("planner", 1),
        ("solver", 1),
    ]


def test_a_function_says_nothing_that_it_could_learn_from() -> None:
    sorting = replace(TRIO.agents["planner"], agent_type="Function", function="concat", prompt="")
    of = replace(TRIO, agents={**TRIO.agents, "planner": sorting})
    assert [utterance.agent for utterance in utterances(once(of))] == ["solver"]


def test_reports_letters_and_its_own_words_are_what_it_read() -> None:
    table = {utterance.turn: utterance for utterance in utterances(made(consultation()))}
    assert table["heart", 1].read == ""
    assert table["brain", 1].read == "report of heart:\nheart in 1"
    assert table["heart", 2].read.split("\n\n") == [
        "letter of brain:\nbrain in 1",
        "what it had said before:\nheart in 1",
    ]
    assert table["brain", 2].read.split("\n\n") == [
        "report of heart:\nheart in 2",
        "what it had said before:\nbrain in 1",
    ]
    assert table["brain", 2].text == "brain in 2"


def test_the_bulletin_is_what_it_read() -> None:
    table = {
        utterance.turn: utterance
        for utterance in utterances(made(consultation(), settled=frozenset({"heart"})))
    }
    assert "bulletin:\nnothing new" in table["brain", 2].read


def test_long_words_are_cut() -> None:
    long = {("heart", 1): did("x" * 90_000)}
    result = utterances(made(consultation(), long), most=200)
    assert max(len(text) for item in result for text in (item.text, item.read)) == 200


def test_which_agent_of_the_pool_it_is_comes_along() -> None:
    of = consultation()
    grown = replace(of, agents={**of.agents, "heart": replace(of.agents["heart"], member="anna")})
    assert {utterance.member for utterance in utterances(made(grown))} == {"anna", None}


def test_who_consults_and_has_nothing_new_says_nothing() -> None:
    of = consultation()
    form = {"type": "object", "properties": {"increment": {"type": "array"}}}
    heart = replace(of.agents["heart"], output_schema=form)
    consulting = replace(of, agents={**of.agents, "heart": heart})
    table = {
        ("heart", 1): did('{"increment": ["A murmur."]}'),
        ("heart", 2): did('{"increment": ["a  murmur."]}'),
    }
    turns = [utterance.turn for utterance in utterances(made(consulting, table))]
    assert turns == [("heart", 1), ("brain", 1), ("brain", 2)]
