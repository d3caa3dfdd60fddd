"""Seating: who takes which place in a structure, and that what comes of it is a team that runs."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.operators.methods.evochamber.seating import (
    STRUCTURES,
    Seated,
    fits,
    keep_team,
    seat_of,
    seated,
    seats,
)
from coterie.operators.methods.evochamber.settings import PopulationSettings
from coterie.pool import Pool
from coterie.pool.ledger.changes import Learnt
from coterie.runtime.command.run import main as mas_run
from coterie.runtime.doubles import Reply, ScriptedModel, message_text
from coterie.runtime.doubles.script import Request
from coterie.schema import (
    Agent,
    Catalogue,
    ConfigError,
    InputError,
    Notes,
    Team,
    dump,
    load_team,
    parse_team,
)
from coterie.schema.loading.ceiling import CapabilityPolicy
from coterie.schema.loading.loading import team_path

from ....support.commands import invoked

KNOWN = Catalogue.of_host()
STANDARD = PopulationSettings()
TEMPLATES = {team.name: team for team in (load_team(team_path(item), KNOWN) for item in STRUCTURES)}
ORDER = ("anchor", "complement", "scout", "scout_2", "scout_3", "scout_4")


def member(number: int, **fields: object) -> Agent:
    record = {"role": "solver", "prompt": f"You are number {number}.", "max_tokens": 100 + number}
    return Agent(id=f"solver_{number}", **{**record, **fields})  # type: ignore[arg-type]


def taken(count: int) -> dict[str, Agent]:
    return {seat: member(number) for number, seat in enumerate(ORDER[:count])}


def sit(structure: str, count: int, told: PopulationSettings = STANDARD) -> Seated:
    return seated(TEMPLATES[structure], taken(count), told, KNOWN)


def structure(text: str) -> Team:
    return parse_team(text.encode(), "mine.yaml", KNOWN)


@pytest.mark.parametrize(
    ("position", "seat"),
    [
        ("anchor", "anchor"),
        ("anchor_again", "anchor"),
        ("scout", "scout"),
        ("scout_2", "scout_2"),
        ("scout_12_again", "scout_12"),
        ("scout_1", None),
        ("anchor_2", None),
        ("vote", None),
        ("anchored", None),
    ],
)
def test_a_position_names_its_seat(position: str, seat: str | None) -> None:
    assert seat_of(position) == seat


def test_the_four_structures_are_of_three_seats() -> None:
    assert [*TEMPLATES] == ["voting", "debate", "generator_critic", "decompose"]
    assert {seats(template) for template in TEMPLATES.values()} == {
        ("anchor", "complement", "scout")
    }


def test_a_seated_agent_is_itself_with_the_work_of_its_position() -> None:
    persona = member(7, tools=("read_file",), temperature=0.2, agent_type="ToolCallingAgent")
    noted = replace(persona, notes=Notes(coaching="Slowly."))
    result = seated(TEMPLATES["voting"], {**taken(3), "scout": noted}, STANDARD, KNOWN)
    assert result.structure == "voting"
    assert dict(result.seats) == {
        "anchor": "solver_0",
        "complement": "solver_1",
        "scout": "solver_7",
    }
    scout = result.team.agents["scout"]
    assert scout.member == "solver_7"
    assert scout.role == "scout"
    assert scout.prompt.startswith("You are number 7.\n\nSolve the task on your own.")
    assert (scout.tools, scout.temperature, scout.max_tokens) == (("read_file",), 0.2, 107)
    assert (scout.agent_type, scout.notes.coaching) == ("ToolCallingAgent", "Slowly.")
    assert result.team.agents["vote"] == TEMPLATES["voting"].agents["vote"]
    assert result.team.execution == TEMPLATES["voting"].execution


def test_a_member_is_reminded_of_its_own_lessons_unless_of_none() -> None:
    for agent in sit("debate", 3, PopulationSettings(lessons=2, room=900)).team.agents.values():
        if agent.function is None:
            assert agent.recall is not None
            assert (agent.recall.k, agent.recall.of, agent.recall.room) == (2, "own", 900)
            assert (agent.recall.kinds, agent.recall.niche) == (("lesson", "insight"), True)
        else:
            assert agent.recall is None
    nothing = sit("debate", 3, PopulationSettings(lessons=0)).team
    assert all(agent.recall is None for agent in nothing.agents.values())


@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize("count", range(1, 7))
def test_a_structure_is_seated_with_any_number_that_it_fits(name: str, count: int) -> None:
    template = TEMPLATES[name]
    if count == 1 and name != "voting":
        assert not fits(template, ORDER[:1])
        with pytest.raises(InputError, match=f"{name} does not work with anchor"):
            sit(name, 1)
        return
    assert fits(template, ORDER[:count])
    result = sit(name, count)
    assert (*result.seats,) == ORDER[:count]
    assert {seat_of(agent.id) for agent in result.team.agents.values()} - {None} == {*ORDER[:count]}
    again = parse_team(dump(result.team).encode(), "again.yaml", KNOWN)
    assert again == result.team
    members = {item: agent.member for item, agent in result.team.agents.items()}
    assert members == {item: agent.member for item, agent in again.agents.items()}
    assert result.team.output == template.output
    is_named = "The seats of this team" in result.team.constitution
    assert is_named == (count != 3)


def test_scouts_hear_of_each_other_as_a_scout_hears_of_the_complement() -> None:
    debate, critics = sit("debate", 4).team, sit("generator_critic", 4).team
    everybody = ("anchor", "complement", "scout", "scout_2")
    again = [f"{word}_again" for word in everybody]
    assert all(debate.predecessors[name] == everybody for name in again)
    assert {*debate.predecessors["vote"]} == {*again}
    assert critics.predecessors["scout_2"] == ("anchor",)
    assert critics.predecessors["anchor_again"] == everybody
    assert critics.agents["scout_2"].role == "scout_2"


def test_with_fewer_seats_the_others_work_without_them() -> None:
    parts = sit("decompose", 2).team
    assert [*parts.agents] == ["anchor", "complement", "anchor_whole"]
    assert parts.constitution == "The seats of this team, and no others, are anchor, complement."


MINE = """\
name: relay
agents:
  anchor: {prompt: "Begin."}
  complement: {prompt: "Go on."}
  scout: {prompt: "Go on."}
  scout_end: {prompt: "End."}
topology: {reports_to: {anchor: [complement], complement: [scout, scout_end], scout: [scout_end]}}
execution: {rounds: {most: 2, until: never, closing: [scout_end]}}
"""


def test_a_fifth_structure_is_any_team_of_seats() -> None:
    relay = structure(MINE)
    assert seats(relay) == ("anchor", "complement", "scout")
    assert not fits(relay, ORDER[:2])  # who answers is not there
    result = seated(relay, taken(3), STANDARD, KNOWN)
    assert result.team.agents["scout_end"].member == "solver_2"
    solo = structure('name: solo\nagents: {anchor: {prompt: "Do it."}}\n')
    assert dict(seated(solo, taken(3), STANDARD, KNOWN).seats) == {"anchor": "solver_0"}


def test_copies_open_and_close_with_the_scout() -> None:
    opening = MINE.replace("closing: [scout_end]", "opening: [scout]")
    text = opening.replace("anchor: [complement], complement: [scout, scout_end], ", "")
    relay = structure(
        text.replace("scout: [scout_end]", "scout: [anchor], complement: [anchor]").replace(
            '  scout_end: {prompt: "End."}\n', ""
        )
    )
    rounds = seated(relay, taken(4), STANDARD, KNOWN).team.execution.rounds
    assert rounds is not None
    assert rounds.opening == ("scout", "scout_2")


def test_who_recruits_recruits_among_all_scouts() -> None:
    text = """\
name: call
agents: {anchor: {prompt: A b.}, scout: {prompt: A b.}, anchor_end: {prompt: A b.}}
topology: {reports_to: {anchor: [scout], scout: [anchor_end]}}
execution: {recruit: {by: anchor, among: [scout], most: 2}}
"""
    recruit = seated(structure(text), taken(4), STANDARD, KNOWN).team.execution.recruit
    assert recruit is not None
    assert recruit.among == ("scout", "scout_2")


def test_a_function_hears_for_those_to_whom_it_reports() -> None:
    text = """\
name: joined
agents:
  complement: {prompt: A b.}
  join: {agent_type: Function, function: concat}
  anchor: {prompt: A b.}
topology: {reports_to: {complement: [join], join: [anchor]}}
"""
    assert fits(structure(text), ["anchor", "complement"])
    assert not fits(structure(text), ["anchor", "scout"])


def test_a_structure_that_is_none_without_a_seat_is_refused() -> None:
    text = """\
name: reviewed
agents:
  complement: {prompt: A b.}
  scout:
    prompt: A b.
    output_schema: {type: object, properties: {final: {type: boolean}}}
  anchor: {prompt: A b.}
topology: {reports_to: {complement: [anchor], scout: [anchor]}}
execution: {rounds: {most: 2, until: finalized, closing: [anchor]}}
"""
    reviewed = structure(text)
    seated(reviewed, taken(3), STANDARD, KNOWN)
    with pytest.raises(ConfigError, match=r"^reviewed\.yaml:.* can report that it is done"):
        seated(reviewed, taken(2), STANDARD, KNOWN)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "name: headless\nagents: {complement: {prompt: A b.}}\n",
            "headless is no structure of a population: it has no anchor. Call the agent that leads"
            " the others anchor.",
        ),
        (
            "name: plain\nagents: {anchor: {prompt: A b.}, writer: {prompt: A b.}}\n"
            "topology: {reports_to: {writer: [anchor]}}\n",
            "plain is no structure of a population: writer is no seat. Agents are Functions, or are"
            " called anchor, complement, scout or scout_2, perhaps with a word after it:"
            " anchor_again.",
        ),
    ],
)
def test_what_is_no_structure_is_refused_with_one_message(text: str, message: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        seats(structure(text))


def test_a_team_above_the_ceiling_is_refused() -> None:
    members = {**taken(3), "scout": member(2, model_id="large")}
    known = replace(KNOWN, models={})
    with pytest.raises(ConfigError, match="large"):
        seated(TEMPLATES["voting"], members, STANDARD, known)
    with pytest.raises(ConfigError, match="the ceiling allows 50"):
        seated(TEMPLATES["voting"], taken(3), STANDARD, KNOWN, CapabilityPolicy(max_tokens=50))


@settings(max_examples=15)
@given(st.sampled_from([*TEMPLATES]), st.integers(2, 6), st.permutations(range(6)))
def test_seating_changes_nothing_but_the_seats(name: str, count: int, order: list[int]) -> None:
    members = {seat: member(number) for seat, number in zip(ORDER[:count], order, strict=False)}
    result = seated(TEMPLATES[name], members, STANDARD, KNOWN)
    assert result.seats == {seat: item.id for seat, item in members.items()}
    usual = sit(name, count).team
    assert (result.team.edges, [*result.team.agents]) == (usual.edges, [*usual.agents])


def test_a_team_that_worked_is_kept_once_by_what_it_holds(tmp_path: Path) -> None:
    team = sit("voting", 3).team
    path = keep_team(tmp_path, team)
    assert re.fullmatch(r"worked/[0-9a-f]{12}\.yaml", path)
    written = tmp_path / path
    before = written.stat()
    assert keep_team(tmp_path, team) == path
    assert written.stat().st_mtime_ns == before.st_mtime_ns
    members = {**taken(3), "scout": replace(member(2), id="solver_9")}
    other = seated(TEMPLATES["voting"], members, STANDARD, KNOWN).team
    assert other == team  # but for who they are, they are equal
    assert keep_team(tmp_path, other) != path
    assert len([*(tmp_path / "worked").iterdir()]) == 2
    assert load_team(written, KNOWN) == team


def test_a_kept_team_recalls_as_it_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pool = Pool.init("town", [], catalogue=KNOWN)
    for number in range(4):
        learnt = Learnt(
            kind="lesson", owner=f"solver_{number}", task="Add.", text=f"Lesson of {number}."
        )
        pool.commit(learnt, op=f"learnt {number}")
    path = keep_team(tmp_path / "town", sit("debate", 3).team)
    Path("task.json").write_text(json.dumps({"id": "t", "query": "What is 3 + 4?"}))

    def script(request: Request) -> Reply:
        return Reply(text="By parts.\n\n\\boxed{7}" if "number 2" in message_text(request) else "8")

    with ScriptedModel(script) as model:
        words = [f"town/{path}", "task.json", "--pool", "town", "--embedder", "hashing", "--quiet"]
        words += ["--model", f"m@{model.api_base}"]
        result = invoked(mas_run, words, "mas-run").ended(0)
    assert result.out.strip() == "8"
    for call in model.calls:
        [who] = re.findall(r"You are number (\d)\.", call.text)
        assert re.findall(r"Lesson of (\d)\.", call.text) == [who]
    assert len(model.calls) == 6
