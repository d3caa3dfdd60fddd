"""Adapting between rounds: what is judged, coached and changed, when it ends, who answers."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from coterie.operators import MetaModel, RejectedProposal
from coterie.operators.core.roles import ceiling_with
from coterie.operators.methods.tacomas.adaptation import (
    Adaptation,
    AdaptationSettings,
    calls_at_most,
)
from coterie.runtime import Run, compile
from coterie.runtime.doubles import Reply
from coterie.runtime.rounds.rounds import Next, Round, rounds
from coterie.schema import Team

from ...asking import TASK, Asked, asking, catalogue
from ...rounds import ROLES, TRIO, worked

Script = Sequence[Mapping[str, Any]]
GOOD = 0.6
QUIET = {"topology": False, "capability": False}


def said(score: float = 0.3, *, converged: bool = False, **values: float) -> dict[str, Any]:
    """What a judge says, of any agents that there are."""
    return {"score": score, "converged": converged, "values": values}


@dataclass
class Play:
    """What meta-models and agents do, and what comes of it."""

    judge: list[Any]
    changes: list[Any] = field(default_factory=list[Any])
    coach: Any = None
    answers: Sequence[str | None] = ()
    rejected: list[RejectedProposal] = field(default_factory=list[RejectedProposal])
    files: dict[str, str] = field(default_factory=dict[str, str])
    carried: list[Next] = field(default_factory=list[Next])
    work: Adaptation | None = None

    def reply(self, body: Mapping[str, Any]) -> Reply:
        """Answer as whoever is asked."""
        schema = body["response_format"]["json_schema"]["schema"]["properties"]
        if "converged" in schema:
            item = self.judge.pop(0)
            if not isinstance(item, dict):
                return Reply.json(item)
            agents = {
                agent: {"reason": f"{agent} so", "contribution": item["values"].get(agent, 0.5)}
                for agent in schema["agents"]["properties"]
            }
            head = {"reason": "r", "score": item["score"], "converged": item["converged"]}
            return Reply.json({**head, "agents": agents})
        if "plan" in schema:
            return Reply.json(self.coach or {"wrong": "It was vague.", "plan": "Be exact."})
        change = self.changes.pop(0) if self.changes else {}
        return Reply.json(
            {
                "reason": "r",
                **{key: change.get(key, []) for key in ("agents", "edges") if key in schema},
            }
        )

    def usable(self, result: Any) -> Any:
        if not isinstance(result, RejectedProposal):
            return result
        self.rejected.append(result)
        return None


def played(play: Play, of: Team = TRIO, **settings: Any) -> tuple[Sequence[Round], Run, Asked[Any]]:
    """Let a team work in rounds, and adapt."""
    given = AdaptationSettings(**settings)
    ceiling = ceiling_with(of, ROLES, given.most_agents)

    async def one_pass(coming: Next, number: int) -> Run:
        play.carried.append(coming)
        answers = play.answers
        answer = answers[number - 1] if number <= len(answers) else f"answer {number}"
        return worked(coming.plan.team, answer=answer).run

    async def work(meta_model: MetaModel) -> tuple[Sequence[Round], Run]:
        play.work = Adaptation(
            model=meta_model,
            judge=meta_model,
            task=TASK,
            path="t/",
            settings=given,
            roles=ROLES,
            tell=meta_model.tell,
            usable=play.usable,
            keep=play.files.__setitem__,
        )
        first = compile(of, catalogue())
        done = await rounds(Next(plan=first), one_pass, play.work, most=given.most)
        return done, await play.work.answer(done)

    asked = asking(play.reply, work, ceiling=ceiling)
    done, best = asked.result
    return done, best, asked


def whom(asked: Asked[Any]) -> list[str]:
    """Who was asked, in order: one letter each."""
    return [fields["operator"] for fields in asked.events_of("operator_answered")]


def test_three_rounds_by_hand() -> None:
    born = {
        "add_agent": {"role": "verifier", "receives_from": ["solver"], "reports_to": ["writer"]}
    }
    play = Play(
        judge=[said(0.3, planner=0.1), said(0.4, planner=0.2), said(0.95)],
        changes=[{"agents": [born]}],
    )
    done, run, asked = played(play)
    assert (len(done), run.answer, run.rounds) == (3, "answer 3", 3)
    assert whom(asked) == [
        *("contributions", "coach", "coach", "coach"),
        *("contributions", "coach", "coach", "coach", "restructure"),
        "contributions",
    ]
    first, second, third = (item.plan.team for item in done)
    assert first == TRIO
    assert [*second.agents] == [*TRIO.agents]
    assert second.reports_to == TRIO.reports_to
    coaching = "What went wrong: It was vague.\nPlan: Be exact."
    assert {item.notes.coaching for item in second.agents.values()} == {coaching}
    assert [*third.agents] == ["planner", "solver", "writer", "verifier"]
    for agent in second.agents:
        assert third.agents[agent] == second.agents[agent]
    assert third.agents["verifier"].notes.coaching == ""
    assert play.rejected == []
    assert [*play.files] == [f"rounds/round_{number}.yaml" for number in (1, 2, 3)]
    assert asked.events_of("rounds_ended") == [
        {"rounds": 3, "judged": 3, "why": "threshold", "answer_of": 3}
    ]


def test_each_agent_reads_again_what_it_said_last() -> None:
    play = Play(judge=[said(), said()])
    played(play, most=2)
    first, second = play.carried
    assert not first.state.own
    assert {item: report.content for item, report in second.state.own.items()} == {
        agent: f"work of {agent}" for agent in TRIO.agents
    }


@pytest.mark.parametrize(
    ("judge", "settings", "why", "number"),
    [
        ([said(0.95)], {}, "threshold", 1),
        ([said(), said(0.5)], {"threshold": 0.5}, "threshold", 2),
        ([said(1), said(1)], {"threshold": 1.1, "most": 2}, "most", 2),
        ([said(), said(converged=True)], {}, "converged", 2),
        ([said(converged=True), said(converged=True)], {"converge": False, "most": 2}, "most", 2),
        ([said()], {"most": 1}, "most", 1),
    ],
)
def test_why_it_ends_is_told(judge: Any, settings: Any, why: str, number: int) -> None:
    done, _, asked = played(Play(judge=judge), **settings)
    assert len(done) == number
    assert [fields["why"] for fields in asked.events_of("rounds_ended")] == [why]


@pytest.mark.parametrize(
    ("settings", "asked_for"),
    [
        ({"topology": False}, {"contributions": 4, "coach": 9}),
        ({"capability": False}, {"contributions": 4, "restructure": 1}),
        ({"every": 1}, {"contributions": 4, "coach": 9, "restructure": 3}),
        (QUIET, {"contributions": 4}),
        ({}, {"contributions": 4, "coach": 9, "restructure": 1}),
        ({"b_agents": 0, "b_edges": 0}, {"contributions": 4, "coach": 9}),
    ],
)
def test_an_ablation_is_one_switch(settings: Any, asked_for: dict[str, int]) -> None:
    done, _, asked = played(Play(judge=[said() for _ in range(4)]), most=4, **settings)
    counts = {name: whom(asked).count(name) for name in whom(asked)}
    assert counts == asked_for
    teams = [item.plan.team for item in done]
    if not settings.get("capability", True):
        assert all(not agent.notes.coaching for team in teams for agent in team.agents.values())
    if settings == QUIET:
        assert teams == [TRIO] * 4


def test_who_contributes_more_has_more_room_and_more_of_its_work_is_read() -> None:
    rounds_ = [said(planner=0, solver=1, writer=0.5) for _ in range(3)]
    long = {"wrong": "w" * 9_000, "plan": "p" * 9_000}
    play = Play(judge=rounds_, coach=long)
    done, _, asked = played(play, most=3, topology=False, eta=2, room=300)
    records = asked.events_of("coaching")
    rooms = [{agent: item["room"] for agent, item in each["agents"].items()} for each in records]
    assert rooms[0]["solver"] > rooms[0]["writer"] > rooms[0]["planner"]
    assert rooms[1]["solver"] > rooms[0]["solver"]
    assert all(sum(table.values()) <= 3 * 300 + 3 for table in rooms)
    for agent, room in rooms[1].items():
        assert len(done[2].plan.team.agents[agent].notes.coaching) == room
    weights = [fields["agents"]["solver"]["weight"] for fields in asked.events_of("contributions")]
    assert weights == sorted(weights)


def test_without_a_replicator_all_have_the_same_room() -> None:
    play = Play(judge=[said(planner=0, solver=1) for _ in range(3)])
    _, _, asked = played(play, most=3, topology=False, replicator=False)
    for fields in asked.events_of("coaching"):
        assert {agent["room"] for agent in fields["agents"].values()} == {600}


def test_who_has_hardly_any_room_left_is_not_coached() -> None:
    play = Play(judge=[said(planner=0, solver=1, writer=1) for _ in range(3)])
    _, _, asked = played(play, most=3, topology=False, eta=5, room=80)
    assert [*asked.events_of("coaching")[-1]["agents"]] == ["solver", "writer"]


def test_only_who_contributed_little_for_several_rounds_may_go() -> None:
    dead = {"agents": [{"remove_agent": {"agent": "planner"}}]}
    low = [said(planner=0.1) for _ in range(3)]
    done, _, _ = played(Play(judge=list(low), changes=[dead]), most=3, patience=2)
    assert [*done[-1].plan.team.agents] == ["solver", "writer"]
    play = Play(judge=list(low), changes=[dead, dead])
    done, _, _ = played(play, most=3, patience=3)
    assert [*done[-1].plan.team.agents] == [*TRIO.agents]
    assert [item.operator for item in play.rejected] == ["restructure"]


def test_a_team_does_not_grow_above_what_is_allowed() -> None:
    born = {"agents": [{"add_agent": {"role": "verifier", "reports_to": ["writer"]}}]}
    play = Play(judge=[said() for _ in range(5)], changes=[born] * 10)
    done, _, _ = played(play, most=5, every=1, most_agents=4)
    assert max(len(item.plan.team.agents) for item in done) == 4


@pytest.mark.parametrize(
    ("answers", "scores", "settings", "answered"),
    [
        ((), (0.3, 0.8, 0.5), {}, "answer 2"),
        ((), (0.3, 0.8, 0.5), {"answer": "last"}, "answer 3"),
        ((), (0.5, 0.5, 0.5), {}, "answer 3"),
        ((), (0.8, 0.8, 0.5), {}, "answer 2"),
        (("a", None, "c"), (0.3, 0.8, 0.2), {}, "a"),
        ((None, None, None), (0.3, 0.2, 0.1), {}, None),
    ],
)
def test_the_best_round_answers_by_the_judge_or_the_last(
    answers: Any, scores: Any, settings: Any, answered: str | None
) -> None:
    play = Play(judge=[said(score) for score in scores], answers=answers)
    _, run, _ = played(play, most=3, **settings)
    assert run.answer == answered


def test_a_round_that_cannot_be_judged_changes_nothing_and_is_counted() -> None:
    play = Play(judge=["?", "?", said(0.95)])
    done, run, asked = played(play)
    assert [item.operator for item in play.rejected] == ["contributions"]
    assert done[1].plan.team == TRIO
    assert run.answer == "answer 2"
    assert [fields["round"] for fields in asked.events_of("contributions")] == [2]


def test_bad_answers_of_coach_and_restructurer_leave_the_team_as_it_is() -> None:
    play = Play(
        judge=[said() for _ in range(3)],
        coach={"nothing": 1},
        changes=[{"agents": [{"remove_agent": {"agent": "writer"}}]}] * 2,
    )
    done, _, _ = played(play, most=3, patience=1, low=1)
    assert [item.plan.team for item in done] == [TRIO] * 3
    assert sorted(item.operator for item in play.rejected) == ["coach"] * 6 + ["restructure"]


def test_agents_that_ask_no_model_are_not_coached() -> None:
    voting = replace(TRIO.agents["writer"], agent_type="Function", function="majority", prompt="")
    of = replace(TRIO, agents={**TRIO.agents, "writer": voting})
    _, _, asked = played(Play(judge=[said(), said()]), of=of, most=2)
    assert [*asked.events_of("coaching")[0]["agents"]] == ["planner", "solver"]


def test_the_reference_answer_is_shown_to_nobody() -> None:
    _, _, asked = played(Play(judge=[said() for _ in range(3)]), most=3)
    assert all(str(TASK.answer) not in json.dumps(call.body) for call in asked.calls)


@pytest.mark.parametrize(
    "settings", [{}, {"every": 1}, {"topology": False}, {"capability": False}, QUIET, {"most": 1}]
)
def test_no_more_is_asked_than_was_said_beforehand(settings: Any) -> None:
    born = {"agents": [{"add_agent": {"role": "verifier", "reports_to": ["writer"]}}]}
    play = Play(judge=["?", said()] * 9, changes=[{"agents": [{}]}, born] * 9)
    given: dict[str, Any] = {"most": 4, "threshold": 2, **settings}
    done, _, asked = played(play, **given)
    of_agents = sum(len(item.plan.agents) for item in done)
    bound = calls_at_most(AdaptationSettings(**given), done[0].plan)
    assert of_agents + len(asked.calls) <= bound
