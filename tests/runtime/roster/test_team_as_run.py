"""The team that was: a plain team of who worked in an open roster, and who told whom."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.runtime import Run
from coterie.runtime.agents.outcomes import Ending, Posted
from coterie.runtime.roster.team_as_run import team_that_was
from coterie.schema import Team, dump, parse_team
from coterie.schema.picture import draw

from ..rosters import KNOWN, crew

TEAM = crew("a", "b", "c", "d")


def came(*message: str, by: str = "lead", worked: Sequence[str] = ()) -> Team:
    """The team of a run with these messages: `lead>a` sends, `lead+a` starts."""
    bus = [Posted(number=1, sender="", to="lead", kind="task")]
    for number, name in enumerate(message, 2):
        kind = "start" if "+" in name else "message"
        sender, to = name.replace("+", ">").split(">")
        bus.append(Posted(number=number, sender=sender, to=to, kind=kind, text="x", turn=1))
    names = {"lead", *worked, *(word.replace("+", ">").split(">")[1] for word in message)}
    ending = Ending(why="finalized", by=by, turns=dict.fromkeys(names, 1), sent=len(message))
    run = Run(status="done", answer="x", answered_by=by, bus=tuple(bus), ending=ending)
    was = team_that_was(TEAM, run)
    assert was is not None
    return was


@pytest.mark.parametrize(
    ("texts", "edges"),
    [
        (("lead+a", "a>lead"), {("a", "lead")}),
        (("lead+a", "lead+b", "a>b", "b>lead"), {("a", "b"), ("b", "lead")}),
        (("lead+a", "lead+b", "a>b", "b>lead", "a>lead"), {
            ("a", "b"), ("b", "lead"), ("a", "lead"),
        }),
        # Both told each other, and the lead: what was told last stays.
        (("lead+a", "lead+b", "a>lead", "b>lead", "a>b", "b>a"), {
            ("a", "lead"), ("b", "lead"), ("b", "a"),
        }),
        # Whoever told nobody anything reports to who started it.
        (("lead+a", "a+b"), {("a", "lead"), ("b", "a")}),
        (("lead+a", "lead+b", "a>b", "b>a"), {("a", "lead"), ("b", "lead"), ("b", "a")}),
    ],
)  # fmt: skip
def test_who_told_whom_without_circles(texts: tuple[str, ...], edges: set[tuple[str, str]]) -> None:
    assert {*came(*texts).edges} == edges


def test_it_is_a_plain_team_of_those_who_worked() -> None:
    was = came("lead+a", "a>lead")
    assert [*was.agents] == ["lead", "a"]
    assert (was.output, was.execution.roster) == ("lead", None)
    assert was.description.endswith(
        "Who worked in a run of crew, and who told whom: 2 messages, then finalized."
    )
    assert "a --> lead" in draw(was, "mermaid").replace("agent_", "")
    assert "heard a" in came("lead+a").description


def test_whoever_gave_the_answer_is_the_output() -> None:
    was = came("lead+a", "lead+b", "b>a", "a>lead", by="a")
    assert was.output == "a"
    assert {*was.edges} == {("b", "a"), ("lead", "a"), ("lead", "b")}


def test_one_alone_is_a_team() -> None:
    assert [*came().agents] == ["lead"]


def test_nobody_worked_in_a_run_without_turns() -> None:
    run = Run(status="failed", ending=Ending(why="failed"))
    assert team_that_was(TEAM, run) is None


@given(
    pairs=st.lists(
        st.tuples(*[st.sampled_from([*TEAM.agents])] * 2).filter(lambda e: e[0] != e[1])
    ),
    by=st.sampled_from([*TEAM.agents]),
)
def test_whatever_was_told_it_loads(pairs: list[tuple[str, str]], by: str) -> None:
    starts = [f"lead+{word}" for word in ("a", "b", "c", "d")]
    was = came(*starts, *(f"{name}>{other}" for name, other in pairs), by=by)
    assert parse_team(dump(was).encode(), "team_that_was.yaml", KNOWN) == was
