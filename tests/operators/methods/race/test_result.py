"""The report of a race, as people read it."""

from dataclasses import replace

from coterie.operators.methods.race.result import Entrant

from .pages.races import RACE


def test_a_merge_of_merges_says_each_reason_once() -> None:
    def entrant(number: int, parent: int, partner: int | None = None) -> Entrant:
        kind, reason = ("merge", "Both help: …") if partner else ("hypothesis", f"Try {number}.")
        return Entrant(number=number, parent=parent, partner=partner, kind=kind, reason=reason)

    entrants = (
        RACE.entrants[0], entrant(1, 0), entrant(2, 0), entrant(3, 0), entrant(4, 1, 2),
        entrant(5, 3, 2), entrant(6, 4, 5),
    )  # fmt: skip
    lines = str(replace(RACE, entrants=entrants, leader=6)).splitlines()
    assert lines[1:4] == ["  hypothesis: Try 1.", "  merge: Try 2.", "  merge: Try 3."]


def test_a_gain_that_does_not_show_says_how_many_tasks_it_takes_and_where_its_team_is() -> None:
    word = RACE.last_word
    assert word is not None
    entrants = (RACE.entrants[0], replace(RACE.entrants[1], member="solo_2"), *RACE.entrants[2:])
    unsure = replace(RACE, entrants=entrants, last_word=replace(word, low=-0.05))
    assert str(unsure).splitlines()[1] == (
        "Such a gain takes about 24 held-back tasks to show: add tasks, or raise --budget."
        " The candidate is in the pool: solo_2."
    )
    whole = replace(unsure, last_word=replace(word, low=-0.05, is_whole=True))
    assert "add tasks. The candidate" in str(whole)
    worse = replace(unsure, last_word=replace(word, winner=(0, 0, 1), low=-0.5, high=0.1))
    assert "Such a gain" not in str(worse)


def test_a_level_is_named_if_it_is_not_the_usual_one() -> None:
    word = RACE.last_word
    assert word is not None
    assert "[+0.050, +0.600], on 3 held-back tasks." in str(RACE)
    early = replace(RACE, last_word=replace(word, level=0.97))
    assert "[+0.050, +0.600], a 97% interval, on 3 held-back tasks." in str(early)
    assert early.value()["gain"]["level"] == 0.97


def test_one_held_back_task_is_no_plural() -> None:
    word = RACE.last_word
    assert word is not None
    alone = replace(word, tasks=("h0",), original=(0,), winner=(1,))
    assert ", on 1 held-back task." in str(replace(RACE, last_word=alone))
