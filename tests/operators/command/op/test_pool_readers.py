"""Inputs of operators that are read from a pool: what its population makes of them."""

import pytest

from coterie.operators.methods.evochamber.seating import STRUCTURES
from coterie.pool import Pool
from coterie.pool.ledger.changes import Retired

from ..acting import TASKED, mas, run, structured, voting

DEBATE = structured(reason="it helped", structure="debate")
NOTE = structured(note="All said the same.")


@pytest.mark.usefixtures("shared_world")
def test_a_leader_is_shown_who_works_and_earlier_rounds() -> None:
    done = mas("lead", "town", "cyn", "ada", *TASKED, replies=DEBATE)
    assert done.err == "team: cyn (anchor), ada (complement)\nwhy: it helped\n"
    [call] = done.asked
    assert "You are called cyn." in call.text
    assert "They found the slip." in call.text
    done = mas("lead", "town", *TASKED, "--bank", "0", "--seed", "1", replies=DEBATE)
    assert (done.code, done.out) == (0, "debate\n")
    assert "They found the slip." not in done.asked[0].text


@pytest.mark.usefixtures("shared_world")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("lead", "town", "dan"), "no agent 'dan' is in this pool. Agents: ada, ben, cyn."),
        (("lead", "town", "--team-size", "4"), "a team of 4 cannot be made of 3 agents"),
        (
            ("lead", "town", "ada", "--structure", STRUCTURES[1]),
            "no structure works with only anchor.",
        ),
        (("lead", "town", "--structure", "seed:croto"), "croto is no structure of a population"),
        (
            ("lead_review", "town", STRUCTURES[0], "--run", "vote_run"),
            "voting: no agent of a pool has the anchor's seat.",
        ),
    ],
)
def test_what_cannot_be_led_is_refused(words: tuple[str, ...], message: str) -> None:
    done = mas(*words, *TASKED)
    assert (done.code, done.asked) == (2, [])
    assert message in done.err


@pytest.mark.usefixtures("world")
def test_a_leader_says_why_a_structure_did_or_did_not_work() -> None:
    done = mas("lead_review", "town", voting(), "--run", "vote_run", replies=NOTE)
    assert "the team's answer: 0\n" in done.asked[0].text
    assert "ada (anchor): 0.65 on sums" in done.asked[0].text
    run(voting(), "-q", "Why?", folder="unscored", replies="7")
    review = ("lead_review", "town", voting(), "--run", "unscored")
    done = mas(*review)
    assert (done.code, done.asked) == (2, [])
    assert "Add one: --reward 0.5." in done.err
    done = mas(*review, "--reward", "0.25", replies=NOTE)
    assert "the team's answer: 0.25" in done.asked[0].text


@pytest.mark.usefixtures("world")
def test_an_agent_that_is_not_there_or_retired_is_refused_before_anything_is_spent() -> None:
    Pool.open("town").commit(Retired(member="ben", reason="old"), op="retired")
    for words, message in (
        (("fork", "town", "ben"), "ben is retired. Bring it back: mas-pool restore town ben"),
        (("fork", "town", "eve"), "eve"),
        (("merge", "town", "ada", "ada"), "cannot be merged with itself"),
        (
            ("specialize", "town", "cyn"),
            "cyn has not worked on a task with a niche. Add --niche NICHE.",
        ),
    ):
        done = mas(*words)
        assert (done.code, done.asked) == (2, [])
        assert message in done.err
