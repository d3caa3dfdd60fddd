"""`execution.roster`: what loads and what does not, how it is written, compared and bounded."""

from dataclasses import replace
from typing import Any

import pytest

from coterie.schema import Agent, Catalogue, Execution, Roster, Team, dump, parse_team
from coterie.schema.edits import (
    AddAgent,
    RemoveAgent,
    RenameAgent,
    SetExecution,
    apply,
    diff,
    is_tied,
    words,
)
from coterie.schema.explain.explanation import explain
from coterie.schema.loading.ceiling import CapabilityPolicy
from coterie.schema.picture import FORMATS, draw

from ...support.problems import problems_of
from ..edited import leading, made

KNOWN = Catalogue.of_host()
FILE = """\
name: crew
agents:
  planner: {prompt: "Lead."}
  coder: {prompt: "Write."}
  critic: {prompt: "Judge."}
"""


def loaded(roster: str, *, text: str = FILE, execution: str = "", more: str = "") -> Team:
    file = f"{text}{more}execution: {{{execution}roster: {{{roster}}}}}\n"
    return parse_team(file.encode(), "team.yaml", KNOWN)


def problems(roster: str, **changes: Any) -> list[str]:
    return [
        problem.removeprefix("team.yaml:") for problem in problems_of(loaded, roster, **changes)
    ]


def test_a_roster_has_the_limits_of_the_paper_unless_it_says_others() -> None:
    usual = Roster(lead="planner", alive=8, messages=600, turns=50, wrap_up=240, memory=150)
    assert loaded("lead: planner").execution.roster == usual
    word = "lead: coder, alive: 2, messages: 9, turns: 3, wrap_up: 1.5, memory: 20"
    own = Roster(lead="coder", alive=2, messages=9, turns=3, wrap_up=1.5, memory=20)
    assert loaded(word).execution.roster == own
    assert loaded("lead: coder").output == "coder"


@pytest.mark.parametrize(
    ("roster", "message"),
    [
        ("alive: 3", ": lead is missing. The agent that begins."),
        ("lead: planer", ".lead: no agent 'planer'. Did you mean 'planner'?"),
        ("lead: planner, alive: 0", ".alive: 0 is out of range (agents, 1 to 1000). Write a num"),
        ("lead: planner, turns: 0", ".turns: 0 is out of range (turns, 1 to 1000). Write a num"),
        ("lead: planner, leed: x", ".leed: unknown field. Did you mean 'lead'?"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(roster: str, message: str) -> None:
    first = problems(roster)[0].partition("execution.roster")[2]
    assert first.startswith(message.removeprefix("execution.roster"))


def test_nothing_stands_beside_a_roster_that_says_who_works_when() -> None:
    texts = problems(
        "lead: planner",
        more="topology: {reports_to: {coder: [critic]}, output: critic}\n",
        execution="context: all, rounds: {most: 2}, recruit: {by: planner, among: [coder]}, ",
    )
    places = [name.split(": ")[2] for name in texts]
    assert places == [
        "topology.reports_to",
        "topology.output",
        "execution.context",
        "execution.rounds",
        "execution.recruit",
    ]
    assert texts[0].endswith(
        "an open roster has no edges: the lead decides who works for whom during the run. Leave it"
        " out,"
        " or leave out execution.roster."
    )
    assert "'critic' is not the lead, 'planner', which gives the answer." in texts[1]


def test_every_candidate_acts() -> None:
    text = f"{FILE}  count: {{agent_type: Function, function: majority}}\n"
    assert problems("lead: planner", text=text)[0].endswith(
        "agents.count: 'count' asks no model, so it can neither read mail nor act. Leave it out, or"
        " leave out execution.roster."
    )
    text = FILE.replace('"Judge."', '"Judge.", output_schema: {type: object}')
    assert loaded("lead: planner", text=text).agents["critic"].output_schema


@pytest.mark.parametrize("on_roster", [True, False])
def test_no_tool_is_called_like_an_act(on_roster: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    text = FILE.replace('"Write."', '"Write.", agent_type: ToolCallingAgent, tools: [send]')
    known = replace(KNOWN, tools=frozenset({*KNOWN.tools, "send"}))
    monkeypatch.setitem(globals(), "KNOWN", known)
    if on_roster:
        [line] = problems("lead: planner", text=text)
        assert "for a model, 'send' and a way to act on its team are both called send" in line
    else:
        edges = "topology: {reports_to: {coder: [planner], critic: [planner]}}\n"
        assert parse_team(f"{text}{edges}".encode(), "team.yaml", known)


OPEN = loaded("lead: planner")
SMALL = loaded("lead: critic, alive: 2, turns: 5")
CHAIN = parse_team(
    f"{FILE}topology: {{reports_to: {{coder: [critic], critic: [planner]}}}}\n".encode(),
    "team.yaml",
    KNOWN,
)
TEAMS = [OPEN, SMALL, CHAIN]


@pytest.mark.parametrize("team", TEAMS)
def test_a_team_is_written_as_it_was_read(team: Team) -> None:
    assert parse_team(dump(team).encode(), "team.yaml", KNOWN) == team


def test_only_what_is_said_is_written() -> None:
    assert dump(OPEN).endswith("execution:\n  roster:\n    lead: planner\n")
    assert "roster" not in dump(CHAIN)


def test_the_roster_counts_in_the_content() -> None:
    hashes = {team.content_hash for team in TEAMS}
    assert len(hashes) == 3
    alive = loaded("alive: 8, lead: planner")
    assert alive.content_hash == OPEN.content_hash


@pytest.mark.parametrize("before", TEAMS)
@pytest.mark.parametrize("after", TEAMS)
def test_a_difference_leads_from_one_team_to_the_other(before: Team, after: Team) -> None:
    edits = leading(before, after)
    assert {edit.component for edit in edits} <= {"parameters", "topology"}


def test_words_say_who_leads_and_within_which_limits() -> None:
    closed = replace(CHAIN, reports_to={}, execution=Execution())
    assert [*words(closed, SMALL)] == [
        "execution: roster none -> open, led by critic, alive 2, turns 5"
    ]
    assert [*words(SMALL, OPEN)] == [
        "execution: roster open, led by critic, alive 2, turns 5 -> open, led by planner"
    ]


def test_candidates_come_and_go_without_edges() -> None:
    tester = Agent(id="tester", prompt="Test.")
    more = made(OPEN, AddAgent(agent=tester))
    assert ([*more.agents], more.edges) == (["planner", "coder", "critic", "tester"], ())
    fewer = made(more, RemoveAgent(agent="coder"))
    assert ([*fewer.agents], fewer.edges) == (["planner", "critic", "tester"], ())
    assert apply(fewer, diff(fewer, OPEN), KNOWN) == OPEN


def test_the_lead_follows_to_another_id_and_cannot_go() -> None:
    renamed = made(OPEN, RenameAgent(agent="planner", id="boss"))
    assert (renamed.output, renamed.execution.roster) == ("boss", Roster(lead="boss"))
    assert diff(OPEN, renamed) == (RenameAgent(agent="planner", id="boss"),)
    refused = apply(OPEN, [RemoveAgent(agent="planner")], KNOWN)
    assert not isinstance(refused, Team)
    [report] = refused.problems
    assert (report.path, report.message) == (
        "execution.roster.lead",
        "no agent 'planner'. Agents: coder, critic.",
    )
    led = [RemoveAgent(agent="planner"), SetExecution(field="roster", value={"lead": "coder"})]
    other = made(OPEN, *led)
    assert other.output == "coder"
    assert apply(OPEN, diff(OPEN, other), KNOWN) == other


def test_nothing_is_offered_about_the_structure_of_an_open_roster() -> None:
    alone = parse_team(
        b'name: t\nagents: {a: {prompt: "Go on."}}\nexecution: {roster: {lead: a}}\n',
        "team.yaml",
        KNOWN,
    )
    assert not is_tied(alone)
    assert not is_tied(OPEN)


@pytest.mark.parametrize("form", FORMATS)
def test_every_picture_tells_who_leads(form: str) -> None:
    shown = draw(SMALL, form)
    assert "open roster, at most 2 at a time" in shown
    assert shown.count("leads") == 1
    assert "on call" in shown
    assert "roster" not in draw(CHAIN, form)


def test_turns_count_under_the_ceiling() -> None:
    ceiling = CapabilityPolicy.of(CHAIN)
    assert (ceiling.rounds, CapabilityPolicy.of(CHAIN, SMALL).rounds) == (1, 5)
    [report] = ceiling.problems(SMALL)
    assert (report.path, report.message) == (
        "execution.roster.turns",
        "5 turns; the ceiling allows 1.",
    )
    assert not CapabilityPolicy.of(OPEN).problems(SMALL)


def test_it_is_explained() -> None:
    report = explain("execution.roster.alive")
    assert "integer, 1 to 1000 agents" in report
    assert "The most agents that are active at the same time" in report
