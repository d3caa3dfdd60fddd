"""`execution.rounds`: what loads and what does not, how it is written, compared and bounded."""

from dataclasses import replace
from typing import Any

import pytest

from coterie.schema import Agent, Catalogue, Execution, Rounds, Team, dump, parse_team
from coterie.schema.edits import RemoveAgent, RenameAgent, SetExecution, apply, diff, words
from coterie.schema.loading.ceiling import CapabilityPolicy
from coterie.schema.picture import FORMATS, draw

from ...support.problems import problems_of
from ..edited import leading, made

KNOWN = Catalogue.of_host()
FILE = """\
name: revising
agents:
  writer: {prompt: "Write it."}
  critic: {prompt: "Judge it."}
  editor: {prompt: "Polish it."}
topology:
  reports_to:
    writer: [critic, editor]
    critic: [editor]
"""


def loaded(rounds: str, *, text: str = FILE, execution: str = "") -> Team:
    file = f"{text}execution: {{{execution}rounds: {{{rounds}}}}}\n"
    return parse_team(file.encode(), "team.yaml", KNOWN)


def problems(rounds: str, **changes: Any) -> list[str]:
    return [
        problem.removeprefix("team.yaml:") for problem in problems_of(loaded, rounds, **changes)
    ]


def test_a_team_says_how_often_it_works() -> None:
    assert loaded("most: 3").execution.rounds == Rounds(most=3, until="unchanged", closing=())
    closing = loaded("most: 20, until: never, closing: [editor]").execution.rounds
    assert closing == Rounds(most=20, until="never", closing=("editor",))


@pytest.mark.parametrize(
    ("rounds", "message"),
    [
        ("most: 1", "10:28: most: 1 is out of range (rounds, 2 to 20). Write a number in it, for"),
        ("most: 21", "10:28: most: 21 is out of range (rounds, 2 to 20). Write a number in it,"),
        ("most: 3, untill: never", "10:31: untill: unknown field. Did you mean 'until'?"),
        (
            "most: 3, until: done",
            "10:38: until: 'done' is not one of unchanged, finalized, converged,",
        ),
        (
            "most: 3, closing: [editer]",
            "10:41: closing[0]: no agent 'editer'. Did you mean 'editor'?",
        ),
        (
            "most: 3, closing: [writer, critic, editor]",
            "10:40: closing: every agent closes. Leave out those that work in the rounds.",
        ),
        (
            "most: 3, closing: [critic]",
            "10:40: closing: 'editor', the output agent, is not among them. Add it, or leave out"
            " closing.",
        ),
        ("most: 3, hears: everybody", "10:38: hears: 'everybody' is not one of reports, others."),
        (
            "most: 3, hears: [critic, editor], closing: [editor]",
            "10:47: hears[1]: 'editor' does not work in the rounds, so no agent hears it. Leave it",
        ),
        (
            "most: 3, until: finalized",
            "10:38: until: no agent that works in the rounds can report that it is done. Give one"
            " an"
            " output_schema with a boolean property final, or write until: unchanged.",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_place(rounds: str, message: str) -> None:
    first = problems(rounds)[0].replace("error: execution.rounds.", "")
    assert first.startswith(message)


def test_rounds_have_a_number() -> None:
    assert problems("until: never") == [
        "10:21: error: execution.rounds: most is missing. The most rounds."
    ]


def test_who_closes_is_heard_by_nobody_who_repeats() -> None:
    assert problems("most: 3, closing: [critic]")[1] == (
        "10:41: error: execution.rounds.closing[0]: 'critic' closes, but its output is read in the"
        " rounds, by editor. Let them close as well, or let it work in the rounds."
    )


def test_whoever_is_heard_by_level_alone_is_heard_in_the_rounds() -> None:
    """With context: all the reader hears the closer, whom the topology keeps apart."""
    text = """\
name: t
agents:
  early: {prompt: "Go on."}
  first: {prompt: "Go on."}
  second: {prompt: "Go on."}
  last: {prompt: "Go on."}
topology:
  reports_to: {first: [second], second: [last], early: [last]}
"""
    assert loaded("most: 2, closing: [early, last]", text=text)
    [line] = problems("most: 2, closing: [early, last]", text=text, execution="context: all, ")
    assert "closing[0]: 'early' closes, but its output is read in the rounds, by second" in line


def test_only_who_works_in_the_rounds_can_end_them() -> None:
    schema = "{type: object, properties: {final: {type: boolean}}}"
    ends = FILE.replace('"Judge it."', f'"Judge it.", output_schema: {schema}')
    assert loaded("most: 3, until: finalized, closing: [editor]", text=ends)
    closes = FILE.replace('"Polish it."', f'"Polish it.", output_schema: {schema}')
    [text] = problems("most: 3, until: finalized, closing: [editor]", text=closes)
    assert "can report that it is done" in text


REVISING = loaded("most: 3, closing: [editor]")
ONCE = replace(REVISING, execution=Execution())
NEVER = replace(REVISING, execution=Execution(rounds=Rounds(most=4, until="never")))
HEARS = loaded("most: 3, hears: [critic], closing: [editor]")


@pytest.mark.parametrize("team", [REVISING, ONCE, NEVER, HEARS])
def test_a_team_is_written_as_it_was_read(team: Team) -> None:
    assert parse_team(dump(team).encode(), "team.yaml", KNOWN) == team


def test_only_what_is_said_is_written() -> None:
    assert dump(REVISING).endswith("execution:\n  rounds:\n    most: 3\n    closing: [editor]\n")
    assert "rounds" not in dump(ONCE)


@pytest.mark.parametrize("before", [REVISING, ONCE, NEVER, HEARS])
@pytest.mark.parametrize("after", [REVISING, ONCE, NEVER, HEARS])
def test_a_difference_of_rounds_leads_from_one_team_to_the_other(before: Team, after: Team) -> None:
    edits = leading(before, after)
    assert {edit.component for edit in edits} <= {"parameters"}


def test_words_say_how_often_a_team_works() -> None:
    assert [*words(ONCE, REVISING)] == [
        "execution: rounds none -> at most 3 rounds until unchanged, then editor"
    ]
    assert [*words(REVISING, NEVER)] == [
        "execution: rounds at most 3 rounds until unchanged, then editor -> 4 rounds"
    ]


def test_whom_everybody_hears_follows_to_another_id_and_out_of_the_team() -> None:
    renamed = made(HEARS, RenameAgent(agent="critic", id="judge"))
    assert renamed.execution.rounds == Rounds(most=3, hears=("judge",), closing=("editor",))
    shorter = made(HEARS, RemoveAgent(agent="critic"))
    assert shorter.execution.rounds == Rounds(most=3, closing=("editor",))


def test_an_edit_that_makes_no_team_is_refused() -> None:
    edit = SetExecution(field="rounds", value={"most": 3, "closing": ["critic"]})
    refused = apply(ONCE, [edit], KNOWN)
    assert not isinstance(refused, Team)


@pytest.mark.parametrize("form", FORMATS)
def test_every_picture_tells_of_the_rounds_and_of_who_closes(form: str) -> None:
    shown = draw(REVISING, form)
    assert "at most 3 rounds until unchanged" in shown
    assert shown.count("closes") == 1
    assert "rounds" not in draw(ONCE, form)


def test_rounds_count_under_the_ceiling() -> None:
    ceiling = CapabilityPolicy.of(ONCE)
    assert (ceiling.rounds, CapabilityPolicy.of(ONCE, REVISING).rounds) == (1, 3)
    [report] = ceiling.problems(REVISING)
    assert (report.path, report.message) == ("execution.rounds", "3 rounds; the ceiling allows 1.")
    assert not CapabilityPolicy.of(REVISING).problems(ONCE)
    assert not replace(ceiling, rounds=None).problems(REVISING)


def test_an_output_says_if_it_is_final_by_a_boolean_of_that_name() -> None:
    def can(schema: Any) -> bool:
        return Agent(id="a", output_schema=schema).can_finalize

    assert can({"properties": {"final": {"type": "boolean"}}})
    others = [None, {}, {"properties": {}}, {"properties": {"final": {"type": "string"}}}]
    assert not any(map(can, [*others, {"properties": {"final": True}}, {"properties": 1}]))


def test_who_closes_follows_to_another_id_and_out_of_the_team() -> None:
    renamed = made(REVISING, RenameAgent(agent="editor", id="boss"))
    assert renamed.execution.rounds == Rounds(most=3, closing=("boss",))
    assert [*diff(REVISING, renamed)] == [RenameAgent(agent="editor", id="boss")]
    shorter = made(REVISING, RemoveAgent(agent="editor"))
    assert shorter.execution.rounds == Rounds(most=3)
    assert [*diff(REVISING, shorter)] == [RemoveAgent(agent="editor")]
