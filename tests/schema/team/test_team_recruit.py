"""`execution.recruit`, and who opens and meets: what loads, how it is written and compared."""

from dataclasses import replace
from typing import Any

import pytest

from coterie.schema import (
    Catalogue,
    Execution,
    Recruit,
    Rounds,
    Team,
    dump,
    parse_team,
)
from coterie.schema.edits import AddAgent, RemoveAgent, RenameAgent, words
from coterie.schema.picture import FORMATS, draw
from coterie.schema.team.team import Agent

from ...support.problems import problems_of
from ..edited import leading, made

KNOWN = Catalogue.of_host()
INCREMENT = "{type: object, properties: {increment: {type: array}}, required: [increment]}"
REVIEWS = "{type: object, properties: {reviews: {type: array}}, required: [reviews]}"
FILE = f"""\
name: ward
agents:
  scribe: {{prompt: "Sum it up."}}
  chief: {{prompt: "Choose."}}
  heart: {{prompt: "Say.", role: cardiologist, output_schema: {INCREMENT}}}
  nerve: {{prompt: "Say.", role: neurologist, output_schema: {INCREMENT}}}
  chair: {{prompt: "Merge."}}
  count: {{agent_type: Function, function: majority}}
  report: {{prompt: "Report."}}
topology:
  reports_to:
    scribe: [chief, report]
    chief: [report]
    heart: [chair, count]
    nerve: [chair, count]
    chair: [report]
    count: [report]
"""
GOOD = "recruit: {by: chief, among: [heart, nerve], most: 1}"
MET = "rounds: {most: 3, until: converged, opening: [scribe], meeting: chair, closing: [report]}"


def loaded(execution: str, *, text: str = FILE) -> Team:
    return parse_team(f"{text}execution: {{{execution}}}\n".encode(), "team.yaml", KNOWN)


def problems(execution: str, *, text: str = FILE) -> list[str]:
    return [
        problem.removeprefix("team.yaml:") for problem in problems_of(loaded, execution, text=text)
    ]


def test_a_team_says_who_chooses_and_who_opens_and_meets() -> None:
    execution = loaded(f"{GOOD}, {MET}").execution
    assert execution.recruit == Recruit(by="chief", among=("heart", "nerve"), most=1, free=False)
    assert execution.rounds == Rounds(
        most=3, until="converged", opening=("scribe",), meeting="chair", closing=("report",)
    )
    assert loaded(f"{GOOD}, {MET}").opening == {"scribe", "chief"}


def test_without_rounds_whoever_is_heard_by_the_one_that_chooses_opens_with_it() -> None:
    assert loaded(GOOD).opening == {"scribe", "chief"}
    assert loaded("timeout: 9").opening == frozenset()


@pytest.mark.parametrize(
    ("execution", "message"),
    [
        ("recruit: {by: chief}", "recruit: among is missing."),
        ("recruit: {by: cheif, among: [heart]}", "recruit.by: no agent 'cheif'. Did you mean 'ch"),
        ("recruit: {by: chief, among: [hart]}", "recruit.among[0]: no agent 'hart'. Did you mean"),
        ("recruit: {by: chief, among: []}", "recruit.among: 0 agents"),
        ("recruit: {by: report, among: [heart]}", "recruit.by: 'report', whose output is the ans"),
        ("recruit: {by: heart, among: [nerve]}", "recruit.by: the output_schema of 'heart' is mad"),
        (
            "recruit: {by: count, among: [chief]}",
            "recruit.by: 'count' asks no model, so it cannot choose. Name one that does.",
        ),
        ("recruit: {by: chief, among: [chief]}", "recruit.among[0]: 'chief' recruits, so it cann"),
        (
            "recruit: {by: chief, among: [heart, report]}",
            "recruit.among[1]: 'report', whose output is the answer, always takes part.",
        ),
        (
            "recruit: {by: chief, among: [scribe]}",
            "recruit.among[0]: 'scribe' works before 'chief' has chosen, which hears it. Leave it",
        ),
        (
            "recruit: {by: chief, among: [count], free: true}",
            "recruit.among[0]: 'count' asks no model, so it is no seat for anybody.",
        ),
        (f"{GOOD}, rounds: {{most: 2}}", "recruit: 'chief' works before the rounds, but hears scr"),
        (
            "rounds: {most: 2, opening: [chief]}",
            "rounds.opening[0]: 'chief' works before the rounds, but hears scribe. Let them open",
        ),
        ("rounds: {most: 2, opening: [report]}", "rounds.opening[0]: 'report' works before the r"),
        ("rounds: {most: 2, opening: [skribe]}", "rounds.opening[0]: no agent 'skribe'. Did you"),
        ("rounds: {most: 2, until: converged, meeting: cher}", "rounds.meeting: no agent 'cher'."),
        (
            "rounds: {most: 2, meeting: chair}",
            "rounds.meeting: there is nothing to meet about without until: converged. Leave it",
        ),
        (
            "rounds: {most: 2, until: converged, meeting: chair}",
            "rounds.meeting: 'chair' meets between rounds, but report in the rounds would hear it.",
        ),
        (
            "rounds: {most: 2, until: converged, meeting: chief, closing: [report]}",
            "rounds.meeting: 'chief' does not hear heart, nerve. Let them report to it.",
        ),
        (
            "rounds: {most: 2, opening: [scribe], closing: [report, scribe]}",
            "rounds.closing[1]: 'scribe' opens and closes. Leave it out of one of them.",
        ),
        (
            "rounds: {most: 2, until: accepted}",
            "rounds.until: no agent that works in the rounds reviews. Give those who review an ou",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_place(execution: str, message: str) -> None:
    texts = [problem.split("error: execution.")[1] for problem in problems(execution)]
    assert any(name.startswith(message) for name in texts), texts


def test_consulting_needs_somebody_who_says_what_is_new() -> None:
    [text] = problems("rounds: {most: 2, until: converged}", text=FILE.replace("increment", "x"))
    assert "no agent that works in the rounds can report that it has nothing new." in text


def test_work_that_is_to_be_accepted_is_reviewed_by_somebody() -> None:
    text = FILE.replace(INCREMENT, REVIEWS, 1)  # heart reviews whoever reports to it: nobody
    texts = problems("rounds: {most: 2, until: accepted, closing: [report]}", text=text)
    assert "rounds.until: no agent reviews 'nerve', so its work is never accepted." in "".join(
        texts
    )


SAID = loaded(f"{GOOD}, {MET}")
PLAIN = replace(SAID, execution=Execution())
FREE = replace(SAID, execution=Execution(recruit=Recruit(by="chief", among=("nerve",), free=True)))


@pytest.mark.parametrize("team", [SAID, PLAIN, FREE])
def test_a_team_is_written_as_it_was_read(team: Team) -> None:
    assert parse_team(dump(team).encode(), "team.yaml", KNOWN) == team


@pytest.mark.parametrize("before", [SAID, PLAIN, FREE])
@pytest.mark.parametrize("after", [SAID, PLAIN, FREE])
def test_a_difference_leads_from_one_team_to_the_other(before: Team, after: Team) -> None:
    leading(before, after)
    assert (before == after) == (before.content_hash == after.content_hash)


def test_words_say_who_chooses_and_who_meets() -> None:
    assert [*words(PLAIN, SAID)] == [
        "execution: recruit none -> chief chooses at most 1 of heart, nerve, rounds none -> scribe"
        " first, then at most 3 rounds until converged with meetings of chair, then report"
    ]
    assert [*words(PLAIN, FREE)] == ["execution: recruit none -> chief fills at most 1 of nerve"]


def edited(*edits: Any) -> Team:
    return made(SAID, *edits)


def test_all_that_names_agents_follows_them() -> None:
    ids = {"scribe": "clerk", "chief": "head", "heart": "cardio", "chair": "host", "report": "end"}
    execution = edited(*(RenameAgent(agent=old, id=new) for old, new in ids.items())).execution
    assert execution.recruit == Recruit(by="head", among=("cardio", "nerve"), most=1)
    assert execution.rounds == Rounds(
        most=3, until="converged", opening=("clerk",), meeting="host", closing=("end",)
    )


def test_who_goes_is_named_no_more() -> None:
    without = edited(RemoveAgent(agent="chair"), RemoveAgent(agent="heart")).execution
    assert without.recruit == Recruit(by="chief", among=("nerve",), most=1)
    assert without.rounds is not None
    assert without.rounds.meeting is None
    assert edited(RemoveAgent(agent="chief")).execution.recruit is None


def test_a_newcomer_whom_somebody_hears_that_opens_opens_as_well() -> None:
    new = Agent(id="usher", prompt="Read the file.")
    result = edited(AddAgent(agent=new, reports_to=("scribe",)))
    assert result.execution.rounds is not None
    assert result.execution.rounds.opening == ("scribe", "usher")


@pytest.mark.parametrize("form", FORMATS)
def test_every_picture_tells_who_does_what(form: str) -> None:
    shown = draw(SAID, form)
    counts = [shown.count(word) for word in ("opens", "recruits", "on call", "meets", "closes")]
    assert counts == [1, 1, 2, 1, 1]
    assert "at most 1 of 2 recruited" in shown
    assert "seat" in draw(FREE, form)
