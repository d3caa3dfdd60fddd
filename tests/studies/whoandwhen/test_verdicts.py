"""Both verdicts, and what a blind draw gets, by hand."""

from dataclasses import astuple

import pytest

from studies.whoandwhen.chance import chance_of
from studies.whoandwhen.published import Labelled
from studies.whoandwhen.verdicts import Told, Verdict, exact, original

BOTH, NONE = Verdict(agent=True, step=True), Verdict(agent=False, step=False)


def test_the_original_takes_a_number_that_contains_the_labels(labels: tuple[Labelled, ...]) -> None:
    orchestrator = labels[2]
    report = Told(agent="Orchestrator", step=12)
    assert original(orchestrator, report) == BOTH
    assert exact(orchestrator, report) == Verdict(agent=True, step=False)
    assert exact(orchestrator, Told(agent="Orchestrator", step=2)) == BOTH


def test_the_original_takes_a_name_that_contains_the_labels(labels: tuple[Labelled, ...]) -> None:
    hall = labels[0]
    report = Told(agent="Town_Hall_Expert", step=3)
    assert original(hall, report) == BOTH
    assert exact(hall, report) == Verdict(agent=False, step=True)


def test_the_original_reads_a_name_as_far_as_a_word_goes(labels: tuple[Labelled, ...]) -> None:
    half_door, orchestrator = labels[1], labels[2]
    report = Told(agent="Half-Door_Expert", step=1)
    assert original(half_door, report) == Verdict(agent=False, step=True)
    assert exact(half_door, report) == BOTH
    assert original(orchestrator, Told(agent="Orchestrator (-> WebSurfer)", step=2)) == BOTH


def test_the_original_goes_by_capitals(labels: tuple[Labelled, ...]) -> None:
    report = Told(agent="WebSurfer", step=3)
    assert original(labels[3], report) == Verdict(agent=False, step=True)
    assert exact(labels[3], report) == BOTH


def test_who_blames_nobody_is_wrong(labels: tuple[Labelled, ...]) -> None:
    assert original(labels[0], None) == exact(labels[0], None) == NONE


def test_chance_is_counted(labels: tuple[Labelled, ...]) -> None:
    """Agent exactly and by the original, step exactly and by the original."""
    chances = {label.id: astuple(chance_of(label)) for label in labels}
    assert chances == {
        "algorithm-generated/1": pytest.approx((1 / 4, 1 / 4, 1 / 5, 1 / 5)),
        "algorithm-generated/2": pytest.approx((1 / 2, 0, 1 / 3, 1 / 3)),
        "hand-crafted/1": pytest.approx((1 / 2, 1 / 2, 1 / 13, 2 / 13)),
        "hand-crafted/2": pytest.approx((1 / 2, 0, 1 / 4, 1 / 4)),
        "hand-crafted/10": pytest.approx((1 / 2, 1 / 2, 1 / 3, 1 / 3)),
    }
