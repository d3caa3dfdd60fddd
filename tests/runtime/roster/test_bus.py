"""The bus of an open roster: mailboxes, who is active, what is refused, and how a run ends."""

from collections.abc import Sequence
from typing import Any

import pytest

from coterie.runtime.agents.acts import Act, Finalize, Stop, Terminate, TurnAnswer
from coterie.runtime.roster.bus import Bus, Ended, Posted, TurnDone, TurnStart
from coterie.runtime.roster.outgoing import failing, outgoing
from coterie.schema import Roster

from ..rosters import start, to

CANDIDATES = ("lead", "a", "b", "c")


class Play:
    """A bus on which turns are played; keeps what happened."""

    def __init__(self, **limits: Any) -> None:
        self.roster = Roster(lead="lead", **limits)
        self.bus = Bus(candidates=CANDIDATES, roster=self.roster)
        self.events: list[Any] = []

    def mailbox(self, agent: str) -> Sequence[Posted]:
        return self.bus.mail(self.bus.take(agent)).messages

    def happen(self, event: TurnStart | TurnDone | Ended) -> None:
        self.events.append(event)
        self.bus.apply(event)

    def begin(self, agent: str) -> list[str]:
        """Let an agent take its mail; tells what it reads."""
        taken = self.bus.take(agent)
        self.happen(taken)
        return [
            f"{message.kind} {message.sender}: {message.text}"
            for message in self.bus.mail(taken).messages
        ]

    def end(self, agent: str, *acts: Act) -> Sequence[Posted]:
        """Let an agent end its turn; tells what was posted."""
        turn = self.bus.at_work[agent].turn
        posted = outgoing(self.bus, agent, turn, acts)
        self.happen(TurnDone(agent=agent, turn=turn, posted=posted))
        return posted

    def turn(self, agent: str, *acts: Act) -> list[str]:
        """Let an agent have a whole turn; tells what of it was refused."""
        self.begin(agent)
        return [item.text for item in self.end(agent, *acts) if item.kind == "refused"]

    def fail(self, agent: str, error: str = "no") -> None:
        turn = self.bus.at_work[agent].turn
        posted = failing(self.bus, agent, turn, error)
        self.happen(TurnDone(agent=agent, turn=turn, status="failed", posted=posted))


def test_the_lead_begins_alone_with_the_task() -> None:
    play = Play()
    assert (play.bus.due, [*play.bus.active]) == (("lead",), ["lead"])
    assert play.begin("lead") == ["task : "]
    assert play.bus.due == ()


def test_what_a_turn_does_goes_out_in_order_when_it_ends() -> None:
    play = Play()
    play.begin("lead")
    posted = play.end("lead", start("a", "sum"), to("a", "soon"), start("b", "check"))
    assert [(item.number, item.kind, item.to, item.text) for item in posted] == [
        (2, "start", "a", "sum"),
        (3, "message", "a", "soon"),
        (4, "start", "b", "check"),
    ]
    assert {(item.sender, item.turn) for item in posted} == {("lead", 1)}
    assert play.bus.due == ("a", "b")
    assert play.begin("a") == ["start lead: sum", "message lead: soon"]


def test_mail_waits_for_an_agent_at_work_and_is_taken_once() -> None:
    play = Play()
    play.turn("lead", start("a"), start("b"))
    play.begin("a")
    play.turn("b", to("a", "one"))
    assert play.bus.due == ()
    assert [item.text for item in play.mailbox("a")] == ["one"]
    play.end("a", to("lead", "done"))
    assert play.bus.due == ("a", "lead")  # whose mail has waited longer is first
    assert play.begin("a") == ["message b: one"]
    assert not play.mailbox("a")


def test_what_cannot_be_done_is_refused_and_told_to_who_wanted_it() -> None:
    play = Play(alive=2)
    refused = play.turn(
        "lead",
        to("lead"), to("nobody"), to("a"), start("nobody"), start("lead"), start("a"), start("b"),
        Stop(agent="lead"), Stop(agent="c"), Stop(agent="nobody"), start("a"),
    )  # fmt: skip
    assert refused == [
        "your message to lead: that is you.",
        "your message to nobody: there is no such agent in this team.",
        "your message to a: it is not active. Start it first.",
        "starting nobody: there is no such agent in this team.",
        "starting lead: it is active already. Write to it.",
        "starting b: 2 agents are active, which is the most. Stop one first.",
        "stopping lead: it leads, and cannot be stopped.",
        "stopping c: it is not active.",
        "stopping nobody: there is no such agent in this team.",
        "starting a: it is active already. Write to it.",
    ]
    assert play.bus.due == ("lead", "a")  # what was refused is mail, too
    assert len(play.begin("lead")) == 10


def test_who_is_stopped_at_work_leaves_when_its_turn_ends() -> None:
    play = Play(alive=3)
    play.turn("lead", start("a"), start("b"))
    play.begin("a")
    play.turn("b", to("lead", "x"), Stop(agent="a"), to("a"), start("c"))
    refused = [item.text for item in play.mailbox("b")]
    assert refused == [
        "your message to a: it is not active. Start it first.",
        "starting c: 3 agents are active, which is the most. Stop one first.",
    ]
    assert "a" in play.bus.active
    play.end("a", to("lead", "what I had"))
    assert [*play.bus.active] == ["lead", "b"]
    assert [item.text for item in play.mailbox("lead")] == ["x", "what I had"]


def test_who_is_stopped_and_started_again_stays_and_reads_what_it_had_not_read() -> None:
    play = Play(alive=2)
    play.turn("lead", start("a", "one"), to("lead"))
    play.turn("lead", Stop(agent="a"), start("b", "two"), Stop(agent="b"), start("a", "three"))
    assert [*play.bus.active] == ["lead", "a"]
    assert play.begin("a") == ["start lead: one", "start lead: three"]
    assert play.bus.unread == 1  # what b was to read


def test_an_agent_may_leave_by_itself() -> None:
    play = Play()
    play.turn("lead", start("a"))
    play.turn("a", to("lead", "bye"), Stop(agent="a"))
    assert [*play.bus.active] == ["lead"]
    assert play.bus.due == ("lead",)


def test_what_a_failed_turn_had_taken_is_back_and_its_writers_hear() -> None:
    play = Play()
    play.turn("lead", start("a"), start("b"))
    play.turn("b", to("a", "mine"))
    play.begin("a")
    play.fail("a", "out of order")
    assert [*play.bus.active] == ["lead", "b"]
    assert len(play.mailbox("a")) == 2
    assert play.begin("lead") == ["failed a: out of order"]
    assert play.begin("b") == ["failed a: out of order"]
    play.end("lead", start("a", "again"))
    assert play.begin("a") == ["start lead: go", "message b: mine", "start lead: again"]


@pytest.mark.parametrize(
    ("acts", "why"),
    [
        ((Finalize(answer="4"), to("a"), start("a")), Ended(why="finalized", by="lead", text="4")),
        ((Terminate(reason="odd"),), Ended(why="terminated", by="lead", text="odd")),
        ((), Ended(why="silence")),
    ],
)
def test_a_run_ends(acts: tuple[Act, ...], why: Ended) -> None:
    play = Play()
    play.turn("lead", *acts)
    assert play.bus.ending == why
    assert play.bus.sent == 0


def test_who_finalizes_first_has_the_say() -> None:
    play = Play()
    play.turn("lead", start("a"), start("b"))
    play.begin("a")
    play.turn("b", Finalize(answer="mine"))
    assert play.bus.ending == Ended(why="finalized", by="b", text="mine")


def test_one_message_too_many_ends_the_run_and_reaches_nobody() -> None:
    play = Play(messages=3)
    play.turn("lead", start("a"), to("a", "2"), to("a", "3"), to("a", "4"), to("a", "5"))
    assert [item.text for item in play.mailbox("a")] == ["go", "2", "3"]
    assert (play.bus.posted[-1].kind, play.bus.posted[-1].text) == ("unsent", "4")
    assert play.bus.ending == Ended(why="messages", by="lead")


def test_one_turn_too_many_ends_the_run() -> None:
    play = Play(turns=1)
    play.turn("lead", start("a"))
    assert play.bus.ending is None
    play.turn("a", to("lead"))
    assert play.bus.ending == Ended(why="turns", by="lead")


def test_nobody_is_silent_while_one_works() -> None:
    play = Play()
    play.turn("lead", start("a"))
    play.begin("a")
    assert play.bus.ending is None
    play.end("a")
    assert play.bus.ending == Ended(why="silence")


def test_an_agent_is_told_what_there_is_left() -> None:
    play = Play(alive=3, messages=9, turns=4)
    play.turn("lead", start("a"), start("b"))
    taken = play.bus.take("a")
    play.happen(taken)
    mail = play.bus.mail(taken)
    assert (mail.turn, mail.active, mail.candidates) == (1, ("lead", "a", "b"), ("c",))
    assert (mail.messages_left, mail.turns_left, mail.places_left) == (7, 3, 0)
    assert (mail.hands_in, play.bus.mail(taken, hands_in=True).hands_in) == (False, True)


def test_the_same_events_make_the_same_team() -> None:
    play = Play()
    play.turn("lead", start("a"), start("b"))
    play.begin("a")
    play.turn("b", to("a"), Stop(agent="a"))
    play.end("a", to("lead"))
    play.happen(Ended(why="seconds"))
    again = Bus(candidates=CANDIDATES, roster=play.roster)
    for event in play.events:
        again.apply(event)
    assert vars(again) == vars(play.bus)


def test_what_a_turn_came_to_is_mail_for_who_asked_and_lost_where_that_one_left() -> None:
    play = Play(messages=4)
    play.turn("lead", start("a"), start("b"))
    play.begin("a")
    [posted] = play.end(
        "a", Stop(agent="b"), TurnAnswer(to="lead", text="42"), TurnAnswer(to="b", text="?")
    )[1:]
    assert (posted.kind, posted.to, posted.text) == ("answer", "lead", "42")
    assert play.begin("lead") == ["answer a: 42"]
    assert play.bus.sent == 3
